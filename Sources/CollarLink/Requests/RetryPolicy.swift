import CollarErrors
import Glibc

/// When a request that has failed is tried again.
///
/// It is tried again only if it certainly was not executed, and if the same request can succeed later: there is no radio, the collar was not
/// heard yet or is busy, too many requests wait. An error of permission is never tried again.
public struct RetryPolicy: Hashable, Sendable {
    /// How often it is tried again, 0 … 100.
    public let count: Int
    /// The pause before the first retry, 0 … 3,600 s.
    public let initialDelay: Duration
    /// The factor by which each pause is longer than the one before, 1 … 10.
    public let multiplier: Double
    /// The longest pause, 0 … 3,600 s.
    public let longestDelay: Duration
    /// The largest random part that is added to a pause, as a fraction of it, 0 … 1. Programs that failed together do not try again together.
    public let jitter: Double

    /// No retries.
    public static let none = RetryPolicy(count: 0)
    /// Five retries, after pauses of 1, 2, 4, 8 and 16 s and up to a tenth more.
    public static let standard = RetryPolicy()

    /// Creates a policy. A value out of its range becomes the nearest one in it.
    public init(
        count: Int = 5, initialDelay: Duration = .seconds(1), multiplier: Double = 2, longestDelay: Duration = .seconds(60), jitter: Double = 0.1
    ) {
        self.count = min(max(count, 0), 100)
        self.initialDelay = min(max(initialDelay, .zero), .seconds(3600))
        // These comparisons are false for a NaN.
        self.multiplier = multiplier >= 1 ? min(multiplier, 10) : 1
        self.longestDelay = min(max(longestDelay, .zero), .seconds(3600))
        self.jitter = jitter >= 0 ? min(jitter, 1) : 0
    }

    /// The pause before a retry: `initialDelay × multiplier^(n − 1)` and the jitter, at most ``longestDelay``.
    /// - Parameters:
    ///   - number: the number of the retry, from 1 on.
    ///   - random: the source of the jitter.
    /// - Returns: nil after the last retry.
    public func delay(beforeRetry number: Int, using random: inout some RandomNumberGenerator) -> Duration? {
        guard (1...max(count, 1)).contains(number), count > 0 else { return nil }
        let regular = min(initialDelay / .seconds(1) * pow(multiplier, Double(number - 1)), longestDelay / .seconds(1))
        let jittered = regular * (1 + jitter * Double.random(in: 0..<1, using: &random))
        return min(.seconds(jittered), longestDelay)
    }
}

extension Duration {
    /// The length in microseconds, at least 1 ms and at most a week.
    var limitedMicroseconds: Int64 { Int64(min(max(self, .milliseconds(1)), .seconds(604_800)) / .microseconds(1)) }
}
