import Glibc

/// Counts of independent events, each of which is rare: they have a Poisson distribution.
enum EventCount {
    /// The probability that a normally distributed value is more than three standard deviations above its mean.
    private static let tail = 0.5 * erfc(3 / 2.0.squareRoot())

    /// Whether a count is as probable as a normally distributed value within three standard deviations: counts at least so high, and
    /// counts at least so low, each have a probability of 0.00135 or more. For few expected events a distance of three standard
    /// deviations says less: if 0.01 are expected, one event is ten of them away, but happens in one of a hundred cases.
    static func isPlausible(_ count: Int, expected: Double) -> Bool {
        probability(of: 0...count, expected: expected) >= tail
            && (count == 0 || 1 - probability(of: 0...(count - 1), expected: expected) >= tail)
    }

    /// The probability of a count in a range.
    static func probability(of counts: ClosedRange<Int>, expected: Double) -> Double {
        guard expected > 0 else { return counts.contains(0) ? 1 : 0 }
        // The logarithm of the probability of one count: e^-m itself would be 0 for many expected events.
        var logarithm = -expected
        var sum = 0.0
        for count in 0...counts.upperBound {
            if count > 0 { logarithm += log(expected / Double(count)) }
            if count >= counts.lowerBound { sum += exp(logarithm) }
        }
        return sum
    }
}
