import CollarARQ
import CollarWire
import Testing

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
