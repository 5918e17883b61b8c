import CollarARQ
import CollarWire

/// A GNSS receiver at a serial line: finds out what it speaks, configures it, and turns its bytes into readings.
///
/// Bytes and the time go in; readings and commands come out. After each input, call ``nextCommand(now:into:)`` until it returns
/// false, and call ``deadlineReached(now:)`` at ``nextDeadline``. The serial line has the speed with which the receiver starts; it
/// is not changed.
///
/// A u-blox receiver is configured by keys (generation 9 and later) or, if it refuses that, by the older messages: interval,
/// dynamic model, saving of power, NAV-PVT, the state of the antenna and the satellites on, NMEA off. Each message is repeated until
/// the receiver answers. A receiver that does not answer but sends NMEA is used as it is, and asked again every minute. A receiver that
/// restarts has forgotten its configuration, so it is configured again when it sends NMEA again, or when it no longer sends
/// anything.
public struct GNSSReceiver<Dialect: GNSSDialect>: Sendable {
    /// How the receiver is to work.
    public private(set) var settings: GNSSSettings
    /// The activity of the receiver: off, searching, making fixes, or not answering.
    public private(set) var state = Status.GNSSState.off
    var dialect = Dialect()
    var phase = GNSSPhase.off
    /// When the receiver last said something, or was switched on.
    var lastEvent = Instant(microseconds: 0)
    var lastByte = Instant(microseconds: 0)
    private var lastReadingTime = Int64.min
    private var isSilent = false
    /// The number of satellites that the receiver has last said that it hears since it was switched on; nil if it has not.
    public private(set) var satelliteCount: UInt8?
    /// Whether the receiver refused a part of the last configuration that came to an end.
    private var hasRefused = false
    /// Whether the receiver says that its antenna is short-circuited or open.
    private var isAntennaFaulty = false
    /// Whether the receiver belongs to generation 9 or a later one, as far as is known.
    var isByKeys = true

    /// Creates a receiver that is switched off.
    public init(settings: GNSSSettings) { self.settings = settings }

    /// The fault of the receiver: `CollarFault.gnssSilent` if it has not said anything valid for three intervals and seven
    /// seconds, `CollarFault.gnssFault` if it refuses a part of its configuration or says that its antenna is short-circuited or
    /// open; nil if there is none. It lasts over a pause of the receiver, until the receiver says otherwise.
    public var fault: CollarFault? { isSilent ? .gnssSilent : hasRefused || isAntennaFaulty ? .gnssFault : nil }

    /// Whether the receiver needs its supply. A board that can switch the supply switches it so; on any other board the receiver
    /// gets a message that switches it off.
    public var isPowered: Bool { if case .off = phase { false } else { true } }

    /// Switches the receiver on. Without effect if it is on.
    public mutating func switchOn(now: Instant) {
        guard !phase.isWorking else { return }
        dialect = Dialect()
        lastEvent = now
        lastByte = now
        state = .searching
        satelliteCount = nil
        configure(now: now)
    }

    /// Switches the receiver off: it makes no readings any more.
    /// - Parameter isPause: whether it will be switched on for the next position. Without a pause its fault is forgotten.
    public mutating func switchOff(isPause: Bool = false) {
        if !isPause { (isSilent, hasRefused, isAntennaFaulty) = (false, false, false) }
        guard isPowered else { return }
        phase = Dialect.takesConfiguration ? .stopping : .off
        state = .off
        satelliteCount = nil
    }

    /// Changes the settings, and configures the receiver again if it is on.
    public mutating func change(to settings: GNSSSettings, now: Instant) {
        guard settings != self.settings else { return }
        self.settings = settings
        if phase.isWorking { configure(now: now) }
    }

    /// Receives one byte of the receiver.
    /// - Returns: the reading that is complete with this byte; nil if there is none.
    public mutating func receive(_ byte: UInt8, now: Instant) -> GNSSReading? {
        guard state != .off else { return nil }
        lastByte = now
        dialect.append(byte)
        var reading: GNSSReading?
        // At most one of the events of a byte is a position, as two do not fit the parser.
        while let event = dialect.next() { reading = accept(event, now: now) ?? reading }
        return reading
    }

    /// When to call ``deadlineReached(now:)`` if nothing else happens; nil if the receiver is off.
    public var nextDeadline: Instant? {
        guard state != .off else { return nil }
        var next = isSilent ? nil : lastEvent.advanced(byMicroseconds: faultMicroseconds)
        if let configurationDeadline { next = next.map { min($0, configurationDeadline) } ?? configurationDeadline }
        if dialect.isMomentOpen { next = next.map { min($0, quietDeadline) } ?? quietDeadline }
        return next
    }

