import CollarSimulator
import CollarWire
import Testing

@testable import CollarWorld

/// The parts of the oracle, one by one.
@Suite struct OracleTests {
    private func discipline() -> PollDiscipline {
        var plan = WorldPlan.small(fixCount: 1)
        plan.burstFrameCount = 3
        plan.maximumTimeoutMicroseconds = 300_000
        return PollDiscipline(plan)
    }

    /// The first time-out of the serial line: turnaround and the airtime of 51 bytes, in microseconds.
    private let timeout: Int64 = 100_000 + 4427

    @Test func aBurstEndsWithAPoll() {
        var discipline = discipline()
        #expect(discipline.handsOut(poll: nil, now: 0) == nil)
        #expect(discipline.handsOut(poll: nil, now: 1) == nil)
        #expect(discipline.handsOut(poll: nil, now: 2) != nil)
    }

    @Test func pollNumbersFollowOneAnother() {
        var discipline = discipline()
        #expect(discipline.handsOut(poll: 2, now: 0) != nil)
        #expect(discipline.handsOut(poll: 1, now: 0) == nil)
        discipline.frameIsOver(now: 10)
        discipline.answered(1)
        #expect(discipline.handsOut(poll: 1, now: 20) != nil)
    }

    @Test func nothingIsSentBeforeTheTimeoutAndEveryThirdTimeoutDoublesToTheCap() {
        var now: Int64 = 0
        var discipline = discipline()
        #expect(discipline.handsOut(poll: 1, now: now) == nil)
        let waits = [timeout, timeout, timeout, 2 * timeout, 2 * timeout, 2 * timeout, 300_000, 300_000]
        for (attempt, wait) in waits.enumerated() {
            let poll = UInt8((attempt + 1) % 7 + 1)
            discipline.frameIsOver(now: now)
            var early = discipline
            #expect(early.handsOut(poll: poll, now: now + wait - 1) != nil)
            var silent = discipline
            #expect(silent.handsOut(poll: nil, now: now + wait) != nil)
            now += wait
            #expect(discipline.handsOut(poll: poll, now: now) == nil)
        }
    }

    @Test func onlyTheOpenPollsAnswerEndsTheWait() {
        var discipline = discipline()
        #expect(discipline.handsOut(poll: 1, now: 0) == nil)
        discipline.frameIsOver(now: 5)
        discipline.answered(7)
        var same = discipline
        #expect(same.handsOut(poll: nil, now: 6) != nil)
        discipline.answered(1)
        #expect(discipline.handsOut(poll: nil, now: 6) == nil)
    }

    @Test func anHourOfAirtimeSlides() {
        var hour = HourOfAirtime()
        #expect(hour.add(start: 900, end: 1_000) == 100)
        #expect(hour.add(start: 3_599_999_950, end: 3_600_000_000) == 150)
        #expect(hour.add(start: 3_600_000_930, end: 3_600_000_955) == 120)
        #expect(hour.add(start: 3_600_000_975, end: 3_600_001_000) == 100)
    }

    @Test func aDutyCycleThatIsTooLowForTheTrafficIsSeen() {
        var plan = WorldPlan.small(fixCount: 5)
        plan.hourlyAirtimeLimitMicroseconds = 5000
        #expect(World(plan).run().violation?.invariant == .dutyCycle)
        plan.hourlyAirtimeLimitMicroseconds = 60_000_000
        #expect(World(plan).run().violation == nil)
    }

    @Test func theBitwiseCRCIsTheProtocols() throws {
        let log = LogIdentity(deviceID: 0x0123_4567_89AB_CDEF, logID: 77)
        let fix = Fix(sequence: 5, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 1, longitudeSteps: 2)
        var frame = try [UInt8](capacity: 253) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try AbsoluteFix.encode(
                fix, address: 9, flags: FrameFlags(poll: nil), log: log, reference: nil, into: &output)
        }
        #expect(BitwiseCRC.isValid(frame, log: log))
        #expect(!BitwiseCRC.isValid(frame, log: nil))
        frame[5] ^= 1
        #expect(!BitwiseCRC.isValid(frame, log: log))
    }

    @Test func eventsComeInTheirOrder() {
        var queue = EventQueue<Int>()
        var random = SeededRandom(seed: 3)
        for number in 0..<500 { queue.add(number, at: random.between(0, 40)) }
        var taken: [(due: Int64, event: Int)] = []
        while let next = queue.takeFirst() { taken.append(next) }
        #expect(taken.count == 500)
        #expect(zip(taken, taken.dropFirst()).allSatisfy { ($0.due, $0.event) < ($1.due, $1.event) })
    }

    @Test func shrinkingLeavesWhatMatters() throws {
        var plan = WorldPlan(seed: 3)
        plan.hourlyAirtimeLimitMicroseconds = 20_000
        #expect(World(plan).run().violation?.invariant == .dutyCycle)
        let small = try #require(Shrinker.shrink(plan))
        #expect(small.faults == FaultSet() && small.collarCount == 1)
        #expect(Shrinker.describe(small).contains("FOUND"))
        #expect(Shrinker.shrink(.small(fixCount: 2)) == nil)
    }
}
