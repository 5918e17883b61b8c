/// Seals and opens the frames of collars (PROTOCOL.md, section 22).
///
/// Sealing turns a clear frame into a sealed one, and opening turns it back, CRC included. So encoders and decoders of messages
/// know nothing of sealing.
public enum SealedFrame {
    /// The most bytes that sealing adds to a collar's frame without the whole counter.
    public static var shortOverheadByteCount: Int { 4 }
    /// The most bytes that sealing adds to a collar's frame.
    public static var maximumOverheadByteCount: Int { shortOverheadByteCount &+ SealedLayout.longCounterByteCount }
    /// Bytes of the clear part of an identity: log id, boot count, upper part of the counter.
    private static var identityByteCount: Int { 11 }

    /// Seals a frame of a collar in place.
    /// - Parameters:
    ///   - frame: holds one clear frame of a collar, and has room for ``maximumOverheadByteCount`` more bytes.
    ///   - number: the number of this frame. It must never be used for another frame of this log and key.
    ///   - isLong: whether the frame holds the whole counter; ignored for an identity, which always holds it, masked.
    ///   - binding: the sequence of an absolute fix, the anchor of a live fix; nothing for other types.
    ///   - log: the collar and its log.
    ///   - keys: the keys of the collar.
    /// - Precondition: the type of the frame is one that a collar seals.
    public static func seal(
        _ frame: inout OutputSpan<UInt8>, number: FrameNumber, isLong: Bool, binding: SealedBinding, log: LogIdentity,
        keys: SealingKeys
    ) {
        guard let type = form(ofTypeCode: FrameHeader.typeCode(of: frame.span)),
            let layout = SealedLayout(type: type, isLong: isLong)
        else { preconditionFailure("a collar does not seal this type") }
        let isWide = type == .absoluteFix && AbsoluteFix.shortSequence(of: frame.span) == nil
        frame.removeLast(CRC24.byteCount)
        frame.moveTail(from: layout.plaintextStart, to: layout.ciphertextStart)
        var bytes = frame.mutableSpan
        bytes[1] |= FrameFlags.sealedMask | (isWide ? FrameFlags.wideMask : 0)
        bytes[3] = UInt8(truncatingIfNeeded: number.counter)
        var place = FrameHeader.byteCount
        if type == .identity {
            bytes.write(log.logID.rawValue &<< 6, byteCount: 4, at: &place)
            bytes.write(number.bootCount, byteCount: 4, at: &place)
        } else if isLong {
            bytes[1] |= FrameFlags.longMask
        }
        if type == .identity || isLong { bytes.write(number.counter &>> 8, byteCount: 3, at: &place) }
        if case .anchor(let anchor) = binding { bytes[place] = UInt8(truncatingIfNeeded: anchor.sequence) }
        let cipher = cipher(
            bytes.span, byteCount: bytes.count &+ layout.tagByteCount, layout, number, binding, logID: log.logID, keys)
        let tag = cipher.seal(&bytes, from: layout.ciphertextStart)
        if type == .identity { mask(&bytes, tag: tag, keys) }
        for index in 0..<layout.tagByteCount { frame.append(tag.byte(at: index)) }
    }

    /// Bytes by which sealing makes a clear frame of a collar longer; 0 if its type is not sealed.
    public static func overheadByteCount(of frame: Span<UInt8>, isLong: Bool) -> Int {
        guard let type = form(ofTypeCode: FrameHeader.typeCode(of: frame)),
            let layout = SealedLayout(type: type, isLong: isLong)
        else { return 0 }
        return layout.ciphertextStart &- layout.plaintextStart &+ layout.tagByteCount &- CRC24.byteCount
    }

    /// The counter in a frame of a collar: the whole counter of a long frame, else its low 8 bits; nil if the frame is too
    /// short. Not for an identity.
    public static func counter(in frame: Span<UInt8>) -> (value: UInt32, isWhole: Bool)? {
        let start = FrameHeader.byteCount
        guard frame.count > start &+ SealedLayout.longCounterByteCount else { return nil }
        let low = UInt32(frame[3])
        guard frame[1] & FrameFlags.longMask != 0 else { return (low, false) }
        return (frame.bigEndian(at: start, byteCount: 3) &<< 8 | low, true)
    }

    /// The sequence of the anchor of a live fix: the highest one that is at most 127 below the highest known sequence and
    /// ends in the low byte that the frame holds; nil if there is none.
    public static func anchorSequence(of frame: Span<UInt8>, below highest: UInt32) -> UInt32? {
        let isLong = frame[1] & FrameFlags.longMask != 0
        guard let layout = SealedLayout(type: .liveFix, isLong: isLong), layout.fits(byteCount: frame.count) else { return nil }
        let age = UInt32(UInt8(truncatingIfNeeded: highest) &- frame[layout.ciphertextStart &- 1])
        return age <= LiveFix.maximumLead && age <= highest ? highest - age : nil
    }

