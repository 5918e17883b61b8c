import CollarARQ
import CollarWire
import Testing

/// The effects of acknowledgements on the collar's end of reliable delivery.
@Suite struct CollarAcknowledgementTests {
    @Test func whatIsNotNamedDurableIsSentAgain() {
        var bench = Bench.introduced(log: 0..<4)
        #expect(bench.sendAll() == [.entry(3), .entry(0), .entry(1), .entry(2, poll: 2)])
        #expect(bench.receive(acknowledgement(1, poll: 2, durable: [3...3])) == .answer)
        #expect(bench.sendAll() == [.entry(1), .entry(2, poll: 3)])
        #expect(bench.receive(acknowledgement(0, poll: 3, durable: [3...3])) == .answer)
        #expect(bench.sendAll() == [.entry(0), .entry(1), .entry(2, poll: 4)])
        #expect(bench.receive(acknowledgement(4, poll: 4)) == .answer)
        #expect(bench.sendAll() == [])
        #expect(bench.delivery.delivered.firstMissing == 4)
    }

    @Test func aDurableRangeThatIsNotNamedAnyMoreIsSentAgain() {
        var bench = Bench.introduced(log: 0..<4, delivered: 0, durable: [3...3, 1...1])
        #expect(bench.sendAll() == [.entry(0), .entry(2, poll: 2)])
        #expect(bench.receive(acknowledgement(0, poll: 2, durable: [3...3])) == .answer)
        #expect(bench.sendAll() == [.entry(0), .entry(1), .entry(2, poll: 3)])
    }

    @Test func anAnswerMayComeBeforeThePollIsOver() {
        var delivery = CollarDelivery(
            configuration: .small, oldestSequence: 0, nextSequence: 1, firstUndelivered: 0,
            now: Instant(microseconds: 0))
        let now = Instant(microseconds: 5)
        #expect(delivery.nextTransmission(now: now).map(Sent.init) == .identity(poll: 1))
        #expect(delivery.receive(acknowledgement(0, poll: 1), now: now) == .answer)
        delivery.transmitted(frameByteCount: 1, now: now)
        #expect(delivery.nextTransmission(now: now).map(Sent.init) == .entry(0, poll: 2))
    }

