import CollarARQ
import CollarWire

/// A modem of one dialect.
protocol StickModem: Sendable {
    /// Bytes and events that wait for the caller.
    var output: ModemOutput { get set }
    /// When to call ``deadlineReached(at:)`` next; nil if nothing is expected.
    var nextDeadline: Instant? { get }

    /// - Parameters:
    ///   - settings: the settings of the stick's radio.
    ///   - limits: the limits of the region; nil if no region is set, so that nothing may be sent.
    ///   - isRested: whether the radio has sent nothing in the last hour.
    ///   - delay: the time that the way to the stick adds.
    init(_ settings: RadioSettings, limits: TransmitLimits?, isRested: Bool, delay: LineDelay, at now: Instant)

    /// Begins: the stick may have any state.
    mutating func start(at now: Instant)
    /// Bytes came in from the stick.
    mutating func receive(_ bytes: Span<UInt8>, at now: Instant)
    /// Queues the packets of one answer, which go out one after the other.
    mutating func send(_ answer: [[UInt8]], at now: Instant)
    /// Does what is due.
    mutating func deadlineReached(at now: Instant)
}
