import CollarARQ
import CollarWire

/// When a collar makes fixes, and what it tells of that.
extension CollarDevice {
    /// An accelerometer that has not moved for this long is at rest, in microseconds.
    private static var restMicroseconds: Int64 { 300_000_000 }
    /// After this many searches without a position in a row, the status says that there is none.
    private static var noSkyFailureCount: UInt8 { 3 }

    /// Whether the GNSS receiver searches for a fix of the schedule.
    public var isSearching: Bool { receiver.reported == .searching }

    /// Notes whether the accelerometer says that the collar moves; nil if the board has none. A collar at rest that moves makes a fix
    /// at once.
    public mutating func motionRead(isMoving: Bool?, now: Instant) {
        guard let isMoving else { return }
        let wasAtRest = lastMotion != nil && isStationary(now: now)
        if isMoving || lastMotion == nil { lastMotion = now }
        guard isMoving, wasAtRest else { return }
        receiver.endWait()
        updatePolicy(now: now)
    }

    /// Notes how many satellites the GNSS receiver hears.
    public mutating func satellitesHeard(count: UInt8, now: Instant) {
        receiver.heard(satelliteCount: count)
        updateSchedule(now: now)
    }

    /// Notes that the GNSS receiver works although its supply is off.
    public mutating func gnssIgnoresSupply(now: Instant) {
        if condition.lastError != .gnssNotSwitched { fail(.gnssNotSwitched, signal: nil, now: now) }
    }

    func isStationary(now: Instant) -> Bool {
        lastMotion.map { now.microseconds(since: $0) >= Self.restMicroseconds } ?? motion.isStationary
    }

    /// The intervals between fixes and the limits of a search that are in force now.
    private func schedule(now: Instant) -> FixSchedule {
        FixSchedule(
            battery: ThrottlePolicy.Battery(percent: battery.percent), isStationary: isStationary(now: now),
            hasAccelerometer: lastMotion != nil, settings: collar.settings)
    }

    private func demand(now: Instant) -> ReceiverSupply.Demand {
        guard isGNSSWanted else { return .none }
        let schedule = schedule(now: now)
        return locating != nil || findEnd != nil || schedule.intervalMicroseconds == 0 ? .continuous : .scheduled(schedule)
    }

    /// Puts the schedule in force, and does what is due.
    @inline(never) mutating func updateSchedule(now: Instant) {
        receiver.demand(demand(now: now))
        collar.paceChanged(isFinding: findEnd != nil, isAtRest: isStationary(now: now), now: now)
        // A fix that cannot be logged is reported by the failure of the flash that it meets.
        if let fix = receiver.advance(to: now) { _ = try? log(fix, now: now) }
        updateGNSSState()
    }

    /// The shortest time between two fixes that are logged, in milliseconds; nil if every one that the schedule chooses is.
    var captureIntervalMilliseconds: UInt32? {
        mutating get {
            guard findEnd == nil else { return nil }
            if case .scheduled(let schedule) = receiver.demand {
                return receiver.isTracking ? UInt32(truncatingIfNeeded: schedule.intervalMicroseconds / 1000) : nil
            }
            return policy.captureIntervalMilliseconds
        }
    }

    mutating func updateGNSSState() {
        if !isGNSSWanted { (receiverState, receiverFault) = (.searching, nil) }
        condition.isResting = isGNSSWanted && receiver.supply != .on
        guard isGNSSWanted else {
            condition.gnssState = .off
            return
        }
        guard case .scheduled = receiver.demand, receiverState != .fault else {
            condition.gnssState = receiverState
            return
        }
        // A search that has not ended, or one that failed, is no news.
        if receiverState == .fix || receiver.failuresInRow == 0 && receiver.timeToFixMicroseconds != nil {
            condition.gnssState = .fix
        } else if receiver.failuresInRow >= Self.noSkyFailureCount || condition.gnssState == .off
            || condition.gnssState == .fault && receiver.supply != .on
        {
            condition.gnssState = .searching
        }
    }

    private var mode: PowerReport.Mode {
        guard isGNSSWanted else { return .stopped }
        if findEnd != nil { return .find }
        guard case .scheduled = receiver.demand, !receiver.isTracking else { return .continuous }
        if receiver.failuresInRow >= Self.noSkyFailureCount { return .noSky }
        return condition.isStationary ? .resting : .moving
    }

    /// How the collar spends its battery; without the uptime and the time in which its radio listened.
    public func powerReport(now: Instant) -> PowerReport {
        var report = PowerReport()
        report.mode = mode
        report.supply = receiver.reported
        if receiver.supply == .on {
            report.secondsToSearch = 0
        } else if let next = receiver.nextSearch {
            report.secondsToSearch = UInt32(truncatingIfNeeded: min(max(0, next.microseconds(since: now) / 1_000_000), 0xFF_FFFE))
        }
        report.failuresInRow = receiver.failuresInRow
        report.timeToFixTenths = receiver.timeToFixMicroseconds.map { UInt16(truncatingIfNeeded: min($0 / 100_000, 0xFFFE)) }
        report.gnssSeconds = UInt32(truncatingIfNeeded: receiver.onMicroseconds(now: now) / 1_000_000)
        report.awakeMilliseconds = UInt32(truncatingIfNeeded: awakeMicroseconds / 1000)
        report.searches = receiver.searchCount & 0xFF_FFFF
        report.failures = receiver.failureCount & 0xFF_FFFF
        return report
    }
}
