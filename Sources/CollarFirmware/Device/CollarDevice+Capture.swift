import CollarARQ
import CollarWire

/// From the readings of the sensors to the log.
extension CollarDevice {
    /// How long a fix that was asked for may take, in microseconds: a receiver that was off has to find its satellites first.
    static var locateMicroseconds: Int64 { 120_000_000 }

    /// The time between the readings of the GNSS receiver that the collar wants, in milliseconds, 100 … 10,000: a second, or longer
    /// if the battery is low.
    public var readingIntervalMilliseconds: UInt16 {
        mutating get {
            let (usual, longest) = (1000 as UInt32, 10_000 as UInt32)
            guard locating == nil, let interval = policy.captureIntervalMilliseconds else { return UInt16(usual) }
            // Of a longer interval, the receiver gets an equal part.
            return UInt16(truncatingIfNeeded: interval / ((interval + longest - 1) / longest))
        }
    }

    /// A reading of the GNSS receiver, whose time is UTC; see ``fixMade(_:now:)``.
    /// - Throws: ``FixLogError``, also if time, latitude or longitude is out of range.
    @discardableResult
    public mutating func gnssRead(_ reading: GNSSReading, now: Instant) throws(FixLogError) -> UInt32? {
        quantizer.coarsestPositionStep =
            PositionStep(rawValue: UInt8(truncatingIfNeeded: collar.settings[.positionDigits] &- 5)) ?? .e5
        quantizer.altitudeStep = collar.settings[.altitudeDigits] == 0 ? .meter : .decimeter
        let fix: Fix
        do throws(EncodeError) { fix = try quantizer.fix(from: reading) } catch { throw .encoding(error) }
        return try fixMade(fix, now: now)
    }

    /// A position from the GNSS receiver, quantised; its time is UTC. The sequence is ignored, and the charge is that of the last
    /// battery reading.
    ///
    /// It is logged if the interval between two fixes has passed, and in any case if a fix was asked for.
    /// - Returns: the sequence of the fix; nil if it was not logged.
    @discardableResult
    public mutating func fixMade(_ fix: Fix, now: Instant) throws(FixLogError) -> UInt32? {
        guard isGNSSWanted else { return nil }
        receiverState = .fix
        updateGNSSState()
        let uptime = now.microseconds(since: bootInstant) / 1000
        condition.clockMapping = .init(unixMilliseconds: fix.unixMilliseconds, uptimeMilliseconds: uptime)
        motion.note(
            fix, distanceCentimeters: collar.settings[.stationaryDistanceCentimeters],
            seconds: collar.settings[.stationarySeconds])
        updatePolicy()
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

    /// Notes the state of the GNSS receiver. While the device does not want the receiver, it is ignored.
    /// - Parameters:
    ///   - state: the state of the receiver.
    ///   - fault: the fault of the receiver; nil if it has none.
    ///   - now: the present time.
    public mutating func gnssChanged(to state: Status.GNSSState, fault: CollarFault?, now: Instant) {
        guard isGNSSWanted else { return }
        receiverState = state == .off ? .searching : state
        updateGNSSState()
        if let fault, fault != receiverFault { fail(fault, signal: .error, now: now) }
        receiverFault = fault
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

    /// The intervals that the battery, the motion and the settings allow.
    var policy: ThrottlePolicy {
        mutating get {
            ThrottlePolicy(
                battery: ThrottlePolicy.Battery(percent: battery.percent), isStationary: motion.isStationary,
                settings: collar.settings)
        }
    }

    /// Applies ``policy``.
    mutating func updatePolicy() {
        condition.isStationary = motion.isStationary
        collar.setLiveInterval(milliseconds: policy.liveIntervalMilliseconds)
    }

    /// How long a frame that had to wait for the duty cycle shows in the throttle state, in microseconds.
    private static var airtimeWaitMicroseconds: Int64 { 60_000_000 }

    mutating func updateThrottleState(now: Instant) {
        let isAirtimeUsedUp =
            collar.lastAirtimeWait.map { now.microseconds(since: $0) < Self.airtimeWaitMicroseconds } ?? false
        condition.throttleState =
            isAirtimeUsedUp ? .dutyCycle : ThrottlePolicy.Battery(percent: battery.percent).throttleState
    }

    mutating func updateGNSSState() {
        if !isGNSSWanted { (receiverState, receiverFault) = (.searching, nil) }
        condition.gnssState = isGNSSWanted ? receiverState : .off
    }
}
