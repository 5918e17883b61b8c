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
