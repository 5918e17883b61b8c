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
        payload.write(wide: log.deviceID)
        payload.write(log.logID &<< 6, 32)
        payload.write(bootCount, 32)
        payload.write(key.words, byteCount: CollarKey.byteCount)
        try CableFrame.encode(.keyOffer, address: address, payload: &payload, into: &output)
    }

    /// Decodes a frame in clear.
    /// - Throws: ``DecodeError`` if the frame is no offer or is damaged.
    public init(_ frame: Span<UInt8>) throws(DecodeError) {
        try CableFrame.check(frame, .keyOffer)
        var reader = BitReader(payloadOf: frame)
        let deviceID = UInt64(widening: reader.read(32)) &<< 32 | UInt64(widening: reader.read(32))
        guard let log = LogIdentity(deviceID: deviceID, logID: reader.read(26)) else {
            preconditionFailure("26 bits are a log id")
        }
        self.log = log
        _ = reader.read(6)
        bootCount = reader.read(32)
        key = CollarKey(reader.readWords(byteCount: CollarKey.byteCount))
        try reader.checkEnd()
    }
}
