/// A poll without content: "what do you have of my log?" The CRC is not bound to a log, so that a host that does not know the
/// collar can read the probe and ask for the identity.
///
/// Payload, 7 bytes: tag of the log (24 bits, ``LogIdentity/tag``), next sequence (32).
public struct Probe: Equatable, Sendable {
    /// Digest of device id and log id, 24 bits.
    public var logTag: UInt32
    /// The sequence that the next entry of the log will get.
    public var nextSequence: UInt32

    /// Creates a probe.
    public init(logTag: UInt32, nextSequence: UInt32) {
        self.logTag = logTag
        self.nextSequence = nextSequence
    }

    /// Appends the bare frame.
    public func encode(
        address: UInt8, flags: FrameFlags, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        var payload = BitWriter()
        payload.write(logTag, 24)
        payload.write(nextSequence, 32)
        let header = FrameHeader(type: .probe, flags: flags, address: address)
        try FrameEncoder.encode(header: header, payload: &payload, crc: CRC24(), into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        logTag = reader.read(24)
        nextSequence = reader.read(32)
        try reader.checkEnd()
    }
}

/// A host's question to the collars at an address (or to all): "who are you?" The answer is an ``Identity``.
///
/// Payload, 4 bytes: id of the receiver (32 bits).
public struct IdentityRequest: Equatable, Sendable {
    /// The receiver that asks; never 0.
    public var receiverID: UInt32

    /// Creates a request.
    public init(receiverID: UInt32) { self.receiverID = receiverID }

    /// Appends the bare frame.
    public func encode(address: UInt8, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        guard receiverID != 0 else { throw .field(.receiver, value: 0) }
        var payload = BitWriter()
        payload.write(receiverID, 32)
        let header = FrameHeader(type: .identityRequest, address: address)
        try FrameEncoder.encode(header: header, payload: &payload, crc: CRC24(), into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        receiverID = reader.readReceiverID()
        try reader.checkEnd()
    }
}
