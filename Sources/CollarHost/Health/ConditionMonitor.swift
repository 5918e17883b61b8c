import CollarARQ
import CollarJournal
import CollarWire

/// Watches the condition of one collar, as its fixes, identities and statuses tell it. What a person was told of the battery and of
/// restarts is kept in the journal, so that a restart of the receiver does not repeat it.
struct ConditionMonitor {
    private let journal: Journal
    /// Told directly of what concerns the positions alone.
    var positions: PositionMonitor
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

    mutating func accept(_ status: Status, at now: Instant, _ output: HostOutput) {
        positions.accept(status, at: now, output)
        battery.accept(status, output)
        journal.memory.batteryWarning = battery.warning
        let isReported = restarts.accept(status, output)
        journal.memory.bootCount = restarts.bootCount
        faults.accept(status, isReported: isReported, at: now, output)
    }

    /// The newest fix of the collar's current log was stored.
    mutating func noteStored(_ fix: Fix, logID: LogID, at now: Instant, _ output: HostOutput) {
        positions.noteStored(fix, logID: logID, at: now, output)
        battery.accept(newest: fix, output)
        journal.memory.batteryWarning = battery.warning
    }

    /// A frame without a fix came in. If the collar has shown a sequence above all stored ones, that fix is still on its way.
    mutating func noteFrameWithoutFix(_ log: LogSession, _ limits: PositionLimits, at now: Instant, _ output: HostOutput) {
        guard log.delivery.highestSequence <= log.highestStored else { return }
        let isComplete = journal.firstMissing(logID: log.log.logID) > log.highestStored
        positions.noteFrameWithoutFix(isComplete: isComplete, limits, at: now, output)
    }
}

/// Watches the battery of one collar. It reports once that the battery is low, and once that it is almost empty, until the battery was
/// charged: a charge that rises by less is the noise of a measurement.
struct BatteryMonitor {
    /// A charge up to this is low, in percent. The collar saves power from here on (PROTOCOL.md, section 13).
    static let lowPercent: UInt8 = 20
    /// A charge up to this is critical, in percent.
    static let criticalPercent: UInt8 = 10
    /// A charge more than this above the limit ends a warning, in percent. A battery gauge jumps by 1 to 2 percent with load and temperature.
    static let risePercent: UInt8 = 5

    private let deviceID: DeviceID
    private(set) var warning: CollarMemory.BatteryWarning
    /// The time of the last status, by the collar's clock, in milliseconds since 1970; nil if it told none.
    private var statusUnixMilliseconds: Int64?

    /// - Parameter warning: the last warning of an earlier run.
    init(deviceID: DeviceID, warning: CollarMemory.BatteryWarning) {
        self.deviceID = deviceID
        self.warning = warning
    }

    mutating func accept(_ status: Status, _ output: HostOutput) {
        statusUnixMilliseconds = status.clock?.unixMilliseconds
        note(status.batteryPercent, output)
    }

    /// The newest fix of the collar was stored. One that was made before the last status says nothing about the battery now.
    mutating func accept(newest fix: Fix, _ output: HostOutput) {
        if let statusUnixMilliseconds, fix.unixMilliseconds < statusUnixMilliseconds { return }
        note(fix.batteryPercent, output)
    }

    private mutating func note(_ percent: UInt8?, _ output: HostOutput) {
        guard let percent else { return }
        let present = BatteryMonitor.warning(at: percent)
        if present > warning {
            output.report(.collar(deviceID, .battery(present, percent: Int(percent))))
            warning = present
        } else if present < warning {
            // The warning that a charge lower by the rise would have.
            let lower = BatteryMonitor.warning(at: percent > BatteryMonitor.risePercent ? percent - BatteryMonitor.risePercent : 0)
            warning = min(warning, max(present, lower))
        }
    }

    private static func warning(at percent: UInt8) -> CollarMemory.BatteryWarning {
        percent <= criticalPercent ? .critical : percent <= lowPercent ? .low : .none
    }
}

/// Watches the boot count of one collar, and reports each restart once, with its cause.
///
/// The identity that begins a boot counts it. The cause is the last error of the status that follows (PROTOCOL.md, section 13).
struct RestartMonitor {
    /// For how long a restart waits for the status with its cause, in microseconds. A collar sends at most one status a minute.
    static let statusTime: Int64 = 60_000_000

    private let deviceID: DeviceID
    /// The boot count of the last restart that was reported, or of the first identity; 0 before that.
    private(set) var bootCount: UInt32
    private var awaited: (bootCount: UInt32, until: Instant)?

    /// - Parameter bootCount: the boot count that was known at the end of an earlier run; 0 if none was.
    init(deviceID: DeviceID, bootCount: UInt32) {
        self.deviceID = deviceID
        self.bootCount = bootCount
    }

    /// When to call ``advance(to:_:)`` next; nil while no cause is awaited.
    var nextDeadline: Instant? { awaited?.until }

    /// The collar sent its identity.
    /// - Parameter isNewLog: whether the log was not known before. A collar whose memory was erased counts from the start again.
    mutating func accept(_ identity: Identity, isNewLog: Bool, at now: Instant, _ output: HostOutput) {
        let known = awaited?.bootCount ?? bootCount
        if known == 0 || isNewLog && identity.bootCount < known {
            awaited = nil
            bootCount = identity.bootCount
        } else if identity.bootCount > known {
            end(cause: nil, output)
            awaited = (identity.bootCount, now.advanced(byMicroseconds: RestartMonitor.statusTime))
        }
    }

    /// The collar sent its status.
    /// - Returns: whether its last error was reported as the cause of a restart.
    mutating func accept(_ status: Status, _ output: HostOutput) -> Bool {
        guard awaited != nil else { return false }
        // Any other error came after the boot, and hides the cause.
        let isReset = [.lowVoltageReset, .watchdogReset, .firmwareReset].contains(status.lastError)
        end(cause: isReset || status.lastError == .none ? status.lastError : nil, output)
        return isReset
    }

    /// Reports a restart whose cause has not come in time.
    mutating func advance(to now: Instant, _ output: HostOutput) {
        if let awaited, now >= awaited.until { end(cause: nil, output) }
    }

    private mutating func end(cause: CollarFault?, _ output: HostOutput) {
        guard let awaited else { return }
        self.awaited = nil
        bootCount = awaited.bootCount
        output.report(.collar(deviceID, .restarted(cause: cause)))
    }
}

/// Watches the last error in one collar's statuses. It reports an error when a status is the first to have it, and at most
/// one error a minute.
struct FaultMonitor {
    private enum Notice: Hashable, Sendable { case fault }

    private let deviceID: DeviceID
    private var last = CollarFault.none
    private var notices = NoticeLimiter<Notice>()

    init(deviceID: DeviceID) { self.deviceID = deviceID }

    /// The collar sent its status.
    /// - Parameter isReported: whether its last error was already reported.
    mutating func accept(_ status: Status, isReported: Bool, at now: Instant, _ output: HostOutput) {
        guard status.lastError != last else { return }
        last = status.lastError
        guard !isReported else { return }
        // The state of the GNSS receiver already tells its fault.
        let isOfGNSS = last == .gnssSilent || last == .gnssFault
        guard last != .none, !(isOfGNSS && status.gnssState == .fault), notices.isDue(.fault, at: now) else { return }
        output.report(.collar(deviceID, .fault(last)))
    }
}
