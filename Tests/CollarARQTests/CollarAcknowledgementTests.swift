import CollarARQ
import CollarWire
import Testing

/// What an acknowledgement changes, and what it must not change.
@Suite struct CollarAcknowledgementTests {
    @Test func whatIsNotNamedDurableIsSentAgain() {
        var bench = Bench.introduced(log: 0..<4)
        #expect(bench.sendAll() == [.entry(3), .entry(0), .entry(1), .entry(2, ask: 2)])
        #expect(bench.receive(acknowledgement(1, ask: 2, durable: [3...3])) == .answer)
        #expect(bench.sendAll() == [.entry(1), .entry(2, ask: 3)])
        #expect(bench.receive(acknowledgement(0, ask: 3, durable: [3...3])) == .answer)
        #expect(bench.sendAll() == [.entry(0), .entry(1), .entry(2, ask: 4)])
        #expect(bench.receive(acknowledgement(4, ask: 4)) == .answer)
        #expect(bench.sendAll() == [])
        #expect(bench.delivery.delivered.firstMissing == 4)
    }

    @Test func aDurableRangeThatIsNotNamedAnyMoreIsSentAgain() {
        var bench = Bench.introduced(log: 0..<4, delivered: 0, durable: [3...3, 1...1])
        #expect(bench.sendAll() == [.entry(0), .entry(2, ask: 2)])
        #expect(bench.receive(acknowledgement(0, ask: 2, durable: [3...3])) == .answer)
        #expect(bench.sendAll() == [.entry(0), .entry(1), .entry(2, ask: 3)])
    }

    @Test func anAnswerMayComeBeforeTheAskIsOver() {
        var delivery = CollarDelivery(
            configuration: .small, oldestSequence: 0, nextSequence: 1, firstUndelivered: 0,
            now: Instant(microseconds: 0))
        let now = Instant(microseconds: 5)
        #expect(delivery.nextTransmission(now: now).map(Sent.init) == .identity(ask: 1))
        #expect(delivery.received(acknowledgement(0, ask: 1), now: now) == .answer)
        delivery.transmitted(frameByteCount: 1, now: now)
        #expect(delivery.nextTransmission(now: now).map(Sent.init) == .entry(0, ask: 2))
    }

