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
    var capture = CaptureSchedule()
    var quantizer = FixQuantizer()
    /// The state of the GNSS receiver while it is wanted.
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
            try Collar.Boot(mounting: flash, configuration, randomLogID: randomLogID), configuration, cause: cause, now: now)
    }

    /// Starts a collar whose boot is counted.
    @inline(never) init(_ boot: Collar<Flash>.Boot, _ configuration: Collar<Flash>.Configuration, cause: ResetCause, now: Instant) {
        var configuration = configuration
        configuration.isPoweredOn = cause == .powerOn
        collar = Collar(boot, configuration: configuration, now: now)
        bootInstant = now
        updateGNSSState()
        collar.condition = condition
        fail(cause.fault, signal: nil, now: now)
        updatePolicy()
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

    /// Whether the GNSS receiver is to be on: while positions are logged, and until a fix that was asked for is made.
    public var isGNSSWanted: Bool { collar.isTracking || locating != nil }

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
        let others: InlineArray<4, Instant?> = [
            signals.nextDeadline(now: now), button.nextDeadline, locating?.deadline, resetDeadline,
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
    }

    /// Writes the next frame to send, if one is due; see ``Collar/nextFrame(now:into:)``.
    @inline(never) public mutating func nextFrame(now: Instant, into output: inout OutputSpan<UInt8>) throws(FlashError) -> Bool {
        updateThrottleState(now: now)
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
}
