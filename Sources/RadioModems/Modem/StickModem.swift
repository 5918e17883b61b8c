import CollarARQ
import CollarWire

/// A modem of one dialect.
protocol StickModem: Sendable {
    var output: ModemOutput { get set }
    /// When to call ``deadlineReached(at:)`` next; nil if nothing is expected.
    var nextDeadline: Instant? { get }
    /// Whether the stick holds its settings, so that it takes packets.
    var isReady: Bool { get }
    /// Whether a packet waits for the stick, or the stick has one that it has not reported as sent. An RNode reports nothing.
    var isSending: Bool { get }

    /// - Parameters:
    ///   - settings: the settings of the stick's radio.
    ///   - limits: the limits of the region; nil if no region is set, so that nothing may be sent.
    ///   - isRested: whether the radio has sent nothing in the last hour.
    ///   - delay: the time that the way to the stick adds.
    init(_ settings: RadioSettings, limits: TransmitLimits?, isRested: Bool, delay: LineDelay, at now: Instant)

    /// Begins: the stick may have any state.
    mutating func start(at now: Instant)
    mutating func receive(_ bytes: Span<UInt8>, at now: Instant)
    /// Queues the packets of one answer, which go out one after the other.
    mutating func send(_ answer: [[UInt8]], at now: Instant)
    mutating func deadlineReached(at now: Instant)
}

/// The outputs of a modem, until its caller takes them.
struct ModemOutput: Sendable {
    var bytes: [UInt8] = []
    var events: [ModemEvent] = []
    /// When a notice of a kind that repeats was given last.
    private var lastRepeated: [String: Instant] = [:]

    /// The least time between two notices of one kind, in microseconds.
    private static let repeatInterval: Int64 = 60_000_000

    mutating func report(_ notice: ModemNotice) { events.append(.notice(notice)) }

    /// Reports a notice unless one of its kind was reported less than a minute ago, or another interval in microseconds.
    mutating func report(_ notice: ModemNotice, kind: String, interval: Int64 = ModemOutput.repeatInterval, at now: Instant) {
        if let last = lastRepeated[kind], now.microseconds(since: last) < interval { return }
        lastRepeated[kind] = now
        report(notice)
    }

    /// Reports that a stick sends with another power than wanted, in dBm, if it does.
    mutating func reportPower(wanted: Int8, actual: Int8, at now: Instant) {
        let (wanted, actual) = (Int64(wanted), Int64(actual))
        if actual < wanted { report(.powerReduced(wantedDBm: wanted, actualDBm: actual), kind: "power", at: now) }
        if actual > wanted { report(.powerRaised(wantedDBm: wanted, actualDBm: actual), kind: "power", at: now) }
    }

    mutating func write(_ frame: KISSFrame) { frame.append(to: &bytes) }
}

/// Counts questions that a stick does not answer, and reports when it falls silent and when it answers again.
struct AnswerMonitor: Sendable {
    /// Unanswered questions in a row after which the stick counts as silent.
    private static let limit = 3
    /// Time until the next attempt with a silent stick, in microseconds; the last one repeats.
    private static let retryTimes: [Int64] = [500_000, 1_000_000, 2_000_000, 5_000_000, 15_000_000, 30_000_000]

    private let dialect: Dialect
    private var missCount = 0
    private var isReported = false

    init(of dialect: Dialect) { self.dialect = dialect }

    var isSilent: Bool { missCount >= AnswerMonitor.limit }

    mutating func noteMiss(reportingTo output: inout ModemOutput) {
        missCount += 1
        guard isSilent, !isReported else { return }
        isReported = true
        output.report(.notAnswering(dialect))
    }

    mutating func noteAnswer(reportingTo output: inout ModemOutput) {
        missCount = 0
        guard isReported else { return }
        isReported = false
        output.report(.answersAgain(dialect))
    }

    /// When to begin the next attempt to set up a stick after this number of attempts.
    static func nextAttempt(after attempts: Int, at now: Instant) -> Instant {
        now.advanced(byMicroseconds: retryTimes[min(attempts, retryTimes.count - 1)])
    }
}

/// Times that hold for sticks of every dialect, in microseconds.
enum StickTiming {
    /// Time between two checks of a stick that has nothing to send.
    static let checkInterval: Int64 = 5_000_000
    /// Time until a stick that refused a setting is set up again.
    static let refusalTime: Int64 = 60_000_000
}

/// The time that the way between the receiver and a stick adds, in microseconds.
struct LineDelay: Equatable, Sendable {
    /// Time that an answer may take beyond the time of the stick itself.
    var answerMicroseconds: Int64
    /// Time from the stick to the receiver and back, as it was measured; 0 if it is not known.
    var roundTripMicroseconds: Int64

    /// The delay of a port.
    /// - Parameter roundTripMicroseconds: the measured time to the stick's machine and back; 0 if it is not known.
    init(_ kind: RadioModem.PortKind, roundTripMicroseconds: Int64) {
        let roundTrip = min(max(0, roundTripMicroseconds), 10_000_000)
        self.roundTripMicroseconds = roundTrip
        // Mobile networks, VPNs and further bridges delay bytes by up to a second.
        answerMicroseconds = kind == .network ? max(1_500_000, 2 * roundTrip) : 0
    }
}
