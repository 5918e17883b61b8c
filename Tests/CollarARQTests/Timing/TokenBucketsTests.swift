import CollarARQ
import CollarWire
import Testing

extension AirtimeBudget {
    /// Whether a frame may be sent at once.
    fileprivate func allows(airtimeMicroseconds: Int64) -> Bool {
        let now = Instant(microseconds: 0)
        return earliest(airtimeMicroseconds: airtimeMicroseconds, now: now) == now
    }
}

/// The duty cycle.
@Suite struct AirtimeBudgetTests {
    private let start = Instant(microseconds: 1_000_000)

    @Test func itIsEmptyAtBoot() {
        var budget = AirtimeBudget(partsPerMillion: 10_000, largestFrameMicroseconds: 100_000, now: start)
        budget.refill(now: start)
        #expect(!budget.allows(airtimeMicroseconds: 1))
        #expect(budget.allows(airtimeMicroseconds: 0))
        let earliest = budget.earliest(airtimeMicroseconds: 75, now: start)
        #expect(earliest == start.advanced(byMicroseconds: 10_001))
        budget.refill(now: earliest)
        #expect(budget.allows(airtimeMicroseconds: 75))
    }

    @Test func itHoldsAQuarterOfAnHoursWorth() {
        var budget = AirtimeBudget(partsPerMillion: 10_000, largestFrameMicroseconds: 100_000, now: start)
        #expect(budget.depthMicroseconds == 9_000_000)
        budget.refill(now: start.advanced(byMicroseconds: 1 << 50))
        #expect(budget.allows(airtimeMicroseconds: 9_000_000))
        #expect(!budget.allows(airtimeMicroseconds: 9_000_001))
    }

    @Test func itHoldsOneFrameThatIsLargerThanThatAndFillsWithTheRest() {
        var budget = AirtimeBudget(partsPerMillion: 1000, largestFrameMicroseconds: 2_500_000, now: start)
        #expect(budget.depthMicroseconds == 2_500_000)
        budget.refill(now: start.advanced(byMicroseconds: 3_600_000_000))
        #expect(budget.allows(airtimeMicroseconds: 1_098_000))
        #expect(!budget.allows(airtimeMicroseconds: 1_100_001))
    }

    @Test func aFrameThatNoHourAllowsIsNeverSent() {
        var budget = AirtimeBudget(partsPerMillion: 100, largestFrameMicroseconds: 2_500_000, now: start)
        for day in 1...100 as ClosedRange<Int64> {
            budget.refill(now: start.advanced(byMicroseconds: day * 86_400_000_000))
            #expect(!budget.allows(airtimeMicroseconds: 2_500_000))
        }
    }

    /// Frames and pauses are random. No window of an hour holds more airtime than the duty cycle allows.
    @Test func noWindowOfAnHourHoldsMore() {
        var random = SystemRandomNumberGenerator()
        var budget = AirtimeBudget(partsPerMillion: 10_000, largestFrameMicroseconds: 100_000, now: start)
        var now = start
        var sent: [(at: Int64, airtime: Int64)] = []
        while now < start.advanced(byMicroseconds: 6 * 3_600_000_000) {
            let airtime = Int64.random(in: 1000...1_500_000, using: &random)
            budget.refill(now: now)
            now = max(now, budget.earliest(airtimeMicroseconds: airtime, now: now))
            budget.refill(now: now)
            #expect(budget.allows(airtimeMicroseconds: airtime))
            budget.spend(airtimeMicroseconds: airtime)
            sent.append((now.microseconds, airtime))
            let pause = Bool.random(using: &random) ? 0 : Int64.random(in: 0...60_000_000, using: &random)
            now = now.advanced(byMicroseconds: airtime + pause)
        }
        var first = 0
        var sum: Int64 = 0
        var most: Int64 = 0
        for element in sent {
            sum += element.airtime
            while sent[first].at <= element.at - 3_600_000_000 {
                sum -= sent[first].airtime
                first += 1
            }
            most = max(most, sum)
        }
        #expect(most <= 36_000_000)
        #expect(most > 20_000_000)
    }
}
