import CollarWire

/// Why a collar started.
public enum ResetCause: Equatable, Sendable {
    /// The supply voltage came on.
    case powerOn
    /// The supply voltage was too low.
    case lowVoltage
    /// The watchdog ended a program that hung.
    case watchdog
    /// The program met a fault.
    case fault(CrashRecord)
    /// The program reset itself: a command, or a new key.
    case program
    /// The reset pin, or a debugger.
    case external

    /// What a status reports as the last error after this start (PROTOCOL.md, section 13).
    var fault: CollarFault {
        switch self {
        case .powerOn, .program, .external: .none
        case .lowVoltage: .lowVoltageReset
        case .watchdog: .watchdogReset
        case .fault(let record): record.isWatchdog ? .watchdogReset : .firmwareReset
        }
    }
}

/// What a fault handler leaves in memory that a reset does not clear, so that the next start can report it.
///
/// The handler stores ``words`` and resets. The next start reads them back, and then overwrites them with zeros.
public struct CrashRecord: Equatable, Sendable {
    /// Whether the handler was that of a watchdog, which warns before it resets.
    public var isWatchdog: Bool
    /// The address of the instruction at which the program ended.
    public var programCounter: UInt32

    /// Creates a record.
    public init(isWatchdog: Bool = false, programCounter: UInt32) {
        self.isWatchdog = isWatchdog
        self.programCounter = programCounter
    }

    private static var mark: UInt32 { 0x4352_5348 }

    /// The three words to keep. The last one is a check, because memory holds chance values after power comes on.
    public var words: InlineArray<3, UInt32> {
        let first = CrashRecord.mark ^ (isWatchdog ? 1 : 0)
        return [first, programCounter, ~(first &+ programCounter)]
    }

    /// Reads a record back; nil if there is none.
    public init?(words: InlineArray<3, UInt32>) {
        guard words[0] | 1 == CrashRecord.mark | 1, words[2] == ~(words[0] &+ words[1]) else { return nil }
        isWatchdog = words[0] != CrashRecord.mark
        programCounter = words[1]
    }
}