    @Test func aLateAnswerChangesOnlyTheWatermark() {
        var bench = Bench.introduced(log: 0..<6)
        #expect(bench.sendAll().last == .entry(2, poll: 2))
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.entry(5, poll: 3)])
        let deadline = bench.delivery.nextDeadline
        let late = acknowledgement(2, poll: 2, durable: [5...5], resend: [0...0])
        #expect(bench.receive(late) == .unasked)
        #expect(bench.delivery.delivered == DeliveredSequences(firstMissing: 2))
        #expect(bench.delivery.nextDeadline == deadline)
        #expect(bench.sendAll() == [])
        #expect(bench.receive(acknowledgement(2, poll: 3)) == .answer)
        #expect(bench.sendAll() == [.entry(5), .entry(2), .entry(3), .entry(4, poll: 4)])
    }

    @Test func aSecondAnswerToTheSamePollIsLate() {
        var bench = Bench.introduced(log: 0..<2)
        #expect(bench.send() == .entry(1))
        #expect(bench.receive(acknowledgement(0, poll: 1, resend: [0...0])) == .unasked)
        #expect(bench.sendAll() == [.entry(0, poll: 2)])
    }

    @Test func anAcknowledgementWithoutAPollNeverAnswers() {
        var bench = Bench(log: 0..<2)
        #expect(bench.receive(acknowledgement(1, poll: nil)) == .unasked)
        #expect(bench.send() == .identity(poll: 1))
        #expect(bench.receive(acknowledgement(2, poll: nil)) == .unasked)
        #expect(bench.send() == nil)
        #expect(bench.delivery.delivered.firstMissing == 2)
    }

    @Test func onlyTheAnswerToTheOpenPollSetsTheFirstMissingSequenceBack() {
        var bench = Bench.introduced(log: 0..<6, delivered: 4)
        #expect(bench.receive(acknowledgement(1, poll: nil)) == .unasked)
        #expect(bench.delivery.delivered.firstMissing == 4)
        #expect(bench.sendAll() == [.entry(5), .entry(4, poll: 2)])
        #expect(bench.receive(acknowledgement(2, poll: 2)) == .answer)
        #expect(bench.delivery.delivered.firstMissing == 2)
        #expect(bench.sendAll() == [.entry(5), .entry(2), .entry(3), .entry(4, poll: 3)])
        // When the receiver has these fixes again, the first missing sequence advances past them.
        #expect(bench.receive(acknowledgement(6, poll: 3)) == .answer)
        #expect(bench.delivery.delivered.firstMissing == 6)
        #expect(bench.sendAll() == [])
    }

    /// A receiver that alternates between two states must not get the whole log again each time.
    @Test func theFirstMissingSequenceGoesBackOnceInTenMinutes() {
        var bench = Bench.introduced(log: 0..<6, delivered: 6)
        #expect(bench.poll(after: 10, acknowledgement(2, poll: 2)) == 2)
        #expect(bench.poll(acknowledgement(6, poll: 3)) == 6)
        #expect(bench.poll(after: 10, acknowledgement(2, poll: 4)) == 6)
        #expect(bench.poll(after: 580, acknowledgement(3, poll: 5)) == 6)
        #expect(bench.poll(after: 10, acknowledgement(3, poll: 6)) == 3)
        // After that, the first missing sequence advances normally.
        #expect(bench.poll(acknowledgement(4, poll: 7)) == 4)
    }

    /// The collar cannot resend fixes that its log no longer holds. It sends its identity, which tells the receiver that these
    /// fixes are gone.
    @Test func theFirstMissingSequenceDoesNotGoBackBelowTheLog() {
        var bench = Bench.introduced(log: 50..<60, delivered: 60)
        bench.now = bench.now.advanced(byMicroseconds: 10_000 * millisecond)
        #expect(bench.sendAll() == [.probe(poll: 2)])
        #expect(bench.receive(acknowledgement(20, poll: 2, durable: [56...57])) == .answer)
        #expect(bench.delivery.delivered.firstMissing == 50)
        #expect(bench.sendAll() == [.identity(poll: 3)])
        #expect(bench.receive(acknowledgement(50, poll: 3, durable: [56...57])) == .answer)
        #expect(bench.sendAll() == [.entry(59), .entry(50), .entry(51), .entry(52, poll: 4)])
    }

    @Test(arguments: [
        acknowledgement(7, poll: 2), acknowledgement(0, poll: 2, durable: [6...6]),
        acknowledgement(0, poll: 2, durable: [4...6, 2...2]), acknowledgement(.max, poll: nil),
    ])
    func anAcknowledgementOfWhatWasNeverLoggedIsIgnored(_ claim: Acknowledgement) {
        var bench = Bench.introduced(log: 0..<6)
        #expect(bench.sendAll().last == .entry(2, poll: 2))
        let deadline = bench.delivery.nextDeadline
        #expect(bench.receive(claim) == .impossible)
        #expect(bench.delivery.delivered == DeliveredSequences(firstMissing: 0))
        #expect(bench.delivery.nextDeadline == deadline)
        #expect(bench.sendAll() == [])
        #expect(bench.receive(acknowledgement(6, poll: 2)) == .answer)
    }

    @Test func everyAcknowledgementPutsTheHeartbeatOff() {
        var bench = Bench.introduced(log: 0..<2, delivered: 2)
        bench.now = bench.now.advanced(byMicroseconds: 5000 * millisecond)
        #expect(bench.receive(acknowledgement(2, poll: nil)) == .unasked)
        #expect(bench.waitForDeadline() == 10_000 * millisecond)
    }
}

extension Bench {
    /// Lets `seconds` pass, lets the collar send until it polls, and answers the poll with `answer`.
    /// - Returns: the first missing sequence after the answer.
    fileprivate mutating func poll(after seconds: Int64 = 0, _ answer: Acknowledgement) -> UInt32 {
        now = now.advanced(byMicroseconds: seconds * 1000 * millisecond)
        _ = sendAll()
        #expect(receive(answer) == .answer)
        return delivery.delivered.firstMissing
    }
}
