import CollarARQ

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
        /// Held so long that the press has had its effect.
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
