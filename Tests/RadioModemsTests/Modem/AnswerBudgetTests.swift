import CollarARQ
import Testing

@testable import RadioModems

/// Many answers of several packets, over an hour and more.
@Suite struct AnswerBudgetTests {
    private static let turnaround: Int64 = 800_000

    /// A link on which a byte takes 100 ms of airtime.
    private func queue(_ limits: TransmitLimits?, isRested: Bool = true, millisecondsPerByte: Int64 = 100) -> AnswerQueue {
        let profile = ModemProfile(
            nanosecondsPerByte: millisecondsPerByte * 1_000_000, frameOverheadMicroseconds: 0, turnaroundMicroseconds: Self.turnaround)
        return AnswerQueue(limits: limits, frequencyHertz: 869_525_000, profile: profile, isRested: isRested, at: Instant(microseconds: 0))
    }

    private func packets(_ byteCounts: [Int]) -> [[UInt8]] { byteCounts.map { [UInt8](repeating: 1, count: $0) } }

    private func airtime(_ output: ModemOutput) -> Int64 {
        output.events.reduce(0) { if case .transmits(let airtime) = $1 { $0 + airtime } else { $0 } }
    }

    /// At 1 % a rested radio has 9 s, a quarter of an hour's airtime.
    @Test(arguments: [[10, 10, 10], [15, 15], [30], [1, 29], [29, 1]])
    func eachPacketOfAnAnswerIsCharged(byteCounts: [Int]) {
        var queue = queue(TransmitLimits(dutyCyclePartsPerMillion: 10_000))
        var output = ModemOutput()
        let now = Instant(microseconds: 0)
        for number in 0..<5 {
            queue.add(packets(byteCounts), at: now)
            #expect((queue.next(at: now, reportingTo: &output) != nil) == (number < 3), "answer \(number)")
        }
        #expect(airtime(output) == 9_000_000)
    }

    @Test(arguments: [1, 2, 3, 5]) func answersOfSeveralPacketsKeepToTheAirtimeOfAnHour(packetCount: Int) {
        var queue = queue(TransmitLimits(dutyCyclePartsPerMillion: 10_000))
        var output = ModemOutput()
        for second in 0..<3600 {
            let now = Instant(microseconds: Int64(second) * 1_000_000)
            queue.add(packets(Array(repeating: 2, count: packetCount)), at: now)
            while queue.next(at: now, reportingTo: &output) != nil {}
        }
        #expect(airtime(output) <= 36_000_000)
        #expect(airtime(output) > 35_000_000 - Int64(packetCount) * 200_000, "what is allowed is used")
        let waits = output.events.count { if case .notice(.dutyCycleReached(_, isStart: false)) = $0 { true } else { false } }
        #expect((50...60).contains(waits), "once a minute at most: \(waits)")
    }

    /// Three packets of 50 ms each in one answer, and 100 ms of dwell time: the limit is for one frame.
    @Test func theDwellTimeIsOfOneFrameAndNotOfTheAnswer() {
        var queue = queue(TransmitLimits(dwellMicroseconds: 100_000), millisecondsPerByte: 1)
        var output = ModemOutput()
        let now = Instant(microseconds: 0)
        queue.add(packets([50, 100, 50]), at: now)
        #expect(queue.next(at: now, reportingTo: &output)?.map(\.count) == [50, 100, 50])
        #expect(output.events == [.transmits(airtimeMicroseconds: 200_000)])
    }

    @Test func severalPacketsThatAreTooLongAreToldOnceAMinute() {
        var queue = queue(TransmitLimits(dwellMicroseconds: 100_000), millisecondsPerByte: 1)
        var output = ModemOutput()
        for second in [0, 30, 59, 60, 61, 119, 120] as [Int64] {
            let now = Instant(microseconds: second * 1_000_000)
            queue.add(packets([101, 102]), at: now)
            #expect(queue.next(at: now, reportingTo: &output) == nil)
        }
        let told = output.events.count { $0 == .notice(.dwellTimeExceeded(airtimeMicroseconds: 101_000, limitMicroseconds: 100_000)) }
        #expect(told == 3)
        #expect(output.events.count == 3)
    }