    /// Acts on the time.
    /// - Returns: the reading that is complete because the receiver has been quiet after it; nil if there is none.
    public mutating func deadlineReached(now: Instant) -> GNSSReading? {
        guard state != .off else { return nil }
        var reading: GNSSReading?
        if dialect.isMomentOpen, now >= quietDeadline, let event = dialect.endMoment() { reading = accept(event, now: now) }
        if now >= lastEvent.advanced(byMicroseconds: silenceMicroseconds) { state = .searching }
        if now >= lastEvent.advanced(byMicroseconds: faultMicroseconds) {
            isSilent = true
            state = .fault
        }
        checkConfiguration(now: now)
        return reading
    }

    /// The sentences of one fix follow each other with shorter pauses.
    private var quietDeadline: Instant { lastByte.advanced(byMicroseconds: 100_000) }

    /// The longest time between two positions of a receiver that works.
    var silenceMicroseconds: Int64 { 2_000_000 &+ 3000 &* Int64(widening: UInt32(settings.intervalMilliseconds)) }

    /// Five seconds more, in which the receiver is configured again.
    private var faultMicroseconds: Int64 { silenceMicroseconds &+ 5_000_000 }

    private mutating func accept(_ event: GNSSEvent, now: Instant) -> GNSSReading? {
        lastEvent = now
        isSilent = false
        if state == .fault { state = .searching }
        noteConfiguration(event, now: now)
        switch event {
        case .reading(var reading):
            guard let time = WeekRollover.corrected(reading.unixMilliseconds, notBefore: settings.earliestDate) else {
                state = .searching
                return nil
            }
            state = .fix
            // While the receiver speaks two protocols, it says each position twice.
            guard time != lastReadingTime else { return nil }
            lastReadingTime = time
            reading.unixMilliseconds = time
            return reading
        case .noFix:
            state = .searching
            return nil
        case .antenna(let isFaulty):
            isAntennaFaulty = isFaulty
            return nil
        case .satellites(let count):
            satelliteCount = count
            return nil
        case .answer, .other: return nil
        }
    }

    /// Bytes of the longest command.
    public static var longestCommandByteCount: Int { UBXCommand.longestByteCount }

    /// Appends the next command to the receiver, if one is due.
    /// - Parameters:
    ///   - now: the time.
    ///   - output: room for ``longestCommandByteCount`` bytes.
    /// - Returns: whether there is a command.
    public mutating func nextCommand(now: Instant, into output: inout OutputSpan<UInt8>) -> Bool {
        guard Dialect.takesConfiguration else { return false }
        switch phase {
        case .off, .configured, .asItIs: return false
        case .stopping:
            UBXCommand.powerOff(isByKeys: isByKeys).write(into: &output)
            phase = .off
            return true
        case .configuring(var configuring):
            guard configuring.deadline == nil else { return false }
            configuring.step.command(settings).write(into: &output)
            configuring.deadline = now.advanced(byMicroseconds: Self.answerMicroseconds)
            phase = .configuring(configuring)
            return true
        }
    }

    mutating func configure(now: Instant) {
        isByKeys = true
        phase = Dialect.takesConfiguration ? .configuring(GNSSPhase.Configuring(step: .outputs, begin: now)) : .asItIs(until: nil)
    }

    /// When ``checkConfiguration(now:)`` has something to do.
    var configurationDeadline: Instant? {
        switch phase {
        case .off, .stopping: nil
        case .configuring(let configuring): configuring.deadline
        case .configured: lastEvent.advanced(byMicroseconds: silenceMicroseconds)
        case .asItIs(let until): until
        }
    }

    /// Repeats a message without an answer, and configures a receiver again that has become silent.
    mutating func checkConfiguration(now: Instant) {
        guard let deadline = configurationDeadline, now >= deadline else { return }
        guard case .configuring(var configuring) = phase else { return configure(now: now) }
        configuring.attempts &+= 1
        configuring.deadline = nil
        if configuring.attempts < Self.attemptLimit {
            phase = .configuring(configuring)
        } else if configuring.step != .outputs {
            // The receiver answered before, so it has been switched off meanwhile.
            configure(now: now)
        } else if lastEvent > configuring.begin {
            phase = .asItIs(until: now.advanced(byMicroseconds: Self.retryMicroseconds))
        } else {
            configure(now: now)
        }
    }

