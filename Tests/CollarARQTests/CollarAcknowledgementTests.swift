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
        #expect(bench.sendAll() == [.entry(1), .entry(2, ask: 4)])
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

    @Test func aWatermarkNeverGoesBack() {
        var bench = Bench.introduced(log: 0..<6, delivered: 4)
        #expect(bench.receive(acknowledgement(1, ask: nil)) == .unasked)
        #expect(bench.sendAll() == [.entry(5), .entry(4, ask: 2)])
        #expect(bench.receive(acknowledgement(2, ask: 2)) == .answer)
        #expect(bench.delivery.delivered.firstMissing == 4)
        #expect(bench.sendAll() == [.entry(5), .entry(4, ask: 3)])
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
