/// Seals and opens the frames of hosts (PROTOCOL.md, section 22).
public enum SealedHostFrame {
    /// Bytes by which sealing makes a frame of a host longer.
    public static var overheadByteCount: Int { 8 }

    /// Seals a frame of a host in place.
    /// - Parameters:
    ///   - frame: holds one clear frame of a host, and has room for ``overheadByteCount`` more bytes.
    ///   - poll: the number of the collar's frame whose poll is answered.
    ///   - index: 0 for the acknowledgement, 1 and 2 for the requests before it.
    ///   - receiverID: the id of the receiver that sends the frame.
    ///   - log: the collar and its log.
    ///   - keys: the keys of the collar.
    /// - Precondition: the type of the frame is one that a host seals.
    public static func seal(
        _ frame: inout OutputSpan<UInt8>, poll: FrameNumber, index: UInt8, receiverID: UInt32, log: LogIdentity,
        keys: SealingKeys
    ) {
        guard let type = MessageType(rawValue: FrameHeader.typeCode(of: frame.span)), let layout = SealedLayout(ofHost: type)
        else { preconditionFailure("a host does not seal this type") }
        frame.removeLast(CRC24.byteCount)
        if type.hasRequestIDFirst { frame.exchangeRequestAndReceiverID(isRequestIDFirst: true) }
        frame.moveTail(from: layout.plaintextStart, to: layout.ciphertextStart)
        let byteCount = frame.count &+ layout.tagByteCount
        var bytes = frame.mutableSpan
        bytes[1] = FrameFlags.sealedMask | bytes[1] & FrameFlags.ignorableMask | index
        bytes[3] = UInt8(truncatingIfNeeded: poll.counter)
        let length = UInt32(truncatingIfNeeded: byteCount)
        // The salt depends on everything that the nonce and the tag depend on.
        var hash = SealingKeys.hash(of: keys.salt, byteCount: 16)
        hash.absorb(nonce(poll, index: index, receiverID: receiverID, salt: 0), byteCount: 13)
        hash.absorb(bytes.span, from: 0, to: FrameHeader.byteCount)
        hash.absorb(length, byteCount: 1)
        hash.absorb(log.logID.rawValue, byteCount: 4)
        hash.absorb(bytes.span, from: FrameHeader.byteCount, to: layout.plaintextStart)
        hash.absorb(bytes.span, from: layout.ciphertextStart, to: bytes.count)
        hash.end()
        let salt = Words128(low: hash.next(), high: 0)
        for place in 0..<SealedLayout.saltByteCount { bytes[layout.plaintextStart &+ place] = salt.byte(at: place) }
        let cipher = cipher(bytes.span, byteCount: byteCount, layout, poll, index: index, receiverID: receiverID, log, keys)
        let tag = cipher.seal(&bytes, from: layout.ciphertextStart)
        for index in 0..<layout.tagByteCount { frame.append(tag.byte(at: index)) }
    }

    /// Opens a frame of a host.
    /// - Parameters:
    ///   - frame: the sealed frame.
    ///   - header: its header.
    ///   - type: its type.
    ///   - poll: the number of the frame whose poll the host may have answered; its counter ends in the low byte of the header.
    ///   - pollNumber: the number of this poll, which an acknowledgement repeats in the clear form.
    ///   - receiverID: the collar's receiver, for a frame without a receiver id.
    ///   - log: the collar and its log.
    ///   - keys: the keys of the collar.
    ///   - clear: receives the clear frame with its CRC; it is empty.
    /// - Returns: whether the frame is authentic; if not, `clear` remains empty.
    public static func open(
        _ frame: Span<UInt8>, header: FrameHeader, type: MessageType, poll: FrameNumber, pollNumber: PollNumber?,
        receiverID: UInt32, log: LogIdentity, keys: SealingKeys, into clear: inout OutputSpan<UInt8>
    ) -> Bool {
        guard let layout = SealedLayout(ofHost: type), layout.fits(byteCount: frame.count) else { return false }
        var plain = header
        plain.flags = FrameFlags(rawValue: type == .acknowledgement ? header.flags.rawValue & FrameFlags.ignorableMask : 0)
        plain.lowByte = type == .acknowledgement ? pollNumber?.rawValue ?? 0 : 0
        plain.encode(into: &clear)
        for index in FrameHeader.byteCount..<layout.plaintextStart { clear.append(frame[index]) }
        let sender = type.hasReceiverID ? frame.bigEndian(at: FrameHeader.byteCount, byteCount: 4) : receiverID
        let cipher = cipher(frame, byteCount: frame.count, layout, poll, index: header.flags.index, receiverID: sender, log, keys)
        guard SealedFrame.decrypt(frame, layout: layout, cipher, into: &clear) else {
            clear.removeAll()
            return false
        }
        // A frame without a whole request id is rejected as cut off when it is decoded.
        if type.hasRequestIDFirst, clear.count >= layout.plaintextStart &+ 2 { clear.exchangeRequestAndReceiverID(isRequestIDFirst: false) }
        FrameCRC.append(to: &clear, crc: log.boundCRC)
        return true
    }

    @inline(never)
    /// A cipher that has taken in the associated data of a frame.
    /// - Parameter bytes: begin with the header, the receiver id and the salt of the frame.
    private static func cipher(
        _ bytes: Span<UInt8>, byteCount: Int, _ layout: SealedLayout, _ poll: FrameNumber, index: UInt8,
        receiverID: UInt32, _ log: LogIdentity, _ keys: SealingKeys
    ) -> AsconAEAD128 {
        let salt = bytes.bigEndian(at: layout.plaintextStart, byteCount: SealedLayout.saltByteCount)
        var cipher = AsconAEAD128(key: keys.down, nonce: nonce(poll, index: index, receiverID: receiverID, salt: salt))
        cipher.absorb(bytes, from: 0, to: FrameHeader.byteCount)
        cipher.absorb(UInt32(truncatingIfNeeded: byteCount), byteCount: 1)
        cipher.absorb(log.logID.rawValue, byteCount: 4)
        cipher.absorb(bytes, from: FrameHeader.byteCount, to: layout.plaintextStart)
        return cipher
    }

    private static func nonce(_ poll: FrameNumber, index: UInt8, receiverID: UInt32, salt: UInt32) -> Words128 {
        Words128(receiverID, poll.bootCount, poll.counter, UInt32(index) &<< 30 | salt)
    }
}
