import CollarARQ
import Testing

@testable import RadioModems

/// At 1 % a radio has 9 s at once, a quarter of an hour's airtime, and gains 7.5 ms a second. A byte takes 100 ms.
@Suite struct ShortAirtimeTests {
    private static let frequencyHertz: UInt32 = 868_300_000

    private struct Bench {
        var queue: AnswerQueue
        var output = ModemOutput()

        init(_ limits: TransmitLimits = TransmitLimits(dutyCyclePartsPerMillion: 10_000), isRested: Bool = true) {
            let profile = ModemProfile(nanosecondsPerByte: 100_000_000, frameOverheadMicroseconds: 0, turnaroundMicroseconds: 800_000)
            queue = AnswerQueue(
                limits: limits, frequencyHertz: ShortAirtimeTests.frequencyHertz, profile: profile, isRested: isRested,
                at: Instant(microseconds: 0))
        }

        /// Sends an answer of this size, if it may be sent at this time.
        /// - Returns: whether the airtime became short or does so no more; nil if neither.
        mutating func answer(_ byteCount: Int, second: Int64) -> Bool? {
            let now = Instant(microseconds: second * 1_000_000)
            let before = output.events.count
            queue.add([[UInt8](repeating: 1, count: byteCount)], at: now)
            _ = queue.next(at: now, reportingTo: &output)
            let changes = output.events[before...].compactMap { if case .airtime(let isShort) = $0 { isShort } else { nil } }
            return changes.last
        }

        /// The used airtimes of the notices, in milliseconds.
        var told: [Int64] {
            output.events.compactMap {
                guard case .notice(.airtimeShort(let used, 10_000, ShortAirtimeTests.frequencyHertz)) = $0 else { return nil }
                return used / 1000
            }
        }

        var dropCount: Int { output.events.count { if case .notice(.dutyCycleReached) = $0 { true } else { false } } }
    }

    @Test func lessThanHalfIsShortAndSevenEighthsAreNot() {
        var bench = Bench()
        #expect(bench.answer(45, second: 0) == nil, "half is left")
        #expect(bench.answer(1, second: 0) == true)
        #expect(bench.answer(1, second: 0) == nil, "it is told once")
        #expect(bench.told == [4600])
        // 4.3 s are left, and 7.875 s are seven eighths.
        #expect(bench.answer(1, second: 476) == nil)
        #expect(bench.answer(1, second: 489) == nil, "0.1 s was spent")
        #expect(bench.answer(1, second: 504) == false)
        #expect(bench.answer(32, second: 504) == nil)
        #expect(bench.answer(2, second: 504) == true)
        #expect(bench.told == [4600], "not within an hour")
        #expect(bench.dropCount == 0)
    }

    @Test func timeAloneEndsIt() {
        var bench = Bench()
        #expect(bench.answer(80, second: 0) == true)
        #expect(bench.answer(1, second: 5000) == false)
    }

    /// The second notice has the airtime of its own hour.
    @Test func itIsToldOnceAnHour() {
        var bench = Bench()
        for second in 0..<7000 as Range<Int64> where second % 60 == 0 { _ = bench.answer(second == 0 ? 50 : 4, second: second) }
        #expect(bench.told == [5000, 23_600])
        #expect(bench.dropCount == 0)
    }

    @Test func withoutADutyCycleNothingIsShort() {
        var bench = Bench(TransmitLimits())
        for second in 0..<100 as Range<Int64> { #expect(bench.answer(200, second: second) == nil) }
        #expect(bench.told.isEmpty)
    }

    /// What was sent before the start is not known. The collars are asked for fewer polls at once; the user hears of it if it is short
    /// for an hour, or becomes so again.
    @Test func anEmptyStartIsShortAndNotTold() {
        var idle = Bench(isRested: false)
        #expect(idle.answer(1, second: 20) == true)
        #expect(idle.answer(1, second: 1000) == nil)
        #expect(idle.answer(1, second: 1100) == false)
        #expect(idle.told.isEmpty)
        #expect(idle.answer(70, second: 1100) == true)
        #expect(idle.told == [7300])

        var busy = Bench(isRested: false)
        for second in 0..<3600 as Range<Int64> where second % 60 == 30 { _ = busy.answer(4, second: second) }
        #expect(busy.told.isEmpty)
        #expect(busy.answer(4, second: 3600) == nil)
        #expect(busy.told.count == 1)
    }
}