    /// Goes on with the configuration after an answer of the receiver, or begins it again if the receiver has forgotten it.
    mutating func noteConfiguration(_ event: GNSSEvent, now: Instant) {
        switch phase {
        case .off, .stopping, .asItIs: break
        case .configured(let since):
            // NMEA was switched off; a sentence may have been under way.
            let isLate = now > since.advanced(byMicroseconds: Self.answerMicroseconds)
            if dialect.isLastEventNMEA, isLate, !hasRefused { configure(now: now) }
        case .configuring(let configuring):
            guard case .answer(configuring.step.type, let isAccepted) = event, configuring.deadline != nil else { return }
            goOn(after: configuring, isAccepted: isAccepted, now: now)
        }
    }

    private mutating func goOn(after configuring: GNSSPhase.Configuring, isAccepted: Bool, now: Instant) {
        if !isAccepted, configuring.step == .outputs {
            isByKeys = false
            phase = .configuring(GNSSPhase.Configuring(step: .firstOfOldReceivers, begin: now))
            return
        }
        let isRefused = configuring.isRefused || !isAccepted && !configuring.step.isDispensable(settings)
        guard let next = configuring.step.next(settings) else {
            hasRefused = isRefused
            phase = .configured(since: now)
            return
        }
        phase = .configuring(GNSSPhase.Configuring(step: next, isRefused: isRefused, begin: now))
    }

    /// A receiver answers within a second.
    private static var answerMicroseconds: Int64 { 1_000_000 }
    /// A receiver that was just switched on does not hear the first messages.
    private static var attemptLimit: UInt8 { 5 }
    private static var retryMicroseconds: Int64 { 60_000_000 }
}

/// How far the configuration of a receiver is.
enum GNSSPhase: Sendable {
    case off
    /// The message that switches the receiver off is due.
    case stopping
    /// A message of the configuration is due, or waits for its answer.
    case configuring(Configuring)
    /// The receiver has accepted the configuration, or at least answered to it, at this time.
    case configured(since: Instant)
    /// The receiver does not answer, but works; or it takes no configuration. It is asked again at this time, if any.
    case asItIs(until: Instant?)

    /// Whether the receiver is on, and stays on.
    var isWorking: Bool {
        switch self {
        case .off, .stopping: false
        case .configuring, .configured, .asItIs: true
        }
    }

    /// A message of the configuration.
    struct Configuring: Sendable {
        var step: ConfigurationStep
        /// Whether the receiver has refused an earlier step that the collar needs.
        var isRefused = false
        /// How often the message was sent without an answer.
        var attempts: UInt8 = 0
        /// When the answer is late; nil if the message was not sent yet.
        var deadline: Instant?
        /// When the first message of the configuration was due.
        let begin: Instant
    }
}

/// How a GNSS receiver is to work.
public struct GNSSSettings: Equatable, Sendable {
    /// The movements that the receiver expects. The numbers are those of u-blox.
    public enum DynamicModel: UInt8, Equatable, Sendable {
        /// No expectation.
        case portable = 0
        /// Slow, on the ground: a pet on foot.
        case pedestrian = 3
        /// A vehicle.
        case automotive = 4
        /// A boat.
        case sea = 5
        /// In the air, with accelerations below 1 g: a bird.
        case airborne = 6
        /// A wrist, which swings. Receivers before generation 9 may refuse it.
        case wrist = 9
    }

    /// Milliseconds between positions, 100 … 10,000 if power is saved, else up to 65,535.
    public var intervalMilliseconds: UInt16
    /// The movements to expect.
    public var dynamicModel: DynamicModel
    /// Whether the receiver saves power between positions (cyclic tracking).
    public var isPowerSaved: Bool
    /// A day that is certainly in the past: the day on which the firmware was built. An earlier date of the receiver is wrong by
    /// rollovers of the week count; see ``WeekRollover``.
    public var earliestDate: UTCDate

    /// Creates settings.
    public init(
        intervalMilliseconds: UInt16 = 1000, dynamicModel: DynamicModel = .pedestrian, isPowerSaved: Bool = true,
        earliestDate: UTCDate
    ) {
        self.intervalMilliseconds = intervalMilliseconds
        self.dynamicModel = dynamicModel
        self.isPowerSaved = isPowerSaved
        self.earliestDate = earliestDate
    }
}