    @Test func answersGoOutInTheirOrderOneAtATime() {
        var queue = queue(TransmitLimits())
        var output = ModemOutput()
        let now = Instant(microseconds: 0)
        for count in 1...3 { queue.add(packets([count, count]), at: now) }
        #expect(!queue.isEmpty)
        for count in 1...3 { #expect(queue.next(at: now, reportingTo: &output)?.map(\.count) == [count, count]) }
        #expect(queue.isEmpty)
        #expect(queue.next(at: now, reportingTo: &output) == nil)
    }

    @Test func anAnswerThatWaitedAsLongAsTheCollarIsDropped() {
        for (wait, isSent) in [(Self.turnaround - 1, true), (Self.turnaround, false)] {
            var queue = queue(TransmitLimits())
            var output = ModemOutput()
            queue.add(packets([1]), at: Instant(microseconds: 0))
            #expect((queue.next(at: Instant(microseconds: wait), reportingTo: &output) != nil) == isSent)
            #expect(output.events.isEmpty != isSent)
        }
    }

    /// The oldest one is the first that comes too late.
    @Test func ofMoreThanSixtyFourAnswersTheOldestAreDropped() {
        var queue = queue(TransmitLimits())
        var output = ModemOutput()
        let now = Instant(microseconds: 0)
        for count in 1...66 { queue.add(packets([count]), at: now) }
        var sent: [Int] = []
        while let packets = queue.next(at: now, reportingTo: &output) { sent += packets.map(\.count) }
        #expect(sent == Array(3...66))
    }

    @Test func withoutARegionNothingIsSentAndNothingIsTold() {
        var queue = queue(nil)
        var output = ModemOutput()
        queue.add(packets([1]), at: Instant(microseconds: 0))
        queue.add(packets([1]), at: Instant(microseconds: 0))
        #expect(queue.next(at: Instant(microseconds: 0), reportingTo: &output) == nil)
        #expect(queue.isEmpty)
        #expect(output.events.isEmpty)
    }

    @Test func whatWasRemovedIsNotSent() {
        var queue = queue(TransmitLimits())
        var output = ModemOutput()
        queue.add(packets([1]), at: Instant(microseconds: 0))
        queue.removeAll()
        #expect(queue.isEmpty)
        #expect(queue.next(at: Instant(microseconds: 0), reportingTo: &output) == nil)
    }

    /// The budget of a radio that may have sent before is empty, and grows by 7.5 ms a second at 1 %.
    @Test(arguments: [(2, 27, true), (2, 26, false), (3, 39, false)] as [(Int, Int64, Bool)])
    func theFirstAirtimeIsEarned(byteCount: Int, second: Int64, isSent: Bool) {
        var queue = queue(TransmitLimits(dutyCyclePartsPerMillion: 10_000), isRested: false)
        var output = ModemOutput()
        let now = Instant(microseconds: second * 1_000_000)
        queue.add(packets([byteCount]), at: now)
        #expect((queue.next(at: now, reportingTo: &output) != nil) == isSent)
    }

    /// A wait of up to half a minute at the start is no news; afterwards each is.
    @Test func shortWaitsAreToldOnlyAfterTheFirstAnswer() {
        for (byteCount, isTold) in [(2, false), (3, true)] {
            var queue = queue(TransmitLimits(dutyCyclePartsPerMillion: 10_000), isRested: false)
            var output = ModemOutput()
            let now = Instant(microseconds: 0)
            queue.add(packets([byteCount]), at: now)
            #expect(queue.next(at: now, reportingTo: &output) == nil)
            let told = output.events.count { if case .notice(.dutyCycleReached(_, isStart: true)) = $0 { true } else { false } }
            #expect(told == (isTold ? 1 : 0))
        }
        var queue = queue(TransmitLimits(dutyCyclePartsPerMillion: 10_000))
        var output = ModemOutput()
        let now = Instant(microseconds: 0)
        for count in [90, 1] {
            queue.add(packets([count]), at: now)
            _ = queue.next(at: now, reportingTo: &output)
        }
        #expect(output.events.last.map { if case .notice(.dutyCycleReached(_, isStart: false)) = $0 { true } else { false } } == true)
    }

    /// An answer that was too long was not sent, so the next one is still the first.
    @Test func aShortWaitIsNoNewsUntilAnAnswerWasSent() {
        var queue = queue(TransmitLimits(dutyCyclePartsPerMillion: 10_000, dwellMicroseconds: 400_000), isRested: false)
        var output = ModemOutput()
        let now = Instant(microseconds: 0)
        for count in [5, 2] {
            queue.add(packets([count]), at: now)
            #expect(queue.next(at: now, reportingTo: &output) == nil)
        }
        let dwell = ModemEvent.notice(.dwellTimeExceeded(airtimeMicroseconds: 500_000, limitMicroseconds: 400_000))
        #expect(output.events == [dwell, .airtime(isShort: true)])
    }
}