    /// The upper halves of all sequences that are at most 32,768 away from a reference: that of the lowest and that of the highest
    /// one.
    public static func upperHalves(around reference: UInt32) -> InlineArray<2, UInt32> {
        let lowest = reference < 32_768 ? 0 : reference - 32_768
        let highest = reference > .max - 32_768 ? .max : reference + 32_768
        return [lowest &>> 16, highest &>> 16]
    }

    /// Whether an absolute fix holds only the low 16 bits of its sequence.
    public static func hasShortSequence(_ frame: Span<UInt8>) -> Bool { frame[1] & FrameFlags.wideMask == 0 }

    /// Opens a frame of a collar that is not an identity.
    /// - Parameters:
    ///   - frame: the sealed frame.
    ///   - header: its header.
    ///   - type: its type.
    ///   - number: the number that the frame may have.
    ///   - binding: the anchor of a live fix; for an absolute fix, any sequence with the upper 16 bits that are tried; else
    ///     nothing.
    ///   - log: the collar and the log to which the frame may belong.
    ///   - keys: the keys of this collar.
    ///   - clear: receives the clear frame with its CRC; it is empty and has room for the largest frame.
    /// - Returns: whether the frame is authentic; if not, `clear` remains empty.
    ///
    /// Complexity: linear in the frame.
    public static func open(
        _ frame: Span<UInt8>, header: FrameHeader, type: MessageType, number: FrameNumber, binding: SealedBinding,
        log: LogIdentity, keys: SealingKeys, into clear: inout OutputSpan<UInt8>
    ) -> Bool {
        let isLong = header.flags.rawValue & FrameFlags.longMask != 0
        guard type != .identity, let layout = SealedLayout(type: type, isLong: isLong),
            layout.fits(byteCount: frame.count)
        else { return false }
        begin(&clear, with: header, type: type)
        if type == .probe {
            clear.append(log.tag, byteCount: 3)
        } else if layout.plaintextStart < FrameHeader.byteCount {
            clear.removeLast(1)
        }
        let cipher = cipher(frame, byteCount: frame.count, layout, number, binding, logID: log.logID, keys)
        guard decrypt(frame, layout: layout, cipher, into: &clear),
            finish(&clear, type: type, isShort: hasShortSequence(frame), binding, log)
        else {
            clear.removeAll()
            return false
        }
        return true
    }

    /// The type that has the sealed form of a frame: a key offer is sealed as an identity is.
    private static func form(ofTypeCode typeCode: UInt8) -> MessageType? {
        typeCode == CableFrame.keyOffer.rawValue ? .identity : MessageType(rawValue: typeCode)
    }

    /// Opens an identity or a key offer.
    /// - Parameters:
    ///   - frame: the sealed frame.
    ///   - header: its header.
    ///   - deviceID: the collar that may have sent the frame.
    ///   - keys: the keys of this collar.
    ///   - clear: receives the clear frame with its CRC; it is empty and has room for the largest frame.
    /// - Returns: the number of the frame; nil if the frame is not authentic, and then `clear` remains empty.
    public static func openIdentity(
        _ frame: Span<UInt8>, header: FrameHeader, deviceID: DeviceID, keys: SealingKeys, into clear: inout OutputSpan<UInt8>
    ) -> FrameNumber? {
        guard form(ofTypeCode: header.typeCode) == .identity, header.flags.rawValue & FrameFlags.longMask == 0,
            let layout = SealedLayout(type: .identity, isLong: false), layout.fits(byteCount: frame.count)
        else { return nil }
        let start = FrameHeader.byteCount
        var opened = InlineArray<253, UInt8>(repeating: 0)
        var bytes = opened.mutableSpan
        for index in 0..<layout.ciphertextStart { bytes[index] = frame[index] }
        mask(&bytes, tag: Words128(frame, from: frame.count &- layout.tagByteCount, byteCount: layout.tagByteCount), keys)
        let number = FrameNumber(
            bootCount: bytes.span.bigEndian(at: start &+ 4, byteCount: 4),
            counter: bytes.span.bigEndian(at: start &+ 8, byteCount: 3) &<< 8 | UInt32(header.lowByte))
        let logID = bytes.span.bigEndian(at: start, byteCount: 4)
        guard logID & 0x3F == 0 else { return nil }
        begin(&clear, with: header, type: .identity)
        clear.append(UInt32(truncatingIfNeeded: deviceID.rawValue &>> 32), byteCount: 4)
        clear.append(UInt32(truncatingIfNeeded: deviceID.rawValue), byteCount: 4)
        for index in start..<(start &+ 8) { clear.append(bytes[index]) }
        let cipher = cipher(bytes.span, byteCount: frame.count, layout, number, .none, logID: LogID(lowBitsOf: logID &>> 6), keys)
        guard decrypt(frame, layout: layout, cipher, into: &clear) else {
            clear.removeAll()
            return nil
        }
        FrameCRC.append(to: &clear, crc: CRC24())
        return number
    }

    /// Appends the header that the clear frame has, as far as it is known before the frame is opened.
    private static func begin(_ clear: inout OutputSpan<UInt8>, with header: FrameHeader, type: MessageType) {
        var header = header
        header.flags.rawValue &= FrameFlags.pollMask | (type == .tombstone ? FrameFlags.wideMask : 0)
        header.lowByte = 0
        header.encode(into: &clear)
    }

