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
