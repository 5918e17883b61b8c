import CollarARQ
import CollarWire

/// A whole collar as a state machine: readings of the GNSS receiver, the battery and the button go in, and received frames;
/// frames to send come out, and what the board has to do.
///
/// It decides what is logged and how often it is sent, and obeys the host and the button. ``CollarProgram`` connects it to a
/// board. After every input, call ``nextFrame(now:into:)`` and look at ``isGNSSWanted``, ``readingIntervalMilliseconds``,
/// ``indication(now:)`` and ``isResetDue(now:)``.
///
/// A failure of the flash is reported in the status. The method that met it also throws it; the device remains usable.
public struct CollarDevice<Flash: FlashDevice> {
    /// A fix that was asked for and has not been made yet.
    struct Locating {
        /// The request of the host that asked; nil if the button did.
        let requestID: UInt16?
        /// When it has failed.
        let deadline: Instant
    }

    /// The log and the radio protocol.
    public internal(set) var collar: Collar<Flash>
    /// The condition that a status reports.
    var condition = CollarCondition() {
        didSet { if condition != oldValue { collar.condition = condition } }
    }
    let bootInstant: Instant
    var battery = BatteryReading()
    /// The state of the battery that the last warning was about.
    var warnedBattery = ThrottlePolicy.Battery.good
    var motion = MotionDetector()
    /// When the accelerometer last said that the collar moves; nil if the board has none.
    var lastMotion: Instant?
    var receiver = ReceiverSupply()
    /// When the command *find* ends; nil if it is not in force.
    var findEnd: Instant?
    /// Time in which the processor was awake, in microseconds.
    var awakeMicroseconds: Int64 = 0
    var capture = CaptureSchedule()
    var quantizer = FixQuantizer()
    /// The state of the GNSS receiver while the device needs it.
    var receiverState = Status.GNSSState.searching
    /// The fault of the GNSS receiver; nil if it has none.
    var receiverFault: CollarFault?
    var button = ButtonDecoder()
    var signals = SignalPlayer()
    var locating: Locating?
    /// When the collar resets at the latest, because it was told to; nil if it was not.
    var resetDeadline: Instant?
    private var isRadioFaulty = false

    /// Starts a collar.
    /// - Parameters:
    ///   - configuration: the identity of the collar. Whether the start is a power-on follows from `cause`.
    ///   - flash: the flash.
    ///   - cause: why the collar starts.
    ///   - randomLogID: the id of a new log; its low 26 bits count.
    ///   - now: the time.
    /// - Throws: ``FlashError``; nothing may be sent then, and the start must be tried again.
    public init(
        starting configuration: Collar<Flash>.Configuration, flash: Flash, cause: ResetCause, randomLogID: UInt32, now: Instant
    ) throws(FlashError) {
        self.init(
            try Collar.Boot(mounting: flash, configuration, randomLogID: randomLogID), configuration, cause: cause,
            sensesChannel: configuration.delivery.sensesChannel, now: now)
    }

    /// Starts a collar whose boot is counted.
    @inline(never) init(
        _ boot: Collar<Flash>.Boot, _ configuration: Collar<Flash>.Configuration, cause: ResetCause, sensesChannel: Bool, now: Instant
    ) {
        var configuration = configuration
        configuration.delivery.sensesChannel = sensesChannel
        configuration.isPoweredOn = cause == .powerOn
        collar = Collar(boot, configuration: configuration, now: now)
        bootInstant = now
        updateSchedule(now: now)
        collar.condition = condition
        fail(cause.fault, signal: nil, now: now)
        updatePolicy(now: now)
        signals.play(collar.isTracking ? .start : .stop, now: now)
    }

    /// Starts again on the same flash, in place of a reset of the microcontroller. What is not in the flash is forgotten.
    public mutating func restart(randomLogID: UInt32, now: Instant) throws(FlashError) {
        self = try CollarDevice(
            starting: collar.configuration, flash: collar.flash, cause: .program, randomLogID: randomLogID, now: now)
    }

    /// See ``Collar/newestFix()``.
    public mutating func newestFix() throws(FlashError) -> Fix? {
        do throws(FlashError) { return try collar.newestFix() } catch { throw failed(error, now: bootInstant) }
    }

    /// The signal that the collar gave last, and when it began; nil if it has given none.
    public var newestSignal: (signal: Signal, start: Instant)? { signals.newest }

