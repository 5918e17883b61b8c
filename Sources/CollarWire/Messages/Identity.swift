/// The identity of a collar and what its log holds. The CRC is not bound to a log, so a host that does not know the collar can
/// read the message.
///
/// Payload, 36 or 40 bytes: device id (64 bits), log id (26), zero (6), boot count (32), oldest sequence (32),
/// next sequence (32), paired receiver (32), largest frame (8), firmware version (3 × 8), capabilities (16),
/// heartbeat (16), delivered elsewhere (32; left out if it is 0). A receiver ignores bytes that follow.
public struct Identity: Equatable, Sendable {
    /// The collar and its log.
    public var log: LogIdentity
    /// Number of boots since manufacture, or a higher number if flash was lost; erasing the log does not reset it.
    public var bootCount: UInt32
    /// The oldest sequence still in the log; equal to ``nextSequence`` if the log is empty.
    public var oldestSequence: UInt32
    /// The sequence that the next entry of the log will get.
    public var nextSequence: UInt32
    /// Id of the receiver with which the collar is paired; 0 if it is not paired.
    public var pairedReceiverID: UInt32
    /// The largest frame the collar's radio carries, 51 … 253 bytes.
    public var maximumFrameByteCount: UInt8
    /// Version of the firmware.
    public var firmwareVersion: FirmwareVersion
    /// The capabilities of the collar.
    public var capabilities: Capabilities
    /// Longest silence of the collar, in seconds.
    public var heartbeatSeconds: UInt16
    /// A former receiver of the collar acknowledged all sequences that are below this one and no longer in the log. At most
    /// ``nextSequence``; 0 if there are no such sequences.
    public var deliveredElsewhere: UInt32

    /// Creates an identity.
    public init(
        log: LogIdentity, bootCount: UInt32, oldestSequence: UInt32, nextSequence: UInt32,
        pairedReceiverID: UInt32, maximumFrameByteCount: UInt8, firmwareVersion: FirmwareVersion,
        capabilities: Capabilities, heartbeatSeconds: UInt16, deliveredElsewhere: UInt32 = 0
    ) {
        self.log = log
        self.bootCount = bootCount
        self.oldestSequence = oldestSequence
        self.nextSequence = nextSequence
        self.pairedReceiverID = pairedReceiverID
        self.maximumFrameByteCount = maximumFrameByteCount
        self.firmwareVersion = firmwareVersion
        self.capabilities = capabilities
        self.heartbeatSeconds = heartbeatSeconds
        self.deliveredElsewhere = deliveredElsewhere
    }

    /// Appends the bare frame.
    /// - Throws: ``EncodeError/field(_:value:)`` if the largest frame is outside 51 … 253 bytes, or if ``oldestSequence`` or
    ///   ``deliveredElsewhere`` is above ``nextSequence``; ``EncodeError/frameTooSmall(neededByteCount:)`` if the output is too
    ///   small.
    public func encode(address: UInt8, flags: FrameFlags, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        var payload = BitWriter()
        let frameLimit = UInt32(maximumFrameByteCount)
        payload.require(Frame.isLimit(frameLimit), .frameLimit, frameLimit)
        payload.require(oldestSequence <= nextSequence, .sequence, oldestSequence)
        payload.require(deliveredElsewhere <= nextSequence, .sequence, deliveredElsewhere)
        payload.write(log, bootCount: bootCount)
        payload.write(oldestSequence, 32)
        payload.write(nextSequence, 32)
        payload.write(pairedReceiverID, 32)
        payload.write(frameLimit, 8)
        payload.write(UInt32(firmwareVersion.major), 8)
        payload.write(UInt32(firmwareVersion.minor), 8)
        payload.write(UInt32(firmwareVersion.patch), 8)
        payload.write(UInt32(capabilities.rawValue), 16)
        payload.write(UInt32(heartbeatSeconds), 16)
        if deliveredElsewhere != 0 { payload.write(deliveredElsewhere, 32) }
        try payload.encode(as: .identity, flags: flags, address: address, crc: CRC24(), into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        (log, bootCount) = reader.readLog()
        oldestSequence = reader.read(32)
        nextSequence = reader.read(32)
        reader.require(oldestSequence <= nextSequence, .sequence, oldestSequence)
        pairedReceiverID = reader.read(32)
        let frameLimit = reader.read(8)
        reader.require(Frame.isLimit(frameLimit), .frameLimit, frameLimit)
        maximumFrameByteCount = UInt8(truncatingIfNeeded: frameLimit)
        firmwareVersion = FirmwareVersion(
            major: UInt8(truncatingIfNeeded: reader.read(8)), minor: UInt8(truncatingIfNeeded: reader.read(8)),
            patch: UInt8(truncatingIfNeeded: reader.read(8)))
        capabilities = Capabilities(rawValue: UInt16(truncatingIfNeeded: reader.read(16)))
        heartbeatSeconds = UInt16(truncatingIfNeeded: reader.read(16))
        let following = reader.remainingBitCount >= 32 ? reader.read(32) : 0
        deliveredElsewhere = following <= nextSequence ? following : 0
        try reader.checkNotPastEnd()
    }
}

/// Version of a collar's firmware.
public struct FirmwareVersion: Equatable, Sendable {
    /// Major number.
    public var major: UInt8
    /// Minor number.
    public var minor: UInt8
    /// Patch number.
    public var patch: UInt8

    /// Creates a version.
    public init(major: UInt8, minor: UInt8, patch: UInt8) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }
}

/// The capabilities of a collar, one bit each; unknown bits are ignored.
public struct Capabilities: Equatable, Sendable {
    /// The bits as sent.
    public var rawValue: UInt16

    /// Creates capabilities from their bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Bit 0: a compass, so that ``Fix/heading`` can be known.
    public static var compass: Capabilities { Capabilities(rawValue: 1 &<< 0) }
    /// Bit 1: a sounder.
    public static var sounder: Capabilities { Capabilities(rawValue: 1 &<< 1) }
    /// Bit 2: the radio listens before it talks.
    public static var listenBeforeTalk: Capabilities { Capabilities(rawValue: 1 &<< 2) }
    /// Bit 3: an application that takes a ``HostMessage``.
    public static var messages: Capabilities { Capabilities(rawValue: 1 &<< 3) }

    /// Whether all bits of `other` are set.
    public func contains(_ other: Capabilities) -> Bool { rawValue & other.rawValue == other.rawValue }
}

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
    public func encode(address: UInt8, flags: FrameFlags, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        var payload = BitWriter()
        payload.write(logTag, 24)
        payload.write(nextSequence, 32)
        try payload.encode(as: .probe, flags: flags, address: address, crc: CRC24(), into: &output)
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
        try payload.encode(as: .identityRequest, address: address, crc: CRC24(), into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        receiverID = reader.readReceiverID()
        try reader.checkEnd()
    }
}
