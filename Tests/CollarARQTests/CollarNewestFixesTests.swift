import CollarARQ
import CollarWire
import Testing

/// The frames that a collar sends after unanswered polls, if it may send batches.
@Suite struct CollarNewestFixesTests {
    private var configuration: CollarDelivery.Configuration {
        var configuration = CollarDelivery.Configuration.small
        configuration.batchFrameByteLimit = 253
        configuration.sendsLiveFixes = true
        return configuration
    }

    /// Lets the time-out pass and sends one frame. If the frame holds newest fixes, all of them count as sent, as if all fitted.
    private func retry(_ bench: inout Bench) -> Sent? {
        _ = bench.waitForDeadline()
        let sent = bench.send()
        if case .newestFixes(let first, let last, _) = sent?.content {
            bench.delivery.sentNewest(from: first, through: last)
        }
        #expect(bench.send() == nil)
        return sent
    }

    @Test func theThreeNewestGoTogetherAndTheIdentityEveryFourthTime() {
        var bench = Bench(log: 0..<9, configuration: configuration)
        #expect(bench.send() == .identity(poll: 1))
        var sent: [Sent?] = []
        for _ in 0..<6 { sent.append(retry(&bench)) }
        #expect(
            sent == [
                .newest(6, 8, poll: 2), .newest(6, 8, poll: 3), .newest(6, 8, poll: 4), .identity(poll: 5),
                .newest(6, 8, poll: 6), .newest(6, 8, poll: 7),
            ])
    }

    @Test func theTimeoutsAreThoseOfASingleFix() {
        var bench = Bench(log: 0..<9, configuration: configuration)
        #expect(bench.send() == .identity(poll: 1))
        var waits: [Int64] = []
        for _ in 0..<10 {
            if let wait = bench.waitForDeadline() { waits.append(wait / millisecond) }
            #expect(bench.sendAll().count == 1)
        }
        #expect(waits == [100, 100, 100, 200, 200, 200, 400, 400, 400, 800])
    }

    @Test func twoMissingFixesGoTogetherAndOneAloneIsAbsolute() {
        for (delivered, expected) in [(7, .newest(7, 8, poll: 3)), (8, .entry(8, poll: 3))] as [(UInt32, Sent)] {
            var bench = Bench.introduced(log: 0..<9, delivered: delivered, configuration: configuration)
            while bench.delivery.nextDeadline != nil, let sent = bench.send(), sent.poll == nil {}
            #expect(retry(&bench) == expected)
        }
    }

    @Test func whatIsDeliveredIsLeftOut() {
        var bench = Bench.introduced(log: 0..<10, delivered: 3, durable: [8...8, 5...6], configuration: configuration)
        #expect(bench.send() == .live(9, anchor: 8))
        #expect(bench.send() == .batch(3))
        #expect(bench.delivery.undelivered(after: 7) == nil)
        #expect(bench.delivery.batched(through: 7) == PollNumber(rawValue: 2))
        bench.delivery.transmitted(frameByteCount: 1, now: bench.now)
        #expect(retry(&bench) == .newest(4, 9, poll: 3))
        #expect([4, 7, 9].map { bench.delivery.undelivered(after: $0) } == [7, 9, nil])
    }

    @Test func whatIsOverwrittenIsLeftOut() {
        for (oldest, expected) in [(7, .newest(7, 8, poll: 2)), (8, .entry(8, poll: 2))] as [(UInt32, Sent)] {
            var bench = Bench(log: oldest..<9, configuration: configuration)
            #expect(bench.send() == .identity(poll: 1))
            #expect(retry(&bench) == expected)
        }
    }

    @Test func ofALongBacklogOnlyTheNewestGoes() {
        for (next, expected) in [(20, .newest(17, 19, poll: 2)), (21, .entry(20, poll: 2))] as [(UInt32, Sent)] {
            var bench = Bench(log: 0..<next, firstUndelivered: 4, configuration: configuration)
            #expect(bench.send() == .identity(poll: 1))
            #expect(retry(&bench) == expected)
        }
    }

    @Test func whatWasSentTogetherIsNotSentLiveAfterwards() {
        for isRetried in [true, false] {
            var bench = Bench.introduced(log: 0..<5, delivered: 5, configuration: configuration)
            bench.delivery.logChanged(oldestSequence: 0, nextSequence: 6)
            #expect(bench.send() == .live(5, anchor: 4, poll: 2))
            bench.delivery.logChanged(oldestSequence: 0, nextSequence: 7)
            if isRetried { #expect(retry(&bench) == .newest(5, 6, poll: 3)) }
            #expect(bench.receive(acknowledgement(5, poll: isRetried ? 3 : 2)) == .answer)
            #expect(bench.send() == (isRetried ? .entry(6) : .live(6, anchor: 4)))
        }
    }

    @Test func aFrameThatHoldsWhatWasSentBeforeCountsAsRepeated() {
        var bench = Bench.introduced(log: 0..<5, delivered: 5, configuration: configuration)
        bench.delivery.logChanged(oldestSequence: 0, nextSequence: 6)
        #expect(bench.send() == .live(5, anchor: 4, poll: 2))
        bench.delivery.logChanged(oldestSequence: 0, nextSequence: 8)
        _ = bench.waitForDeadline()
        #expect(bench.send() == .newest(5, 7, poll: 3))
        // The oldest of the three fixes did not fit.
        bench.delivery.sentNewest(from: 6, through: 7)
        #expect(bench.delivery.retransmissionCount == 0)
        bench.delivery.logChanged(oldestSequence: 0, nextSequence: 9)
        #expect(retry(&bench) == .newest(6, 8, poll: 4))
        #expect(bench.delivery.retransmissionCount == 1)
    }

    @Test func theBacklogGoesOnAsIfOnlyTheNewestHadBeenSent() {
        var bench = Bench.introduced(log: 0..<12, configuration: configuration)
        #expect(bench.send() == .entry(11))
        #expect(bench.send() == .batch(0))
        #expect(bench.delivery.batched(through: 10) == PollNumber(rawValue: 2))
        bench.delivery.transmitted(frameByteCount: 1, now: bench.now)
        for _ in 0..<20 { _ = retry(&bench) }
        // The twentieth poll after poll 2 has the number 1.
        #expect(bench.receive(acknowledgement(4, poll: 1, durable: [11...11])) == .answer)
        // Frames that are lost after an unanswered poll do not make batches smaller.
        #expect(bench.send() == .batch(4, limit: 253))
        #expect(bench.delivery.undelivered(after: 4) == 5)
        #expect(bench.delivery.undelivered(after: 10) == nil)
    }
}