    /// Whether a fix was asked for and has not been made.
    public var isFixAwaited: Bool { locating != nil }

    /// Whether positions are needed: while they are logged, while *find* is in force, and until a fix that was asked for is made.
    public var isGNSSWanted: Bool { collar.isTracking || findEnd != nil || locating != nil }

    /// The supply that the GNSS receiver is to get now.
    public var gnssSupply: GNSSSupply { receiver.supply }

    /// Whether the GNSS receiver is to save power between positions, if the board wants that.
    public var savesReceiverPower: Bool { findEnd == nil }

    /// Whether the board is to reset the microcontroller now.
    public func isResetDue(now: Instant) -> Bool {
        guard let resetDeadline else { return false }
        return now >= resetDeadline || !collar.isReplyWaiting
    }

    /// Whether the light and the sounder are on.
    public mutating func indication(now: Instant) -> Indication {
        let isOn = signals.isOn(now: now)
        return Indication(isLit: isOn, isSounding: isOn)
    }

    /// When to call ``deadlineReached(now:)`` again if nothing else happens; nil for never. While a frame is on the air, the
    /// deadlines of the radio protocol do not count.
    @inline(never) public mutating func nextDeadline(now: Instant, isSending: Bool) -> Instant? {
        var deadline = isSending ? nil : collar.nextDeadline
        let others: InlineArray<6, Instant?> = [
            signals.nextDeadline(now: now), button.nextDeadline, locating?.deadline, resetDeadline, receiver.nextDeadline, findEnd,
        ]
        for index in others.indices {
            guard let other = others[index] else { continue }
            deadline = min(deadline ?? other, other)
        }
        return deadline
    }

    /// Does everything that time alone causes.
    public mutating func deadlineReached(now: Instant) throws(FlashError) {
        if let press = button.update(isPressed: button.isPressed, now: now) { try obey(press, now: now) }
        if let locating, now >= locating.deadline { try finishLocating(.timeout, now: now) }
        if let findEnd, now >= findEnd { find(until: nil, now: now) }
        updateSchedule(now: now)
    }

    /// Until when the radio must receive; nil if it need not. A packet that has begun by then is received to its end.
    public func listeningEnd(now: Instant) -> Instant? { collar.listeningEnd(now: now) }

    /// Until when the radio must look for packets of others on its channel, before the next frame; nil if it need not.
    public var senseEnd: Instant? { collar.senseEnd }

    /// Notes that the radio has noticed a packet of another radio in the time of ``senseEnd``.
    public mutating func channelIsBusy(now: Instant) { collar.channelIsBusy(now: now) }

    /// Notes that the processor was awake for this long.
    public mutating func wasAwake(microseconds: Int64) { awakeMicroseconds &+= microseconds }

    /// Writes the next frame to send, if one is due; see ``Collar/nextFrame(now:into:)``.
    @inline(never) public mutating func nextFrame(now: Instant, into output: inout OutputSpan<UInt8>) throws(FlashError) -> Bool {
        updateThrottleState(now: now)
        collar.power = powerReport(now: now)
        do throws(FlashError) { return try collar.nextFrame(now: now, into: &output) } catch { throw failed(error, now: now) }
    }

    /// Notes that the frame of ``nextFrame(now:into:)`` has been sent, or that the radio could not send it.
    public mutating func frameSent(now: Instant) { collar.frameSent(now: now) }

    /// Notes whether the radio works.
    public mutating func radioChanged(isFaulty: Bool, now: Instant) {
        if isFaulty, !isRadioFaulty { fail(.radioFailed, signal: .error, now: now) }
        isRadioFaulty = isFaulty
    }

    /// Notes an error for the status, and tells the people near the collar.
    mutating func fail(_ fault: CollarFault, signal: Signal?, now: Instant) {
        guard fault != .none else { return }
        condition.lastError = fault
        if let signal { signals.play(signal, now: now) }
    }

    /// Notes a failure of the flash.
    /// - Returns: the failure.
    mutating func failed(_ error: FlashError, now: Instant) -> FlashError {
        if condition.lastError != .flashFailed { fail(.flashFailed, signal: .error, now: now) }
        return error
    }

    // MARK: From the readings of the sensors to the log

    /// How long a fix that was asked for may take, in microseconds: a receiver that was off has to find its satellites first.
    static var locateMicroseconds: Int64 { 120_000_000 }

