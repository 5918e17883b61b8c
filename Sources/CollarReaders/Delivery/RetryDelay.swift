/// The pauses between attempts: 1 s, then twice as long each time, to 5 minutes; each between half and all of that, so that many
/// programs do not try at the same moment.
package struct RetryDelay {
    private static let first: Int64 = 1_000_000
    private static let longest: Int64 = 300_000_000

    private var next = RetryDelay.first
    /// Attempts that have failed in a row.
    package private(set) var failureCount = 0

    /// An attempt has failed.
    /// - Returns: the pause before the next one, in microseconds.
    package mutating func failed(random: inout some RandomNumberGenerator) -> Int64 {
        defer { next = min(2 * next, RetryDelay.longest) }
        failureCount += 1
        return Int64.random(in: (next / 2)...next, using: &random)
    }

    /// An attempt has succeeded.
    package mutating func succeeded() { self = RetryDelay() }
}
