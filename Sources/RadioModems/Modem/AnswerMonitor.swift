import CollarARQ

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

    /// Whether the stick counts as silent.
    var isSilent: Bool { missCount >= AnswerMonitor.limit }

    /// A question was not answered in time.
    mutating func noteMiss(reportingTo output: inout ModemOutput) {
        missCount += 1
        guard isSilent, !isReported else { return }
        isReported = true
        output.report(.notAnswering(dialect))
    }

    /// The stick answered.
    mutating func noteAnswer(reportingTo output: inout ModemOutput) {
        missCount = 0
        guard isReported else { return }
        isReported = false
        output.report(.answersAgain(dialect))
    }

    /// When to begin the next attempt to set up a stick after so many attempts.
    static func nextAttempt(after attempts: Int, at now: Instant) -> Instant {
        now.advanced(byMicroseconds: retryTimes[min(attempts, retryTimes.count - 1)])
    }
}
