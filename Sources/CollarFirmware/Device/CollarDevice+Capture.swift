import CollarARQ
import CollarWire

/// From the readings of the sensors to the log.
extension CollarDevice {
    /// How long the last position of the GNSS receiver counts, in microseconds.
    private static var positionMicroseconds: Int64 { 10_000_000 }

    /// How long a fix that was asked for may take, in microseconds: a receiver that was off has to find its satellites first.
    static var locateMicroseconds: Int64 { 120_000_000 }

    /// When the state of the GNSS receiver changes unless a position comes; nil if it has none.
    var positionLossDeadline: Instant? { lastPosition?.advanced(byMicroseconds: Self.positionMicroseconds) }

    /// A position from the GNSS receiver, quantised; its time is UTC. The sequence is ignored, and the charge is that of the last
    /// battery reading.
    ///
    /// It is logged if the interval between two fixes has passed, and in any case if a fix was asked for.
    /// - Returns: the sequence of the fix; nil if it was not logged.
    @discardableResult
    public mutating func fixMade(_ fix: Fix, now: Instant) throws(FixLogError) -> UInt32? {
        guard isGNSSWanted else { return nil }
        lastPosition = now
        isGNSSFaulty = false
        updateGNSSState(now: now)
        let uptime = now.microseconds(since: bootInstant) / 1000
        condition.clockMapping = .init(unixMilliseconds: fix.unixMilliseconds, uptimeMilliseconds: uptime)
        motion.note(
            fix, distanceCentimeters: collar.settings[.stationaryDistanceCentimeters],
            seconds: collar.settings[.stationarySeconds])
        let policy = updatePolicy()
        let isDue = collar.isTracking
            && capture.isDue(unixMilliseconds: fix.unixMilliseconds, intervalMilliseconds: policy.captureIntervalMilliseconds)
        guard isDue || locating != nil else { return nil }
        var fix = fix
        fix.batteryPercent = battery.percent
        let sequence: UInt32
        do throws(FixLogError) { sequence = try collar.log(fix) } catch {
            if case .flash(let cause) = error { _ = failed(cause, now: now) }
            throw error
        }
        capture.made(unixMilliseconds: fix.unixMilliseconds)
        if locating != nil {
            collar.newestIsUrgent()
            do throws(FlashError) { try finishLocating(.ok, now: now) } catch { throw .flash(error) }
        }
        return sequence
    }

    /// Notes that the GNSS receiver does not answer, or reports a fault, until the next position.
    public mutating func gnssFailed(_ fault: CollarFault, now: Instant) {
        isGNSSFaulty = true
        lastPosition = nil
        fail(fault, signal: .error, now: now)
        updateGNSSState(now: now)
    }

    /// Notes that the GNSS receiver answers again.
    public mutating func gnssAnswered(now: Instant) {
        isGNSSFaulty = false
        updateGNSSState(now: now)
    }

    /// Notes the state of the battery, and the temperature.
    public mutating func batteryRead(_ reading: BatteryReading, now: Instant) {
        battery = reading
        condition.batteryPercent = reading.percent
        condition.batteryMillivolts = reading.millivolts
        condition.temperatureCelsius = reading.celsius
        updatePolicy()
        let state = ThrottlePolicy.Battery(percent: reading.percent)
        if state < warnedBattery { signals.play(.warning, now: now) }
        // A charge that varies around a limit gives one warning.
        if state < warnedBattery || (reading.percent ?? 0) > 25 { warnedBattery = state }
    }

    /// Applies what the battery, the motion and the settings allow.
    @discardableResult
    mutating func updatePolicy() -> ThrottlePolicy {
        condition.isStationary = motion.isStationary
        let policy = ThrottlePolicy(
            battery: ThrottlePolicy.Battery(percent: battery.percent), isStationary: motion.isStationary,
            settings: collar.settings)
        collar.setLiveInterval(milliseconds: policy.liveIntervalMilliseconds)
        return policy
    }

    /// How long a frame that had to wait for the duty cycle shows in the throttle state, in microseconds.
    private static var airtimeWaitMicroseconds: Int64 { 60_000_000 }

    mutating func updateThrottleState(now: Instant) {
        let isAirtimeUsedUp =
            collar.lastAirtimeWait.map { now.microseconds(since: $0) < Self.airtimeWaitMicroseconds } ?? false
        condition.throttleState =
            isAirtimeUsedUp ? .dutyCycle : ThrottlePolicy.Battery(percent: battery.percent).throttleState
    }

    mutating func updateGNSSState(now: Instant) {
        if let deadline = positionLossDeadline, now >= deadline || !isGNSSWanted { lastPosition = nil }
        condition.gnssState =
            !isGNSSWanted ? .off : isGNSSFaulty ? .fault : lastPosition != nil ? .fix : .searching
    }
}