    @Test func aLateAnswerChangesOnlyTheWatermark() {
        var bench = Bench.introduced(log: 0..<6)
        #expect(bench.sendAll().last == .entry(2, ask: 2))
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.entry(5, ask: 3)])
        let deadline = bench.delivery.nextDeadline
        let late = acknowledgement(2, ask: 2, durable: [5...5], resend: [0...0])
        #expect(bench.receive(late) == .unasked)
        #expect(bench.delivery.delivered == DeliveredSequences(firstMissing: 2))
        #expect(bench.delivery.nextDeadline == deadline)
        #expect(bench.sendAll() == [])
        #expect(bench.receive(acknowledgement(2, ask: 3)) == .answer)
        #expect(bench.sendAll() == [.entry(5), .entry(2), .entry(3), .entry(4, ask: 4)])
    }

    @Test func aSecondAnswerToTheSameAskIsLate() {
        var bench = Bench.introduced(log: 0..<2)
        #expect(bench.send() == .entry(1))
        #expect(bench.receive(acknowledgement(0, ask: 1, resend: [0...0])) == .unasked)
        #expect(bench.sendAll() == [.entry(0, ask: 2)])
    }

    @Test func anAcknowledgementWithoutAnAskNeverAnswers() {
        var bench = Bench(log: 0..<2)
        #expect(bench.receive(acknowledgement(1, ask: nil)) == .unasked)
        #expect(bench.send() == .identity(ask: 1))
        #expect(bench.receive(acknowledgement(2, ask: nil)) == .unasked)
        #expect(bench.send() == nil)
        #expect(bench.delivery.delivered.firstMissing == 2)
    }

    @Test func onlyTheAnswerToTheOpenAskSetsTheFirstMissingSequenceBack() {
        var bench = Bench.introduced(log: 0..<6, delivered: 4)
        #expect(bench.receive(acknowledgement(1, ask: nil)) == .unasked)
        #expect(bench.delivery.delivered.firstMissing == 4)
        #expect(bench.sendAll() == [.entry(5), .entry(4, ask: 2)])
        #expect(bench.receive(acknowledgement(2, ask: 2)) == .answer)
        #expect(bench.delivery.delivered.firstMissing == 2)
        #expect(bench.sendAll() == [.entry(5), .entry(2), .entry(3), .entry(4, ask: 3)])
        // As soon as the receiver has it again, all is as before.
        #expect(bench.receive(acknowledgement(6, ask: 3)) == .answer)
        #expect(bench.delivery.delivered.firstMissing == 6)
        #expect(bench.sendAll() == [])
    }

    /// A receiver that answers now with one state and now with another must not have the whole log sent every time.
    @Test func theFirstMissingSequenceGoesBackOnceInTenMinutes() {
        var bench = Bench.introduced(log: 0..<6, delivered: 6)
        #expect(bench.ask(after: 10, acknowledgement(2, ask: 2)) == 2)
        #expect(bench.ask(acknowledgement(6, ask: 3)) == 6)
        #expect(bench.ask(after: 10, acknowledgement(2, ask: 4)) == 6)
        #expect(bench.ask(after: 580, acknowledgement(3, ask: 5)) == 6)
        #expect(bench.ask(after: 10, acknowledgement(3, ask: 6)) == 3)
        // From there it goes on as ever.
        #expect(bench.ask(acknowledgement(4, ask: 7)) == 4)
    }

    /// What is gone comes back as little as before; that it is gone the identity tells.
    @Test func theFirstMissingSequenceDoesNotGoBackBelowTheLog() {
        var bench = Bench.introduced(log: 50..<60, delivered: 60)
        bench.now = bench.now.advanced(byMicroseconds: 10_000 * millisecond)
        #expect(bench.sendAll() == [.probe(ask: 2)])
        #expect(bench.receive(acknowledgement(20, ask: 2, durable: [56...57])) == .answer)
        #expect(bench.delivery.delivered.firstMissing == 50)
        #expect(bench.sendAll() == [.identity(ask: 3)])
        #expect(bench.receive(acknowledgement(50, ask: 3, durable: [56...57])) == .answer)
        #expect(bench.sendAll() == [.entry(59), .entry(50), .entry(51), .entry(52, ask: 4)])
    }

    @Test(arguments: [
        acknowledgement(7, ask: 2), acknowledgement(0, ask: 2, durable: [6...6]),
        acknowledgement(0, ask: 2, durable: [4...6, 2...2]), acknowledgement(.max, ask: nil),
    ])
    func anAcknowledgementOfWhatWasNeverLoggedIsIgnored(_ claim: Acknowledgement) {
        var bench = Bench.introduced(log: 0..<6)
        #expect(bench.sendAll().last == .entry(2, ask: 2))
        let deadline = bench.delivery.nextDeadline
        #expect(bench.receive(claim) == .impossible)
        #expect(bench.delivery.delivered == DeliveredSequences(firstMissing: 0))
        #expect(bench.delivery.nextDeadline == deadline)
        #expect(bench.sendAll() == [])
        #expect(bench.receive(acknowledgement(6, ask: 2)) == .answer)
    }

    @Test func everyAcknowledgementPutsTheHeartbeatOff() {
        var bench = Bench.introduced(log: 0..<2, delivered: 2)
        bench.now = bench.now.advanced(byMicroseconds: 5000 * millisecond)
        #expect(bench.receive(acknowledgement(2, ask: nil)) == .unasked)
        #expect(bench.waitForDeadline() == 10_000 * millisecond)
    }
}

extension Bench {
    /// Lets a time pass, lets the collar send until it asks, and answers it.
    /// - Returns: below what everything is delivered then.
    fileprivate mutating func ask(after seconds: Int64 = 0, _ answer: Acknowledgement) -> UInt32 {
        now = now.advanced(byMicroseconds: seconds * 1000 * millisecond)
        _ = sendAll()
        #expect(receive(answer) == .answer)
        return delivery.delivered.firstMissing
    }
}
