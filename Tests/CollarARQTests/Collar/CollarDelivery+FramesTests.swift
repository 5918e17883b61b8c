import CollarARQ
import CollarWire
import Testing

/// The frames that a collar sends while its polls are answered, and their order.
@Suite struct CollarBurstTests {
    @Test func theFirstFrameIsTheIdentityAndPolls() {
        var bench = Bench(log: 0..<3)
        #expect(bench.send() == .identity(poll: 1))
        #expect(bench.send() == nil)
        #expect(bench.delivery.nextDeadline == bench.now.advanced(byMicroseconds: 100 * millisecond))
    }

    @Test func theNewestFixComesFirstThenTheBacklogOldestFirst() {
        var bench = Bench.introduced(log: 0..<4)
        #expect(bench.sendAll() == [.entry(3), .entry(0), .entry(1), .entry(2, poll: 2)])
        #expect(bench.delivery.delivered.firstMissing == 0)
    }

    @Test func aBurstEndsWithAPollWhenItIsFull() {
        var bench = Bench.introduced(log: 0..<10)
        #expect(bench.sendAll() == [.entry(9), .entry(0), .entry(1), .entry(2, poll: 2)])
        #expect(bench.receive(acknowledgement(3, poll: 2, durable: [9...9])) == .answer)
        #expect(bench.sendAll() == [.entry(3), .entry(4), .entry(5), .entry(6, poll: 3)])
    }

    @Test func aBurstOfOneFramePollsWithIt() {
        var bench = Bench.introduced(log: 0..<1)
        #expect(bench.sendAll() == [.entry(0, poll: 2)])
        #expect(bench.receive(acknowledgement(1, poll: 2)) == .answer)
        #expect(bench.sendAll() == [])
        bench.delivery.logChanged(oldestSequence: 0, nextSequence: 2)
        #expect(bench.sendAll() == [.entry(1, poll: 3)])
    }

    @Test func aBurstLimitOfOnePollsWithEveryFrame() {
        var configuration = CollarDelivery.Configuration.small
        configuration.burstFrameCount = 1
        var bench = Bench.introduced(log: 0..<3, configuration: configuration)
        #expect(bench.sendAll() == [.entry(2, poll: 2)])
        #expect(bench.receive(acknowledgement(0, poll: 2, durable: [2...2])) == .answer)
        #expect(bench.sendAll() == [.entry(0, poll: 3)])
    }

    @Test func nothingIsSentWhileAPollIsOnTheAirOrOpen() {
        var delivery = CollarDelivery(
            configuration: .small, oldestSequence: 0, nextSequence: 5, firstUndelivered: 0,
            now: Instant(microseconds: 0))
        let start = Instant(microseconds: 1000)
        #expect(delivery.nextTransmission(now: start).map(Sent.init) == .identity(poll: 1))
        #expect(delivery.nextDeadline == nil)
        #expect(delivery.nextTransmission(now: start.advanced(byMicroseconds: 1 << 40)).map(Sent.init) == nil)
        delivery.transmitted(frameByteCount: 1, now: start)
        let deadline = start.advanced(byMicroseconds: 100 * millisecond)
        #expect(delivery.nextDeadline == deadline)
        delivery.logChanged(oldestSequence: 0, nextSequence: 9)
        #expect(delivery.nextTransmission(now: deadline.advanced(byMicroseconds: -1)).map(Sent.init) == nil)
        #expect(delivery.nextDeadline == deadline)
        #expect(delivery.nextTransmission(now: deadline).map(Sent.init) == .entry(8, poll: 2))
    }

    @Test func aFixMadeDuringABurstWaitsUntilTheBacklogHasHadItsShare() {
        var bench = Bench.introduced(log: 0..<8)
        #expect(bench.send() == .entry(7))
        #expect(bench.send() == .entry(0))
        bench.delivery.logChanged(oldestSequence: 0, nextSequence: 9)
        #expect(bench.sendAll() == [.entry(1), .entry(8, poll: 2)])
    }

    @Test func whatIsDeliveredIsNotSent() {
        var bench = Bench.introduced(log: 0..<10, delivered: 2, durable: [9...9, 7...7, 3...5])
        #expect(bench.sendAll() == [.entry(2), .entry(6), .entry(8, poll: 2)])
    }

    @Test func whatWasAcknowledgedBeforeTheBootIsNotSent() {
        var bench = Bench(log: 0..<6, firstUndelivered: 5)
        #expect(bench.send() == .identity(poll: 1))
        _ = bench.waitForDeadline()
        #expect(bench.delivery.delivered.firstMissing == 5)
        #expect(bench.send() == .entry(5, poll: 2))
        #expect(bench.receive(acknowledgement(5, poll: 2)) == .answer)
        #expect(bench.sendAll() == [.entry(5, poll: 3)])
    }

    @Test func pollNumbersRunFromOneToSevenAndAround() {
        var bench = Bench(log: 0..<0)
        var polls: [UInt8] = []
        for _ in 0..<9 {
            _ = bench.waitForDeadline()
            if let poll = bench.send()?.poll { polls.append(poll.rawValue) }
        }
        #expect(polls == [1, 2, 3, 4, 5, 6, 7, 1, 2])
    }

    @Test func theHighestSequenceIsSentAndAcknowledged() {
        let last = Fix.maximumSequence
        var bench = Bench(log: (last - 1)..<(last + 1), firstUndelivered: last - 1)
        #expect(bench.send() == .identity(poll: 1))
        #expect(bench.receive(acknowledgement(last - 1, poll: 1)) == .answer)
        #expect(bench.sendAll() == [.entry(last), .entry(last - 1, poll: 2)])
        #expect(bench.receive(acknowledgement(last - 1, poll: 2, durable: [last...last])) == .answer)
        #expect(bench.sendAll() == [.entry(last - 1, poll: 3)])
        #expect(bench.receive(acknowledgement(last + 1, poll: 3)) == .answer)
        #expect(bench.sendAll() == [])
        #expect(bench.delivery.delivered.firstMissing == last + 1)
    }
}

