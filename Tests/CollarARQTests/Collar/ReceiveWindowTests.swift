import CollarARQ
import CollarWire
import Testing

/// When the radio of a collar must receive. The answer to a poll comes within 100 ms: 40 ms of turnaround and 60 ms of airtime. Each
/// frame takes 10 ms.
@Suite struct ReceiveWindowTests {
    private static var halfDuplex: CollarDelivery.Configuration {
        var configuration = CollarDelivery.Configuration.small
        configuration.modem.isHalfDuplex = true
        return configuration
    }

    /// A collar that has sent its first poll, at 10 ms.
    private func polled() -> Bench {
        var bench = Bench(log: 0..<2, configuration: Self.halfDuplex)
        #expect(bench.delivery.listeningEnd(now: bench.now) == nil)
        #expect(bench.send() == .identity(poll: 1))
        return bench
    }

    /// The time until which the radio must receive, in milliseconds; nil if it need not.
    private func end(_ bench: Bench) -> Int64? { bench.delivery.listeningEnd(now: bench.now).map { $0.microseconds / millisecond } }

    private func total(_ bench: Bench) -> Int64 { bench.delivery.listeningMicroseconds(now: bench.now) / millisecond }

    @Test func itReceivesFromThePollUntilNoAnswerCanComeAnyMore() {
        var bench = polled()
        #expect(end(bench) == 110 && total(bench) == 0)
        bench.now = Instant(microseconds: 109_999)
        #expect(end(bench) == 110 && total(bench) == 99)
        bench.now = Instant(microseconds: 110_000)
        #expect(end(bench) == nil && total(bench) == 100)
        bench.now = Instant(microseconds: 5_000_000)
        #expect(end(bench) == nil && total(bench) == 100)
    }

    @Test func theAnswerEndsTheWindow() {
        var bench = polled()
        bench.now = Instant(microseconds: 60_000)
        #expect(bench.receive(acknowledgement(0, poll: nil)) == .unasked)
        #expect(end(bench) == 110, "it is the answer to no poll")
        #expect(bench.receive(acknowledgement(0, poll: 1)) == .answer)
        #expect(end(bench) == nil && total(bench) == 50)
        // A frame without a poll opens none; the next poll does.
        #expect(bench.send() == .entry(1))
        #expect(end(bench) == nil)
        #expect(bench.send() == .entry(0, poll: 2))
        #expect(end(bench) == 180 && total(bench) == 50)
    }

    @Test func anAnswerThatComesBeforeThePollIsOverLeavesNoWindow() {
        var delivery = CollarDelivery(
            configuration: Self.halfDuplex, oldestSequence: 0, nextSequence: 0, firstUndelivered: 0, now: Instant(microseconds: 0))
        let now = Instant(microseconds: 5)
        #expect(delivery.nextTransmission(now: now)?.poll != nil)
        #expect(delivery.receive(acknowledgement(0, poll: 1), now: now) == .answer)
        delivery.transmitted(frameByteCount: 1, now: now)
        #expect(delivery.listeningEnd(now: now) == nil)
    }

    @Test func eachOfTwoRequestsMakesItLonger() {
        var bench = polled()
        for end in [200, 290, 290] as [Int64] {
            bench.now = Instant(microseconds: (end - 100) * millisecond)
            bench.delivery.requestReceived(now: bench.now)
            #expect(self.end(bench) == end)
        }
        bench.now = Instant(microseconds: 250_000)
        bench.delivery.requestReceived(now: bench.now)
        #expect(end(bench) == 290)
        bench.now = Instant(microseconds: 280_000)
        #expect(bench.receive(acknowledgement(0, poll: 1)) == .answer)
        #expect(end(bench) == nil && total(bench) == 270)
    }

    @Test func theNextFrameEndsTheWindow() {
        var bench = polled()
        // A request of the identity gives the poll up.
        bench.now = Instant(microseconds: 40_000)
        bench.delivery.identityRequested()
        #expect(end(bench) == 110)
        _ = bench.delivery.nextTransmission(now: bench.now)
        #expect(end(bench) == nil && total(bench) == 30)
    }

    @Test func outOfContactEachPollOpensAWindow() {
        var bench = polled()
        var expected: Int64 = 100
        for attempt in 1...9 as ClosedRange<Int64> {
            _ = bench.waitForDeadline()
            #expect(end(bench) == nil && total(bench) == expected)
            #expect(bench.send() != nil)
            // Twice the time of an answer, as soon as the time-out is that long: every third one doubles it.
            let window: Int64 = attempt < 3 ? 100 : 200
            #expect(end(bench) == bench.now.microseconds / millisecond + window)
            expected += window
        }
    }

    @Test func aFullDuplexLinkAlwaysReceives() {
        var bench = Bench(log: 0..<2)
        #expect(bench.delivery.listeningEnd(now: bench.now) == Instant(microseconds: .max))
        #expect(bench.send() == .identity(poll: 1))
        #expect(bench.delivery.listeningEnd(now: bench.now) == Instant(microseconds: .max))
    }

    @Test func theLongestWaitIsObeyedFromTheNextPollOn() {
        var bench = Bench(log: 0..<2)
        var waits: [Int64] = []
        for number in 0..<24 {
            #expect(bench.send() != nil)
            if number == 12 { bench.delivery.setLongestWait(microseconds: 5000 * millisecond) }
            if let wait = bench.waitForDeadline() { waits.append(wait / millisecond) }
        }
        #expect(waits == [
            100, 100, 100, 200, 200, 200, 400, 400, 400, 800, 800, 800, 1000, 1600, 1600, 3200, 3200, 3200,
            5000, 5000, 5000, 5000, 5000, 5000,
        ])
    }
}
