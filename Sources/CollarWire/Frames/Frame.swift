/// Sizes of frames, and addresses with a special meaning. A frame consists of header, payload and CRC.
public enum Frame {
    /// Bytes of the largest frame. Up to this size the CRC has a Hamming distance of 6.
    public static var maximumByteCount: Int { 253 }
    /// The smallest size to which a link may limit its frames (LoRa at its slowest data rate).
    public static var minimumLimitByteCount: Int { 51 }
    /// Bytes of header and CRC.
    public static var overheadByteCount: Int { FrameHeader.byteCount + CRC24.byteCount }
    /// Bytes of the largest payload.
    public static var maximumPayloadByteCount: Int { maximumByteCount - overheadByteCount }
    /// The version of the protocol that this code supports.
    public static var protocolVersion: UInt8 { 1 }
    /// The address of the base radio itself.
    public static var baseRadioAddress: UInt8 { 0 }
    /// The address that stands for every collar.
    public static var broadcastAddress: UInt8 { 0xFF }

    /// Whether a link may set its largest frame to `byteCount`.
    static func isLimit(_ byteCount: UInt32) -> Bool {
        byteCount >= UInt32(minimumLimitByteCount) && byteCount <= UInt32(maximumByteCount)
    }
}

/// The type of a frame; five bits on the wire. Types from 16 up come from the host.
public enum MessageType: UInt8, Equatable, Sendable {
    /// Collar: ``Identity``.
    case identity = 1
    /// Collar: a ``Fix`` that can be decoded without any other fix, see ``AbsoluteFix``.
    case absoluteFix = 2
    /// Collar: a ``Fix`` as the difference from an earlier one, see ``LiveFix``.
    case liveFix = 3
    /// Collar: several fixes, see ``Batch``.
    case batch = 4
    /// Collar: ``Probe``.
    case probe = 5
    /// Collar: ``Status``.
    case status = 6
    /// Collar: ``Settings``.
    case settingsReport = 7
    /// Collar: ``CommandResult``.
    case commandResult = 8
    /// Collar: ``Tombstone``.
    case tombstone = 9
    /// Base radio: ``RadioIdentity``.
    case radioIdentity = 10
    /// Base radio: ``ModemSettings``.
    case modemSettings = 11
    /// Base radio: ``SignalReport``.
    case signalReport = 12
    /// Collar: ``CollarMessage``.
    case collarMessage = 13
    /// Collar: ``PowerReport``.
    case powerReport = 15
    /// Host: ``Acknowledgement``.
    case acknowledgement = 16
    /// Host: ``IdentityRequest``.
    case identityRequest = 17
    /// Host: ``SettingsRequest``.
    case settingsRequest = 18
    /// Host: ``Settings``.
    case settingsUpdate = 19
    /// Host: ``Command``.
    case command = 20
    /// Host: ``HostMessage``.
    case hostMessage = 29

    /// Whether frames of this type come from a collar, and not from a host or a base radio.
    public var isFromCollar: Bool {
        switch self {
        case .radioIdentity, .modemSettings, .signalReport: false
        default: rawValue < 16
        }
    }

    /// Whether the CRC covers the device id and the log id. The exceptions are types that must be readable without these ids.
    public var isBoundToLog: Bool {
        switch self {
        case .identity, .probe, .identityRequest, .radioIdentity, .modemSettings, .signalReport: false
        default: true
        }
    }
}

/// The eight flag bits of a frame.
public struct FrameFlags: Equatable, Sendable {
    /// The bits as sent.
    public var rawValue: UInt8

    /// Creates flags from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates the flags of a frame with this poll number; `poll` is nil for a frame that wants no answer.
    public init(poll: PollNumber?) { rawValue = poll?.rawValue ?? 0 }

    /// Bit 7: the frame is sealed.
    public static var sealedMask: UInt8 { 0b1000_0000 }
    /// Bits 6 … 5: a receiver must not use a frame in which a bit that it does not know is set.
    public static var criticalMask: UInt8 { 0b0110_0000 }
    /// Bits 4 … 3: a receiver ignores those that it does not know.
    public static var ignorableMask: UInt8 { 0b0001_1000 }
    /// Bit 4 of a collar's sealed frame: the frame holds the whole counter.
    static var longMask: UInt8 { 0b0001_0000 }
    /// Bit 3 of a sealed absolute fix: the frame holds the whole sequence.
    static var wideMask: UInt8 { 0b0000_1000 }
    /// Bits 2 … 0: the number of the poll; 0 wants no answer. In a host's sealed frame: the index.
    public static var pollMask: UInt8 { 0b0000_0111 }

    /// The critical bits that this version does not know; 0 if the frame may be used.
    public var unknownCriticalBits: UInt8 { rawValue & FrameFlags.criticalMask }

    /// Whether the frame is sealed.
    public var isSealed: Bool { rawValue & FrameFlags.sealedMask != 0 }

    /// In a host's sealed frame: 0 for an acknowledgement, 1 and 2 for the requests before it.
    var index: UInt8 { rawValue & FrameFlags.pollMask }

    /// The poll of this frame; nil if it wants no answer.
    public var poll: PollNumber? { PollNumber(rawValue: rawValue & FrameFlags.pollMask) }
}

