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
