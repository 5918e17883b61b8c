import CollarARQ
import CollarWire

/// Recognises how the button of a collar is pressed.
///
/// A press makes a fix. A second press within a second opens pairing. To hold the button for three seconds stops tracking, or
/// starts it if it was stopped; the collar gives its signal while the button is still held, so that the owner knows when to
/// release it.
public struct ButtonDecoder: Equatable, Sendable {
    /// The kind of a press.
    public enum Press: Equatable, Sendable {
        /// The button was pressed and released.
        case short
        /// The button was pressed and released twice.
        case double
        /// The button has been held.
        case long
    }

    private enum State: Equatable {
        /// Released; the time is that of the first press of a possible double press.
        case released(Instant?)
        case pressed(since: Instant, isSecond: Bool)
        /// Still held after the press has taken effect.
        case held
    }

    /// How long a long press lasts, in microseconds.
    public static let longMicroseconds: Int64 = 3_000_000
    /// The longest time from the release of a first press to the beginning of a second one, in microseconds.
    public static let doubleMicroseconds: Int64 = 1_000_000

    private var state = State.released(nil)

    /// Creates the state of a button that is released.
    public init() {}

    /// Whether the button was pressed at the last update.
    public var isPressed: Bool { if case .released = state { false } else { true } }

    /// When to call ``update(isPressed:now:)`` again if the button does not change; nil for never.
    public var nextDeadline: Instant? {
        guard case .pressed(let since, _) = state else { return nil }
        return since.advanced(byMicroseconds: Self.longMicroseconds)
    }

    /// Notes whether the button is pressed.
    /// - Returns: what the press means, when that is known.
    public mutating func update(isPressed: Bool, now: Instant) -> Press? {
        switch state {
        case .released(let last):
            guard isPressed else { return nil }
            let isSecond = last.map { now.microseconds(since: $0) <= Self.doubleMicroseconds } ?? false
            state = .pressed(since: now, isSecond: isSecond)
            return nil
        case .pressed(let since, let isSecond):
            if now.microseconds(since: since) >= Self.longMicroseconds {
                state = isPressed ? .held : .released(nil)
                return .long
            }
            guard !isPressed else { return nil }
            state = .released(isSecond ? nil : now)
            return isSecond ? .double : .short
        case .held:
            if !isPressed { state = .released(nil) }
            return nil
        }
    }
}

/// A signal of a collar to the people near it, with its light and its sounder.
public enum Signal: Equatable, Sendable {
    /// Tracking began: one long signal.
    case start
    /// Tracking ended: three long signals.
    case stop
    /// The collar did what the button asked for: two short signals.
    case success
    /// The battery is low: four short signals.
    case warning
    /// Something failed: eight short signals.
    case error

    /// How often the signal is on, and for how long, in microseconds. It is off for as long in between.
    var pattern: (count: Int64, microseconds: Int64) {
        switch self {
        case .start: (1, 600_000)
        case .stop: (3, 600_000)
        case .success: (2, 100_000)
        case .warning: (4, 100_000)
        case .error: (8, 100_000)
        }
    }
}

/// Plays signals, and the sound that a host commands. A new one ends the one before it, but a warning or an error is heard to
/// its end.
public struct SignalPlayer: Equatable, Sendable {
    private var start = Instant(microseconds: 0)
    /// The remaining number of times that the signal is on, as of ``start``; 0 if nothing is played.
    private var count: Int64 = 0
    private var microseconds: Int64 = 0
    /// The signal that was given last; nil after a sound.
    private var signal: Signal?

    /// Creates a player that is silent.
    public init() {}

    /// The signal that was given last, and when it began; nil if there is none, or a sound was commanded since.
    var newest: (signal: Signal, start: Instant)? { signal.map { ($0, start) } }

    /// Plays a signal.
    public mutating func play(_ signal: Signal, now: Instant) {
        let (count, microseconds) = signal.pattern
        play(signal, count, microseconds, now: now)
    }

    /// Sounds for a time, so that the animal can be found.
    public mutating func sound(milliseconds: UInt16, now: Instant) {
        play(nil, 1, Int64(widening: UInt32(milliseconds)) * 1000, now: now)
    }

    private mutating func play(_ signal: Signal?, _ count: Int64, _ microseconds: Int64, now: Instant) {
        let isUrgent = self.signal == .warning || self.signal == .error
        guard !isUrgent || signal == .warning || signal == .error || now >= end else { return }
        start = now
        self.count = count
        self.microseconds = microseconds
        self.signal = signal
    }

    private var end: Instant { start.advanced(byMicroseconds: (2 * count - 1) * microseconds) }

    /// Whether the light and the sounder are on.
    public func isOn(now: Instant) -> Bool {
        guard count > 0, microseconds > 0, now < end else { return false }
        return now.microseconds(since: start) / microseconds % 2 == 0
    }

    /// When ``isOn(now:)`` changes next; nil if nothing is played.
    public func nextDeadline(now: Instant) -> Instant? {
        guard count > 0, microseconds > 0, now < end else { return nil }
        let played = now.microseconds(since: start) / microseconds
        return start.advanced(byMicroseconds: (played + 1) * microseconds)
    }
}