/// The batches and live fixes that a collar sends.
@Suite struct CollarBatchTests {
    private var configuration: CollarDelivery.Configuration {
        var configuration = CollarDelivery.Configuration.small
        configuration.batchFrameByteLimit = 253
        configuration.sendsLiveFixes = true
        return configuration
    }

    @Test func theBacklogGoesInBatchesAndTheLastOnePolls() {
        var bench = Bench.introduced(log: 0..<100, configuration: configuration)
        #expect(bench.send() == .entry(99))
        #expect(bench.send() == .batch(0))
        #expect(bench.delivery.batched(through: 49) == nil)
        #expect(bench.send() == .batch(50))
        #expect(bench.delivery.batched(through: 98) == PollNumber(rawValue: 2))
        bench.delivery.transmitted(frameByteCount: 1, now: bench.now)
        #expect(bench.send() == nil)
    }

    @Test func aBatchLeavesOutWhatIsDelivered() {
        var bench = Bench.introduced(
            log: 0..<20, delivered: 3, durable: [5...9], configuration: configuration)
        #expect(bench.delivery.undelivered(after: 3) == 4)
        #expect(bench.delivery.undelivered(after: 4) == 10)
        #expect(bench.delivery.undelivered(after: 18) == 19)
        #expect(bench.delivery.undelivered(after: 19) == nil)
    }

    @Test func theNewestFixIsLiveOnceAgainstTheHighestAcknowledgedOne() {
        var bench = Bench.introduced(log: 0..<10, delivered: 10, configuration: configuration)
        bench.delivery.logChanged(oldestSequence: 0, nextSequence: 11)
        #expect(bench.send() == .live(10, anchor: 9, poll: 2))
        #expect(bench.receive(acknowledgement(10, poll: 2)) == .answer)
        // The fix is not delivered, so it is sent again, now in the absolute form.
        #expect(bench.sendAll() == [.entry(10, poll: 3)])
    }

    @Test func noFixIsLiveFarFromItsAnchor() {
        for (next, isLive) in [(137 as UInt32, true), (138, false)] {
            var bench = Bench.introduced(log: 0..<10, delivered: 10, configuration: configuration)
            bench.delivery.logChanged(oldestSequence: 0, nextSequence: next)
            let sent = bench.send()
            #expect((sent == .live(next - 1, anchor: 9)) == isLive)
        }
    }

    @Test func newestFixesGetAQuarterOfTheAirtimeOfALongBacklog() {
        var configuration = configuration
        configuration.burstFrameCount = 1000
        var bench = Bench.introduced(log: 0..<100_000, configuration: configuration)
        var newestCount = 0
        var next: UInt32 = 100_000
        for _ in 0..<400 {
            next += 1
            bench.delivery.logChanged(oldestSequence: 0, nextSequence: next)
            guard let sent = bench.send() else { break }
            if case .batch(let first, _) = sent.content {
                #expect(bench.delivery.batched(through: first + 9) == nil)
            } else {
                newestCount += 1
            }
        }
        #expect(newestCount >= 95 && newestCount <= 102)
    }

    @Test func batchesShrinkWhereTheyAreLostAndGrowAgain() {
        var bench = Bench.introduced(log: 0..<100_000, configuration: configuration)
        var limits: [Int] = []
        for round in 0..<12 {
            let (last, poll) = sendBurst(&bench, &limits)
            let arrives = round >= 4
            let answer = acknowledgement(
                arrives ? last + 1 : 0, poll: poll?.rawValue, durable: arrives ? [99_999...99_999] : [])
            #expect(bench.receive(answer) == .answer)
        }
        #expect(limits.first == 253)
        #expect(limits.contains(126))
        #expect(limits.last == 253)
    }

    /// Sends a burst of batches with ten fixes each, and appends the size limit of each batch to `limits`.
    /// - Returns: the last sequence of the last batch, and the poll that ends the burst.
    private func sendBurst(_ bench: inout Bench, _ limits: inout [Int]) -> (last: UInt32, poll: PollNumber?) {
        var last: UInt32 = 0
        while let sent = bench.send() {
            if let poll = sent.poll { return (last, poll) }
            guard case .batch(let first, let limit) = sent.content else { continue }
            limits.append(limit)
            last = first + 9
            if let poll = bench.delivery.batched(through: last) {
                bench.delivery.transmitted(frameByteCount: 1, now: bench.now)
                return (last, poll)
            }
        }
        return (last, nil)
    }

    @Test func aTombstoneInPlaceOfABatchCountsAsAFrame() {
        var bench = Bench.introduced(log: 0..<100, configuration: configuration)
        #expect(bench.send() == .entry(99))
        #expect(bench.send() == .batch(0))
        #expect(bench.delivery.tombstoned(through: 9) == nil)
        #expect(bench.send() == .batch(10))
    }

    /// A range that begins above the first missing sequence is reported once in a burst, and not until the burst is full.
    @Test func aTombstoneAfterDeliveredFixesIsSentOnce() {
        var bench = Bench.introduced(log: 0..<100, configuration: configuration)
        _ = bench.send()
        #expect(bench.send() == .batch(0))
        #expect(bench.delivery.batched(through: 4) == nil)
        #expect(bench.send() == .batch(5))
        #expect(bench.delivery.tombstoned(through: 5) == nil)
        #expect(bench.send() == .batch(6))
    }
}

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