/// The number of a poll, 1 … 7, which its answer repeats.
public struct PollNumber: Equatable, Sendable {
    /// 1 … 7.
    public let rawValue: UInt8

    /// Creates a number; nil outside 1 … 7.
    public init?(rawValue: UInt8) {
        guard rawValue >= 1, rawValue <= 7 else { return nil }
        self.rawValue = rawValue
    }

    private init(unchecked rawValue: UInt8) { self.rawValue = rawValue }

    /// The first number.
    public static var first: PollNumber { PollNumber(unchecked: 1) }

    /// The number after this one; 1 comes after 7.
    public var next: PollNumber { PollNumber(unchecked: rawValue == 7 ? 1 : rawValue + 1) }
}

/// The first four bytes of a frame, not encrypted.
///
/// Layout: version (3 bits), type (5), flags (8), address (8), low byte (8).
public struct FrameHeader: Equatable, Sendable {
    /// Bytes on the wire.
    public static var byteCount: Int { 4 }

    /// The type as sent, 0 … 31; see ``type``.
    public var typeCode: UInt8
    /// Flags as sent.
    public var flags: FrameFlags
    /// Address of the collar on the air, 1 … 254; 0 stands for the base radio, 255 for every collar.
    public var address: UInt8
    /// In a fix, the low 8 bits of its sequence; in a batch, the low 8 bits of the first fix's sequence; in an acknowledgement,
    /// the number of the poll that it answers; else 0.
    public var lowByte: UInt8

    @inline(__always)
    init(typeCode: UInt8, flags: FrameFlags, address: UInt8, lowByte: UInt8) {
        self.typeCode = typeCode
        self.flags = flags
        self.address = address
        self.lowByte = lowByte
    }

    /// The type; nil if this version does not know it.
    public var type: MessageType? { MessageType(rawValue: typeCode) }

    /// Reads the header of a bare frame that is not sealed.
    /// - Throws: ``DecodeError`` for a frame below 7 or above 253 bytes, another version, an unknown critical flag, or a sealed
    ///   frame. The CRC is not verified here.
    public init(_ frame: Span<UInt8>) throws(DecodeError) {
        try self.init(ofAny: frame)
        guard !flags.isSealed else { throw .sealed }
    }

    /// Reads the header of a bare frame, sealed or not.
    /// - Throws: ``DecodeError`` for a frame below 7 or above 253 bytes, another version, or an unknown critical flag.
    public init(ofAny frame: Span<UInt8>) throws(DecodeError) {
        guard frame.count >= Frame.overheadByteCount else { throw .tooShort(byteCount: frame.count) }
        guard frame.count <= Frame.maximumByteCount else { throw .tooLong(byteCount: frame.count) }
        let version = frame[0] &>> 5
        guard version == Frame.protocolVersion else { throw .unsupportedVersion(version) }
        typeCode = FrameHeader.typeCode(of: frame)
        flags = FrameFlags(rawValue: frame[1])
        address = frame[2]
        lowByte = frame[3]
        guard flags.unknownCriticalBits == 0 else { throw .unknownCriticalFlags(flags.unknownCriticalBits) }
    }

    /// The first byte of a header: version and type.
    @inline(__always)
    static func firstByte(typeCode: UInt8) -> UInt8 { Frame.protocolVersion &<< 5 | typeCode }

    /// The type in the first byte of a frame, 0 … 31.
    @inline(__always)
    static func typeCode(of frame: Span<UInt8>) -> UInt8 { frame[0] & 0x1F }

    /// Appends the four bytes.
    public func encode(into output: inout OutputSpan<UInt8>) {
        output.append(FrameHeader.firstByte(typeCode: typeCode))
        output.append(flags.rawValue)
        output.append(address)
        output.append(lowByte)
    }
}

extension BitWriter {
    /// Appends a bare frame with this payload. Without `flags` the message wants no answer.
    @inline(__always)
    mutating func encode(
        as type: MessageType, flags: FrameFlags = FrameFlags(poll: nil), address: UInt8, lowByte: UInt8 = 0, crc: CRC24,
        shortSequence: UInt32 = 0, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        let header = FrameHeader(typeCode: type.rawValue, flags: flags, address: address, lowByte: lowByte)
        try encode(after: header, crc: crc, shortSequence: shortSequence, into: &output)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Appends a bare frame with this payload, which is padded to a whole byte.
    /// - Parameters:
    ///   - crc: the CRC over what the frame is bound to.
    ///   - shortSequence: the full sequence, if the frame holds only its low 16 bits; else 0.
    /// - Precondition: `output` is empty.
    mutating func encode(
        after header: FrameHeader, crc: CRC24, shortSequence: UInt32 = 0, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        precondition(output.count == 0, "a frame starts an output of its own")
        try checkFields()
        let neededByteCount = byteCount &+ Frame.overheadByteCount
        guard fits, output.freeCapacity >= neededByteCount else { throw .frameTooSmall(neededByteCount: neededByteCount) }
        header.encode(into: &output)
        append(to: &output)
        FrameCRC.append(to: &output, crc: crc, shortSequence: shortSequence)
    }
}