    /// Completes the header of an opened frame, and appends the CRC.
    /// - Returns: false if flag bit 3 of an absolute fix contradicts its payload, or if the binding does not fit the type or the
    ///   payload.
    private static func finish(
        _ clear: inout OutputSpan<UInt8>, type: MessageType, isShort: Bool, _ binding: SealedBinding, _ log: LogIdentity
    ) -> Bool {
        var crc = type.isBoundToLog ? log.boundCRC : CRC24()
        var sequence: UInt32 = 0
        switch binding {
        case .none: break
        case .sequence(let reference):
            guard type == .absoluteFix else { return false }
            // The place of the sequence is looked up in a whole frame.
            clear.append(0, byteCount: CRC24.byteCount)
            let low = AbsoluteFix.shortSequence(of: clear.span)
            clear.removeLast(CRC24.byteCount)
            guard isShort == (low != nil) else { return false }
            if let low { sequence = reference & 0xFFFF_0000 | low }
        case .anchor(let anchor):
            guard type == .liveFix, let distance = LiveFix.distance(in: clear.span, payloadEnd: clear.count) else { return false }
            do throws(EncodeError) { crc = try LiveFix.crc(boundTo: anchor, log) } catch { return false }
            var bytes = clear.mutableSpan
            bytes[3] = UInt8(truncatingIfNeeded: anchor.sequence &+ distance)
        }
        FrameCRC.append(to: &clear, crc: crc, shortSequence: sequence)
        return true
    }

    @inline(never)
    /// A cipher that has taken in the associated data of a frame.
    /// - Parameter bytes: begin with the header and the clear part of the frame.
    private static func cipher(
        _ bytes: Span<UInt8>, byteCount: Int, _ layout: SealedLayout, _ number: FrameNumber, _ binding: SealedBinding,
        logID: LogID, _ keys: SealingKeys
    ) -> AsconAEAD128 {
        let nonce = Words128(logID.rawValue &<< 6, number.bootCount, number.counter, 0)
        var cipher = AsconAEAD128(key: keys.up, nonce: nonce)
        cipher.absorb(bytes, from: 0, to: FrameHeader.byteCount)
        cipher.absorb(UInt32(truncatingIfNeeded: byteCount), byteCount: 1)
        cipher.absorb(bytes, from: FrameHeader.byteCount, to: layout.ciphertextStart)
        switch binding {
        case .none: break
        case .sequence(let sequence): if hasShortSequence(bytes) { cipher.absorb(sequence &>> 16, byteCount: 2) }
        case .anchor(let anchor):
            var record = BitWriter()
            LiveFix.write(anchor: anchor, into: &record)
            cipher.absorb(record.written, from: 0, to: record.written.count)
        }
        return cipher
    }

    @inline(never)
    /// Hides the clear part of an identity, or shows it.
    private static func mask(_ bytes: inout MutableSpan<UInt8>, tag: Words128, _ keys: SealingKeys) {
        var hash = SealingKeys.hash(of: keys.mask, byteCount: 16)
        hash.absorb(tag, byteCount: 8)
        hash.end()
        let low = hash.next()
        let stream = Words128(low: low, high: hash.next())
        for index in 0..<identityByteCount { bytes[FrameHeader.byteCount &+ index] ^= stream.byte(at: index) }
    }

    /// Decrypts the ciphertext of a frame, and appends the plaintext to `clear`.
    /// - Returns: whether the tag is right.
    static func decrypt(
        _ frame: Span<UInt8>, layout: SealedLayout, _ cipher: consuming AsconAEAD128, into clear: inout OutputSpan<UInt8>
    ) -> Bool {
        let start = clear.count
        let end = frame.count &- layout.tagByteCount
        guard clear.freeCapacity >= end &- layout.ciphertextStart &+ CRC24.byteCount else { return false }
        for index in layout.ciphertextStart..<end { clear.append(frame[index]) }
        var bytes = clear.mutableSpan
        let tag = cipher.open(&bytes, from: start)
        return tag.isEqual(to: Words128(frame, from: end, byteCount: layout.tagByteCount), byteCount: layout.tagByteCount)
    }
}

/// The number of a sealed frame of a collar. No other frame of the same log and key has it.
public struct FrameNumber: Equatable, Sendable {
    /// The collar's boot count.
    public var bootCount: UInt32
    /// The number of the frame in this boot, from 0 on.
    public var counter: UInt32

    /// Creates a number.
    public init(bootCount: UInt32, counter: UInt32) {
        self.bootCount = bootCount
        self.counter = counter
    }
}

/// The value that the tag of a collar's sealed frame covers in addition to the frame. Both ends must use the same value.
public enum SealedBinding: Sendable {
    /// Nothing else.
    case none
    /// The sequence of an absolute fix. The tag covers its upper 16 bits, if the frame does not hold them. The low 16 bits of this
    /// value are not used.
    case sequence(UInt32)
    /// The anchor of a live fix.
    case anchor(Fix)
}
