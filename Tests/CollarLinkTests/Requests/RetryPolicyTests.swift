import CollarLink
import Testing

/// The pauses before retries.
@Suite struct RetryPolicyTests {
    /// A source that always gives the same bits.
    private struct Constant: RandomNumberGenerator {
        let bits: UInt64
        mutating func next() -> UInt64 { bits }
    }

    private func delays(_ policy: RetryPolicy, bits: UInt64 = 0) -> [Duration] {
        var random = Constant(bits: bits)
        var found: [Duration] = []
        while let delay = policy.delay(beforeRetry: found.count + 1, using: &random) { found.append(delay) }
        return found
    }

    @Test func pausesGrowToTheCap() {
        let policy = RetryPolicy(count: 5, initialDelay: .seconds(1), multiplier: 3, longestDelay: .seconds(20), jitter: 0)
        #expect(delays(policy) == [.seconds(1), .seconds(3), .seconds(9), .seconds(20), .seconds(20)])
        #expect(delays(.none).isEmpty)
        #expect(delays(.standard) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16)])
    }

    @Test func theJitterComesFromTheSource() {
        let policy = RetryPolicy(count: 2, initialDelay: .seconds(10), multiplier: 2, longestDelay: .seconds(21), jitter: 0.5)
        #expect(delays(policy) == [.seconds(10), .seconds(20)])
        let most = delays(policy, bits: .max)
        #expect(most[0] > .seconds(14) && most[0] <= .seconds(15))
        #expect(most[1] == .seconds(21))
    }

    @Test func valuesOutOfRangeBecomeTheNearest() {
        let policy = RetryPolicy(count: -1, initialDelay: .seconds(-5), multiplier: .nan, longestDelay: .seconds(99_999), jitter: .infinity)
        #expect(policy.count == 0 && policy.initialDelay == .zero && policy.multiplier == 1)
        #expect(policy.longestDelay == .seconds(3600) && policy.jitter == 1)
        #expect(delays(RetryPolicy(count: 1000, multiplier: .infinity)).count == 100)
    }
}
