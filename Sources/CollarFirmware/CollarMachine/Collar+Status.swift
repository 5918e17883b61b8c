import CollarARQ
import CollarWire

/// The status of a collar, and the frames of its replies.
extension Collar {
    static var statusMicroseconds: Int64 { 60_000_000 }

    /// Milliseconds since the boot; 0 if the caller's clock shows a time before the boot.
    mutating func uptimeMilliseconds(now: Instant) -> Int64 { max(0, now.microseconds(since: bootInstant)) / 1000 }

    /// Whether ``condition`` is known and the queue has room for two replies.
    var isStatusPossible: Bool { condition != nil && replies.room > 1 }

    /// Queues a wanted status if it is possible and a minute has passed since the last status.
    mutating func queueStatusIfDue(now: Instant) {
        guard isStatusWanted, isStatusPossible else { return }
        if let last = lastStatus, now.microseconds(since: last) < Self.statusMicroseconds { return }
        isStatusWanted = false
        lastStatus = now
        reply(.status)
    }

    private static var powerReportMicroseconds: Int64 { 600_000_000 }
    private static var longestWithoutPowerReport: Int64 { 21_600_000_000 }

    /// Queues a power report if it is due and the queue has room for two replies. One that waits already is the one that is due.
    mutating func queuePowerReportIfDue(now: Instant) {
        guard power != nil, replies.room > 1 || replies.contains(.powerReport) else { return }
        let elapsed = now.microseconds(since: lastPowerReport ?? bootInstant)
        guard
            isPowerReportWanted
                ? lastPowerReport == nil || elapsed >= Self.powerReportMicroseconds : elapsed >= Self.longestWithoutPowerReport
        else { return }
        isPowerReportWanted = false
        lastPowerReport = now
        reply(.powerReport)
    }

    @inline(never) mutating func powerReport(now: Instant) -> PowerReport {
        var report = power ?? PowerReport()
        report.uptimeSeconds = UInt32(truncatingIfNeeded: uptimeMilliseconds(now: now) / 1000)
        report.listeningMilliseconds = UInt32(truncatingIfNeeded: delivery.listeningMicroseconds(now: now) / 1000)
        return report
    }

    @inline(never) mutating func status(now: Instant) -> Status {
        var status = Status()
        status.isTracking = isTracking
        status.trackingSinceUnixSeconds = trackingSinceUnixSeconds
        let uptime = uptimeMilliseconds(now: now)
        status.uptimeSeconds = UInt32(truncatingIfNeeded: uptime / 1000)
        status.fixesSent = fixesSentCount
        status.queueDepth = min(delivery.delivered.missingCount(below: nextSequence), 0xFF_FFFF)
        status.drops = dropCount & 0xFF_FFFF
        status.duplicates = repeatedRequestCount & 0xFF_FFFF
        status.retransmissions = delivery.retransmissionCount & 0xFF_FFFF
        status.airtimeMilliseconds = UInt32(truncatingIfNeeded: delivery.airtimeMicroseconds / 1000)
        guard let condition else { return status }
        status.gnssState = condition.gnssState
        status.throttleState = condition.throttleState
        status.isStationary = condition.isStationary
        status.isResting = condition.isResting
        if let percent = condition.batteryPercent, percent <= 100 { status.batteryPercent = percent }
        if let millivolts = condition.batteryMillivolts, millivolts <= 8190 { status.batteryMillivolts = millivolts }
        if let celsius = condition.temperatureCelsius, celsius > -128 { status.temperatureCelsius = celsius }
        status.lastError = lastError(in: condition)
        status.clock = condition.unixMilliseconds(atUptimeMilliseconds: uptime).map {
            Status.Clock(unixMilliseconds: $0, uptimeMilliseconds: UInt16(truncatingIfNeeded: uptime % 1000))
        }
        return status
    }

