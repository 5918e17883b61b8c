import CollarARQ
import CollarJournal
import CollarWire

/// Watches the condition of one collar, as its fixes, identities and statuses tell it. What a person was told of the battery and of
/// restarts is kept in the journal, so that a restart of the receiver does not repeat it.
struct ConditionMonitor {
    private let journal: Journal
    private var positions: PositionMonitor
    private var faults: FaultMonitor
    private var battery: BatteryMonitor
    private var restarts: RestartMonitor

    init(_ journal: Journal) {
        self.journal = journal
        positions = PositionMonitor(deviceID: journal.deviceID)
        faults = FaultMonitor(deviceID: journal.deviceID)
        battery = BatteryMonitor(deviceID: journal.deviceID, warning: journal.memory.batteryWarning)
        restarts = RestartMonitor(deviceID: journal.deviceID, bootCount: journal.memory.bootCount)
    }

    /// When to call ``advance(to:_:)`` next; nil while nothing is awaited.
    var nextDeadline: Instant? { restarts.nextDeadline }

    /// Does what is due.
    mutating func advance(to now: Instant, _ output: HostOutput) {
        restarts.advance(to: now, output)
        journal.memory.bootCount = restarts.bootCount
    }

    /// The collar sent its identity.
    /// - Parameter isNewLog: whether the log was not known before.
    mutating func accept(_ identity: Identity, isNewLog: Bool, at now: Instant, _ output: HostOutput) {
        restarts.accept(identity, isNewLog: isNewLog, at: now, output)
        journal.memory.bootCount = restarts.bootCount
    }

    /// The collar sent its status.
    mutating func accept(_ status: Status, at now: Instant, _ output: HostOutput) {
        positions.accept(status, at: now, output)
        battery.accept(status, output)
        journal.memory.batteryWarning = battery.warning
        let isReported = restarts.accept(status, output)
        journal.memory.bootCount = restarts.bootCount
        faults.accept(status, isReported: isReported, at: now, output)
    }

    /// The newest fix of the collar's current log was stored.
    mutating func noteStored(_ fix: Fix, logID: UInt32, at now: Instant, _ output: HostOutput) {
        positions.noteStored(fix, logID: logID, at: now, output)
        battery.accept(newest: fix, output)
        journal.memory.batteryWarning = battery.warning
    }

    /// See ``PositionMonitor/noteBacklog(at:)``.
    mutating func noteBacklog(at now: Instant) { positions.noteBacklog(at: now) }

    /// See ``PositionMonitor/noteMessage()``.
    mutating func noteMessage() { positions.noteMessage() }

    /// See ``PositionMonitor/noteUndecodable(at:_:)``.
    mutating func noteUndecodable(at now: Instant, _ output: HostOutput) { positions.noteUndecodable(at: now, output) }

    /// A frame without a fix came in. If the collar has shown a sequence above all stored ones, that fix is still on its way.
    mutating func noteFrameWithoutFix(_ log: LogSession, at now: Instant, _ output: HostOutput) {
        guard log.delivery.highestSequence <= log.highestStored else { return }
        let isComplete = journal.firstMissing(logID: log.log.logID) > log.highestStored
        positions.noteFrameWithoutFix(isComplete: isComplete, at: now, output)
    }
}
