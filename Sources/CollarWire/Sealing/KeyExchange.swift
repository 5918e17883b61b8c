/// The frames of a key exchange. They exist only on a cable, a serial line from a host to one collar. To every other receiver
/// their types are unknown (PROTOCOL.md, section 23).
public enum CableFrame: UInt8, Sendable {
    /// Collar: ``KeyOffer``.
    case keyOffer = 14
    /// Host: a request for a new key.
    case keyRequest = 21
    /// Host: the key that the collar offered becomes its key.
    case keyActivation = 22

    /// The frame that a header announces; nil for any other type.
    public init?(_ header: FrameHeader) { self.init(rawValue: header.typeCode) }

    /// Appends a key request.
    /// - Parameters:
    ///   - proof: shows that the host has the present key of the collar; nil if it does not have it.
    ///   - output: receives the frame; it is empty.
    /// - Throws: ``EncodeError/frameTooSmall(neededByteCount:)`` if the output is too small.
    public static func encodeRequest(proof: KeyProof?, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        var payload = BitWriter()
        if let proof { payload.write(proof.words, byteCount: KeyProof.byteCount) }
        try encode(.keyRequest, address: Frame.broadcastAddress, payload: &payload, into: &output)
    }

    /// Appends a key activation.
    /// - Throws: ``EncodeError/frameTooSmall(neededByteCount:)`` if the output is too small.
    public static func encodeActivation(proof: KeyProof, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        var payload = BitWriter()
        payload.write(proof.words, byteCount: KeyProof.byteCount)
        try encode(.keyActivation, address: Frame.broadcastAddress, payload: &payload, into: &output)
    }

    /// The proof in a key request; nil if the request has none.
    /// - Throws: ``DecodeError`` if the frame is no key request or is damaged.
    public static func decodeRequest(_ frame: Span<UInt8>) throws(DecodeError) -> KeyProof? {
        try check(frame, .keyRequest)
        guard frame.count > Frame.overheadByteCount else { return nil }
        return try proof(in: frame)
    }

    /// The proof in a key activation.
    /// - Throws: ``DecodeError`` if the frame is no key activation or is damaged.
    public static func decodeActivation(_ frame: Span<UInt8>) throws(DecodeError) -> KeyProof {
        try check(frame, .keyActivation)
        return try proof(in: frame)
    }

    private static func proof(in frame: Span<UInt8>) throws(DecodeError) -> KeyProof {
        var reader = BitReader(payloadOf: frame)
        let proof = KeyProof(reader.readWords(byteCount: KeyProof.byteCount))
        try reader.checkEnd()
        return proof
    }

    static func encode(
        _ type: CableFrame, address: UInt8, payload: inout BitWriter, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        let header = FrameHeader(typeCode: type.rawValue, flags: FrameFlags(poll: nil), address: address, lowByte: 0)
        try payload.encode(after: header, crc: CRC24(), into: &output)
    }

    /// Checks the header and the CRC of a frame in clear.
    static func check(_ frame: Span<UInt8>, _ type: CableFrame) throws(DecodeError) {
        let header = try FrameHeader(frame)
        guard CableFrame(header) == type else { throw .unknownType(header.typeCode) }
        guard FrameCRC.isValid(frame, log: nil) else { throw .crcMismatch }
    }
}

extension BitWriter {
    /// Writes the first `byteCount` bytes of two words.
    mutating func write(_ words: Words128, byteCount: Int) {
        for index in 0..<byteCount { write(UInt32(words.byte(at: index)), 8) }
    }
}

extension BitReader {
    /// Reads `byteCount` bytes, at most 16; the others are 0.
    mutating func readWords(byteCount: Int) -> Words128 {
        var words = Words128(low: 0, high: 0)
        for index in 0..<byteCount {
            let byte = UInt64(widening: read(8)) &<< UInt64(widening: UInt32(truncatingIfNeeded: 8 &* (index & 7)))
            if index < 8 { words.low |= byte } else { words.high |= byte }
        }
        return words
    }
}

/// A new key that a collar offers on its cable (PROTOCOL.md, section 23).
///
/// Payload, 32 bytes: device id (64 bits), log id (26), zero (6), boot count (32), the new key (128).
public struct KeyOffer: Equatable, Sendable {
    /// The collar and its log.
    public var log: LogIdentity
    /// The boot count of the collar.
    public var bootCount: UInt32
    /// The key that is offered.
    public var key: CollarKey

    /// Creates an offer.
    public init(log: LogIdentity, bootCount: UInt32, key: CollarKey) {
        self.log = log
        self.bootCount = bootCount
        self.key = key
    }

    /// Appends the bare frame in clear.
    ///
    /// ``SealedFrame/seal(_:number:isLong:binding:log:keys:)`` seals it like an identity.
    /// - Throws: ``EncodeError/frameTooSmall(neededByteCount:)`` if the output is too small.
    public func encode(address: UInt8, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        var payload = BitWriter()
        payload.write(log, bootCount: bootCount)
        payload.write(key.words, byteCount: CollarKey.byteCount)
        try CableFrame.encode(.keyOffer, address: address, payload: &payload, into: &output)
    }

    /// Decodes a frame in clear.
    /// - Throws: ``DecodeError`` if the frame is no offer or is damaged.
    public init(_ frame: Span<UInt8>) throws(DecodeError) {
        try CableFrame.check(frame, .keyOffer)
        var reader = BitReader(payloadOf: frame)
        (log, bootCount) = reader.readLog()
        key = CollarKey(reader.readWords(byteCount: CollarKey.byteCount))
        try reader.checkEnd()
    }
}

/// Shows that its sender knows a key of a collar, and does not reveal the key (PROTOCOL.md, section 23).
public struct KeyProof: Sendable {
    /// Bytes of a proof.
    public static var byteCount: Int { 8 }

    let words: Words128

    init(_ words: Words128) { self.words = words }

    /// The proof of a key request: its sender knows the present key of the collar.
    public static func ofPresentKey(_ key: CollarKey, deviceID: DeviceID) -> KeyProof {
        KeyProof(SealingKeys.derived(from: key, deviceID: deviceID, label: 0x6F_6C64, byteCount: 3))
    }

    /// The proof of a key activation: its sender knows the key that the collar offered.
    public static func ofNewKey(_ key: CollarKey, deviceID: DeviceID) -> KeyProof {
        KeyProof(SealingKeys.derived(from: key, deviceID: deviceID, label: 0x6E_6577, byteCount: 3))
    }

    /// Whether two proofs are equal. The time does not depend on the proofs.
    public func isEqual(to other: KeyProof) -> Bool { words.isEqual(to: other.words, byteCount: KeyProof.byteCount) }
}