    @inline(never) mutating func encodeReply(flags: FrameFlags, now: Instant, into output: inout OutputSpan<UInt8>) {
        let address = configuration.address
        do throws(EncodeError) {
            switch replies.removeFirst() {
            case .result(let result): try result.encode(address: address, flags: flags, log: log, into: &output)
            case .settings(let requestID, let keys):
                let report = Settings(
                    direction: .report, requestID: requestID, version: settings.version,
                    entries: settings.entries(keys))
                try report.encode(address: address, flags: flags, log: log, into: &output)
            case .status: try status(now: now).encode(address: address, flags: flags, log: log, into: &output)
            case .powerReport: try powerReport(now: now).encode(address: address, flags: flags, log: log, into: &output)
            case nil: preconditionFailure("every reply that was counted waits")
            }
        } catch { preconditionFailure("a reply fits the smallest frame") }
    }

    /// Whether settings were lost and have not been set since.
    var isSettingsLost: Bool { settingsStore.value(of: .settingsLost) != nil }

    /// The last error in the status of a condition. Lost settings take the place of the cause of the boot: a boot after a low
    /// voltage can be the very one that finds them lost.
    func lastError(in condition: CollarCondition) -> CollarFault {
        let error = condition.lastError
        let isOfBoot = error == .none || error == .lowVoltageReset || error == .watchdogReset || error == .firmwareReset
        return isSettingsLost && isOfBoot ? .settingsLost : error
    }
}

/// The part of the status that only the firmware knows. Values out of range are sent as unknown.
public struct CollarCondition: Equatable, Sendable {
    /// The readings of two clocks at the same moment, with which uptime is converted into the time of day.
    public struct ClockMapping: Equatable, Sendable {
        /// Milliseconds since 1970, within `Fix.timeRange`.
        public var unixMilliseconds: Int64
        /// Milliseconds since the instant of the boot.
        public var uptimeMilliseconds: Int64

        /// Creates a mapping.
        public init(unixMilliseconds: Int64, uptimeMilliseconds: Int64) {
            self.unixMilliseconds = unixMilliseconds
            self.uptimeMilliseconds = uptimeMilliseconds
        }
    }

    /// The state of the GNSS receiver.
    public var gnssState = Status.GNSSState.off
    /// What limits the rate of sending.
    public var throttleState = Status.ThrottleState.none
    /// Whether the collar is stationary, as its settings define it.
    public var isStationary = false
    /// Whether the GNSS receiver is off until the next search of the schedule.
    public var isResting = false
    /// Charge, 0 … 100 percent; nil when unknown.
    public var batteryPercent: UInt8?
    /// Voltage of the battery in millivolts, 0 … 8190; nil when unknown.
    public var batteryMillivolts: UInt16?
    /// Temperature, −127 … 127 °C; nil when unknown.
    public var temperatureCelsius: Int8?
    /// The last error.
    public var lastError = CollarFault.none
    /// The uptime and the time of day at the same moment; nil if the time of day is not known.
    public var clockMapping: ClockMapping?

    /// Creates a condition with the default values.
    public init() {}

    /// The time of day at an uptime, in milliseconds since 1970; nil if it is not known.
    func unixMilliseconds(atUptimeMilliseconds uptime: Int64) -> Int64? {
        guard let clockMapping, Fix.timeRange.contains(clockMapping.unixMilliseconds) else { return nil }
        let time = clockMapping.unixMilliseconds &+ (uptime &- clockMapping.uptimeMilliseconds)
        return Fix.timeRange.contains(time) ? time : nil
    }

    /// Whether a status must tell that the condition is another one than it was: the state of the GNSS receiver, the throttle
    /// or the last error, or the battery has crossed 20 or 10 percent.
    func isWorthAStatus(after old: CollarCondition) -> Bool {
        gnssState != old.gnssState || throttleState != old.throttleState || lastError != old.lastError
            || ThrottlePolicy.Battery(percent: batteryPercent) != ThrottlePolicy.Battery(percent: old.batteryPercent)
    }
}
