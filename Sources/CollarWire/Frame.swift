/// Sizes of a frame: header, payload and check.
public enum Frame {
    /// The largest frame. Up to this length the check keeps Hamming distance 6.
    public static var maximumByteCount: Int { 253 }
    /// The smallest value a link may set for its largest frame (LoRa at its slowest data rate).
    public static var minimumLimitByteCount: Int { 51 }
    /// Header and check, without payload.
    public static var overheadByteCount: Int { FrameHeader.byteCount + CRC24.byteCount }
    /// The largest payload.
    public static var maximumPayloadByteCount: Int { maximumByteCount - overheadByteCount }
    /// The version of the protocol that this code speaks.
    public static var protocolVersion: UInt8 { 1 }
    /// The address of the base radio itself.
    public static var baseRadioAddress: UInt8 { 0 }
    /// The address that every collar listens to.
    public static var broadcastAddress: UInt8 { 0xFF }

    /// Whether a link may set this for its largest frame.
    static func isLimit(_ byteCount: UInt32) -> Bool {
        byteCount >= UInt32(minimumLimitByteCount) && byteCount <= UInt32(maximumByteCount)
    }
}

/// What a frame carries; five bits on the wire. From 16 up it comes from the host.
public enum MessageType: UInt8, Equatable, Sendable {
    /// Collar: ``Identity``.
    case identity = 1
    /// Collar: a ``Fix`` that stands alone.
    case absoluteFix = 2
    /// Collar: a ``Fix`` as the difference to an earlier one, see ``LiveFix``.
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
    /// Collar: ``ApplicationMessage``, channel 0.
    case application0 = 13
    /// Collar: ``ApplicationMessage``, channel 1.
    case application1 = 14
    /// Collar: ``ApplicationMessage``, channel 2.
    case application2 = 15
    /// Host: ``Acknowledgement``.
    case acknowledgement = 16
    /// Host: ``IdentityRequest``.
    case identityRequest = 17
    /// Host: ``SettingsRequest``.
    case settingsRequest = 18
    /// Host: ``Settings``.
    case settingsOrder = 19
    /// Host: ``Command``.
    case command = 20
    /// Host: ``ApplicationMessage``, channel 0.
    case hostApplication0 = 29
    /// Host: ``ApplicationMessage``, channel 1.
    case hostApplication1 = 30
    /// Host: ``ApplicationMessage``, channel 2.
    case hostApplication2 = 31

    /// Whether a collar sends it, not a host or a base radio.
    public var isFromCollar: Bool {
        switch self {
        case .radioIdentity, .modemSettings, .signalReport: false
        default: rawValue < 16
        }
    }

    /// Whether the check covers the device id and the log id. What must be readable without knowing them does not.
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

    /// Flags of a frame that asks for an answer (1 … 7) or does not (0).
    public init(ask: AskNumber?) { rawValue = ask?.rawValue ?? 0 }

    /// Bits 7 … 5: a receiver that does not know one of them must not use the frame. Bit 7 is reserved for sealing.
    public static var criticalMask: UInt8 { 0b1110_0000 }
    /// Bits 4 … 3: a receiver that does not know them ignores them.
    public static var ignorableMask: UInt8 { 0b0001_1000 }
    /// Bits 2 … 0: the number of the ask; 0 asks for nothing.
    public static var askMask: UInt8 { 0b0000_0111 }

    /// The critical bits that this version does not know; 0 where the frame may be used.
    public var unknownCriticalBits: UInt8 { rawValue & FrameFlags.criticalMask }

    /// The ask of this frame; nil where it wants no answer.
    public var ask: AskNumber? { AskNumber(rawValue: rawValue & FrameFlags.askMask) }
}

/// The number of an ask, 1 … 7, which its answer echoes.
public struct AskNumber: Equatable, Sendable {
    /// 1 … 7.
    public let rawValue: UInt8

    /// Creates a number; nil outside 1 … 7.
    public init?(rawValue: UInt8) {
        guard rawValue >= 1, rawValue <= 7 else { return nil }
        self.rawValue = rawValue
    }

    private init(unchecked rawValue: UInt8) { self.rawValue = rawValue }

    /// The first number.
    public static var first: AskNumber { AskNumber(unchecked: 1) }

    /// The number after this one; 1 comes after 7.
    public var next: AskNumber { AskNumber(unchecked: rawValue == 7 ? 1 : rawValue + 1) }
}
