import CollarWire

/// The purpose of a frame of a collar.
package enum FrameUse: Int, CaseIterable, Sendable {
    /// It carries fixes.
    case fixes
    /// It is a probe: nothing but a poll.
    case probe
    /// It tells of the collar: the identity, a status, a report.
    case report

    init(_ type: MessageType?) {
        switch type {
        case .absoluteFix, .liveFix, .batch, .tombstone: self = .fixes
        case .probe: self = .probe
        default: self = .report
        }
    }
}

/// How a simulated collar spent its time.
///
/// All times are measured on the board and on the state machines that it runs, in microseconds. Only ``awakeMicroseconds`` is modelled,
/// because the program itself takes no virtual time.
package struct DayStatistics: Equatable, Sendable {
    /// Frames, bytes and times of one use.
    package struct Traffic: Equatable, Sendable {
        package var frames = 0
        package var bytes = 0
        package var sendingMicroseconds: Int64 = 0
        /// Time in which the radio received after frames of this use.
        package var listeningMicroseconds: Int64 = 0
    }

    /// The whole time.
    package internal(set) var microseconds: Int64 = 0
    /// The states of the receiver's supply, by their raw values.
    private var supplies = [Int64](repeating: 0, count: 6)
    /// The part of *tracking* with a position, in cyclic mode.
    package internal(set) var cyclicMicroseconds: Int64 = 0
    /// The part of *tracking* with a position, at full power.
    package internal(set) var fullTrackingMicroseconds: Int64 = 0
    private var uses = [Traffic](repeating: Traffic(), count: FrameUse.allCases.count)
    /// Frames with a poll.
    package internal(set) var exchanges = 0
    /// Time in which the radio received although no poll was open.
    package internal(set) var strayListeningMicroseconds: Int64 = 0
    /// Fixes that the collar logged.
    package internal(set) var fixes = 0
    /// Fixes that the base had within ten minutes.
    package internal(set) var promptFixes = 0
    /// Time in which no base was in reach.
    package internal(set) var outOfReachMicroseconds: Int64 = 0
    /// Searches that began.
    package internal(set) var searches = 0
    /// Searches that ended without a position.
    package internal(set) var failures = 0
    /// The longest time between two answers while the base was in reach.
    package internal(set) var longestSilenceMicroseconds: Int64 = 0

    /// Time in a state of the receiver's supply.
    package internal(set) subscript(supply: PowerReport.Supply) -> Int64 {
        get { supplies[Int(supply.rawValue)] }
        set { supplies[Int(supply.rawValue)] = newValue }
    }

    /// The frames of a use.
    package internal(set) subscript(use: FrameUse) -> Traffic {
        get { uses[use.rawValue] }
        set { uses[use.rawValue] = newValue }
    }

    /// Time in which the receiver had its full supply.
    package var gnssMicroseconds: Int64 { supplies.reduce(0, +) - self[.off] - self[.backup] }
    /// Time in which the radio sent.
    package var sendingMicroseconds: Int64 { uses.reduce(0) { $0 + $1.sendingMicroseconds } }
    /// Time in which the radio received.
    package var listeningMicroseconds: Int64 { uses.reduce(0) { $0 + $1.listeningMicroseconds } }
    /// Time in which the processor was awake: 30 ms for each exchange (modelled).
    package var awakeMicroseconds: Int64 { Int64(exchanges) * 30_000 }
    /// Time of all states of the supply, which is the whole time.
    package var supplyMicroseconds: Int64 { supplies.reduce(0, +) }
    /// The number of days.
    package var days: Double { Double(microseconds) / Double(DayPlan.dayMicroseconds) }
}