    /// The time between the readings of the GNSS receiver that the collar wants, in milliseconds, 100 … 10,000: a second, or longer
    /// if the battery is low.
    public var readingIntervalMilliseconds: UInt16 {
        mutating get {
            let (usual, longest) = (1000 as UInt32, 10_000 as UInt32)
            guard locating == nil, let interval = captureIntervalMilliseconds, receiver.isTracking else { return UInt16(usual) }
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
    /// It is logged if the schedule wants it and the interval between two fixes has passed, and in any case if a fix was asked for.
    /// - Returns: the sequence of the fix; nil if it was not logged.
    @discardableResult
    public mutating func fixMade(_ fix: Fix, now: Instant) throws(FixLogError) -> UInt32? {
        guard isGNSSWanted else { return nil }
        receiverState = .fix
        let chosen = receiver.accept(fix, now: now)
        updateGNSSState()
        let uptime = now.microseconds(since: bootInstant) / 1000
        condition.clockMapping = .init(unixMilliseconds: fix.unixMilliseconds, uptimeMilliseconds: uptime)
        guard let chosen else { return nil }
        return try log(chosen, now: now)
    }

    /// Logs a fix that the schedule has chosen, if the interval between two fixes has passed or the fix was asked for.
    mutating func log(_ fix: Fix, now: Instant) throws(FixLogError) -> UInt32? {
        motion.note(
            fix, distanceCentimeters: collar.settings[.stationaryDistanceCentimeters],
            seconds: collar.settings[.stationarySeconds], isSparse: receiver.isSparse)
        updatePolicy(now: now)
        let isDue = collar.isTracking || findEnd != nil
        guard
            isDue && capture.isDue(unixMilliseconds: fix.unixMilliseconds, intervalMilliseconds: captureIntervalMilliseconds)
                || locating != nil
        else { return nil }
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
        guard isGNSSWanted, receiver.supply == .on else { return }
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
        updatePolicy(now: now)
        let state = ThrottlePolicy.Battery(percent: reading.percent)
        if state < warnedBattery { signals.play(.warning, now: now) }
        // A charge that varies around a limit gives one warning.
        if state < warnedBattery || (reading.percent ?? 0) > 25 { warnedBattery = state }
    }

    /// The intervals that the battery, the motion and the settings allow.
    var policy: ThrottlePolicy {
        mutating get {
            ThrottlePolicy(
                battery: ThrottlePolicy.Battery(percent: battery.percent), isStationary: condition.isStationary,
                settings: collar.settings)
        }
    }

    mutating func updatePolicy(now: Instant) {
        condition.isStationary = isStationary(now: now)
        collar.setLiveInterval(milliseconds: findEnd != nil ? 0 : policy.liveIntervalMilliseconds)
        updateSchedule(now: now)
    }

    /// How long a frame that had to wait for the duty cycle shows in the throttle state, in microseconds.
    private static var airtimeWaitMicroseconds: Int64 { 60_000_000 }

    mutating func updateThrottleState(now: Instant) {
        let isAirtimeUsedUp =
            collar.delivery.lastAirtimeWait.map { now.microseconds(since: $0) < Self.airtimeWaitMicroseconds } ?? false
        condition.throttleState = isAirtimeUsedUp ? .dutyCycle : ThrottlePolicy.Battery(percent: battery.percent).throttleState
    }


    // MARK: Requests of the host and presses of the button

    /// How long a reset waits for the replies to be sent, in microseconds.
    private static var resetMicroseconds: Int64 { 10_000_000 }

    /// Receives one bare frame from the radio, and carries out what it asks for.
    /// - Returns: what the frame was. The caller gives a ``Collar/Reception/message(_:)`` to the application, and then calls
    ///   ``finish(requestID:outcome:now:)``. It has nothing to do for other results.
    public mutating func receive(_ frame: Span<UInt8>, now: Instant) throws(FlashError) -> Collar<Flash>.Reception {
        do throws(FlashError) {
            let reception = try collar.receive(frame, now: now)
            switch reception {
            case .command(let requestID, let action): try carryOut(action, requestID: requestID, now: now)
            case .settingsChanged: updatePolicy(now: now)
            default: break
            }
            return reception
        } catch { throw failed(error, now: now) }
    }

    /// Notes the outcome of a message that the application was given.
    public mutating func finish(requestID: UInt16, outcome: CommandResult.Outcome, now: Instant) throws(FlashError) {
        do throws(FlashError) { try collar.finish(requestID: requestID, outcome: outcome) } catch { throw failed(error, now: now) }
    }

    /// Logs a message of the application.
    /// - Returns: the sequence of the message.
    public mutating func log(_ message: ApplicationMessage, now: Instant) throws(FixLogError) -> UInt32 {
        do throws(FixLogError) { return try collar.log(message) } catch {
            if case .flash(let cause) = error { _ = failed(cause, now: now) }
            throw error
        }
    }

    /// Receives one bare frame from the cable; see ``Collar/receiveFromCable(_:randomKey:now:)``. A new key makes a reset due.
    /// - Returns: whether an answer waits.
    public mutating func receiveFromCable(_ frame: Span<UInt8>, randomKey: CollarKey, now: Instant) throws(FlashError) -> Bool {
        do throws(FlashError) {
            switch try collar.receiveFromCable(frame, randomKey: randomKey, now: now) {
            case .ignored: return false
            case .answered: return true
            case .keyChanged:
                resetDeadline = now
                return false
            }
        } catch {
            // The key may be stored, so the collar must start again.
            resetDeadline = now
            throw failed(error, now: now)
        }
    }

    /// Writes the next frame for the cable, if one is due.
    public mutating func nextCableFrame(into output: inout OutputSpan<UInt8>, now: Instant) throws(FlashError) -> Bool {
        do throws(FlashError) { return try collar.nextCableFrame(into: &output) } catch { throw failed(error, now: now) }
    }

    /// Notes whether the button is pressed.
    public mutating func buttonRead(isPressed: Bool, now: Instant) throws(FlashError) {
        if let press = button.update(isPressed: isPressed, now: now) { try obey(press, now: now) }
    }

    mutating func obey(_ press: ButtonDecoder.Press, now: Instant) throws(FlashError) {
        switch press {
        case .short: locate(nil, now: now)
        case .double:
            collar.openPairingWindow(now: now)
            signals.play(.success, now: now)
        case .long:
            do throws(FlashError) { try collar.setTracking(!collar.isTracking, now: now) } catch { throw failed(error, now: now) }
            try trackingChanged(now: now)
        }
    }

    private mutating func carryOut(_ action: Command.Action, requestID: UInt16, now: Instant) throws(FlashError) {
        switch action {
        case .locateNow:
            if locating?.requestID != nil {
                try collar.finish(requestID: requestID, outcome: .busy)
            } else {
                locate(requestID, now: now)
            }
        case .sound(let milliseconds):
            signals.sound(milliseconds: milliseconds, now: now)
            try collar.finish(requestID: requestID, outcome: .ok)
        case .startTracking, .stopTracking: try trackingChanged(now: now)
        case .find(let seconds):
            find(until: seconds > 0 ? now.advanced(byMicroseconds: Int64(widening: UInt32(seconds)) * 1_000_000) : nil, now: now)
        case .reportPower: break
        case .reboot: resetDeadline = now.advanced(byMicroseconds: Self.resetMicroseconds)
        case .pair, .unpair: signals.play(.success, now: now)
        }
    }

    private mutating func trackingChanged(now: Instant) throws(FlashError) {
        if !collar.isTracking {
            findEnd = nil
            try finishLocating(.failed, now: now)
        }
        updatePolicy(now: now)
        signals.play(collar.isTracking ? .start : .stop, now: now)
    }

    private mutating func locate(_ requestID: UInt16?, now: Instant) {
        locating = Locating(
            requestID: requestID ?? locating?.requestID, deadline: now.advanced(byMicroseconds: Self.locateMicroseconds))
        updateSchedule(now: now)
    }

    /// Puts *find* in force until a time, or ends it.
    private mutating func find(until end: Instant?, now: Instant) {
        findEnd = end
        updatePolicy(now: now)
    }

    mutating func finishLocating(_ outcome: CommandResult.Outcome, now: Instant) throws(FlashError) {
        guard let finished = locating else { return }
        locating = nil
        updateSchedule(now: now)
        if outcome == .ok, finished.requestID == nil { signals.play(.success, now: now) }
        if outcome == .timeout { signals.play(.error, now: now) }
        guard let requestID = finished.requestID else { return }
        do throws(FlashError) { try collar.finish(requestID: requestID, outcome: outcome) } catch { throw failed(error, now: now) }
    }
}
