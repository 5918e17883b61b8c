import CollarARQ
import CollarWire

/// A GNSS receiver at a serial line: finds out what it speaks, configures it, and turns its bytes into readings.
///
/// Bytes and the time go in; readings and commands come out. After each input, call ``nextCommand(now:into:)`` until it returns
/// false, and call ``deadlineReached(now:)`` at ``nextDeadline``. The serial line has the speed with which the receiver starts; it
/// is not changed.
///
/// A u-blox receiver is configured by keys (generation 9 and later) or, if it refuses that, by the older messages: interval,
/// dynamic model, saving of power, NAV-PVT and the state of the antenna on, NMEA off. Each message is repeated until the receiver
/// answers. A receiver that does not answer but sends NMEA is used as it is, and asked again every minute. A receiver that
/// restarts has forgotten its configuration, so it is configured again when it sends NMEA again, or when it no longer sends
/// anything.
public struct GNSSReceiver<Dialect: GNSSDialect>: Sendable {
    /// How the receiver is to work.
    public private(set) var settings: GNSSSettings
    /// What the receiver does: off, searching, making fixes, or not answering.
    public private(set) var state = Status.GNSSState.off
    var dialect = Dialect()
    var phase = GNSSPhase.off
    /// When the receiver last said something, or was switched on.
    var lastEvent = Instant(microseconds: 0)
    /// When the last byte came.
    var lastByte = Instant(microseconds: 0)
    /// The time of the last reading.
    private var lastReadingTime = Int64.min
    /// Whether the receiver has been silent for too long.
    private var isSilent = false
    /// Whether the receiver refused a part of the configuration.
    var hasRefused = false
    /// Whether the receiver says that its antenna is short-circuited or open.
    private var isAntennaFaulty = false
    /// Whether the receiver belongs to generation 9 or a later one, as far as is known.
    var isByKeys = true

    /// Creates a receiver that is switched off.
    public init(settings: GNSSSettings) { self.settings = settings }

    /// The fault of the receiver: `CollarFault.gnssSilent` if it has not said anything valid for three intervals and seven
    /// seconds, `CollarFault.gnssFault` if it refuses a part of its configuration or says that its antenna is short-circuited or
    /// open; nil if there is none.
    public var fault: CollarFault? { isSilent ? .gnssSilent : hasRefused || isAntennaFaulty ? .gnssFault : nil }

    /// Whether the receiver needs its supply. A board that can switch the supply switches it so; on any other board the receiver
    /// gets a message that switches it off.
    public var isPowered: Bool { phase != .off }

    /// Switches the receiver on. Without effect if it is on.
    public mutating func switchOn(now: Instant) {
        guard phase == .off || phase == .stopping else { return }
        dialect = Dialect()
        lastEvent = now
        lastByte = now
        state = .searching
        configure(now: now)
    }

    /// Switches the receiver off: it makes no readings any more.
    public mutating func switchOff() {
        guard phase != .off else { return }
        phase = Dialect.takesConfiguration ? .stopping : .off
        state = .off
        isSilent = false
        hasRefused = false
        isAntennaFaulty = false
    }

    /// Changes the settings, and configures the receiver anew if it is on.
    public mutating func change(to settings: GNSSSettings, now: Instant) {
        guard settings != self.settings else { return }
        self.settings = settings
        if phase != .off, phase != .stopping { configure(now: now) }
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

    /// The sentences of one moment follow each other without a pause that is so long.
    private var quietDeadline: Instant { lastByte.advanced(byMicroseconds: 100_000) }

    /// The longest time between two positions of a receiver that works.
    var silenceMicroseconds: Int64 { 2_000_000 &+ 3000 &* Int64(widening: UInt32(settings.intervalMilliseconds)) }

    /// Five seconds more, in which the receiver is configured anew.
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
        case .answer, .other:
            return nil
        }
    }
}
