import CollarARQ
import CollarWire
import Testing

/// The effects of requests: replies in bursts, a longer window, a new receiver and a new heartbeat.
@Suite struct CollarReplyTests {
    @Test func repliesGoFirstAndAreFramesOfTheBurst() {
        var bench = Bench.introduced(log: 0..<6, delivered: 0)
        bench.delivery.replyWaits(frameCount: 2)
        #expect(bench.sendAll() == [.reply(), .reply(), .entry(5), .entry(0, poll: 2)])
    }

    @Test func moreRepliesThanABurstHasFramesGoOnInTheNext() {
        var bench = Bench.introduced(log: 0..<1, delivered: 0)
        bench.delivery.replyWaits(frameCount: 5)
        #expect(bench.sendAll() == [.reply(), .reply(), .reply(), .reply(poll: 2)])
        #expect(bench.receive(acknowledgement(0, poll: 2)) == .answer)
        #expect(bench.sendAll() == [.reply(), .entry(0, poll: 3)])
    }

    @Test func outOfContactRepliesWait() {
        var bench = Bench.introduced(log: 0..<2, delivered: 0)
        #expect(bench.sendAll() == [.entry(1), .entry(0, poll: 2)])
        bench.delivery.replyWaits(frameCount: 1)
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.entry(1, poll: 3)])
        #expect(bench.receive(acknowledgement(2, poll: 3)) == .answer)
        #expect(bench.sendAll() == [.reply(poll: 4)])
    }

    @Test func aReplyAloneIsABurst() {
        var bench = Bench.introduced(log: 0..<2, delivered: 2)
        #expect(bench.sendAll() == [])
        bench.delivery.replyWaits(frameCount: 1)
        #expect(bench.sendAll() == [.reply(poll: 2)])
    }

    /// The time-out of the bench is 100 ms: 40 ms of turnaround and 60 ms of airtime.
    @Test func eachOfTwoRequestsMakesTheWindowLonger() {
        var bench = Bench.introduced(log: 0..<2, delivered: 0)
        #expect(bench.sendAll().count == 2)
        for _ in 0..<2 {
            bench.now = bench.now.advanced(byMicroseconds: 90 * millisecond)
            bench.delivery.requestReceived(now: bench.now)
            #expect(bench.delivery.nextDeadline == bench.now.advanced(byMicroseconds: 100 * millisecond))
        }
        let deadline = bench.delivery.nextDeadline
        bench.now = bench.now.advanced(byMicroseconds: 90 * millisecond)
        bench.delivery.requestReceived(now: bench.now)
        #expect(bench.delivery.nextDeadline == deadline)
    }

    @Test func aRequestNeverMakesTheWindowShorter() {
        var bench = Bench.introduced(log: 0..<2, delivered: 0)
        #expect(bench.sendAll().count == 2)
        for _ in 0..<3 {
            _ = bench.waitForDeadline()
            #expect(bench.sendAll().count == 1)
        }
        let deadline = bench.delivery.nextDeadline
        bench.delivery.requestReceived(now: bench.now)
        #expect(bench.delivery.nextDeadline == deadline)
    }

    @Test func aNewReceiverIsOfferedEverythingAfterRepliesAndIdentity() {
        var bench = Bench.introduced(log: 0..<3, delivered: 3)
        bench.delivery.receiverChanged(now: bench.now)
        bench.delivery.replyWaits(frameCount: 1)
        #expect(bench.sendAll() == [])
        #expect(bench.waitForDeadline() == 100 * millisecond)
        #expect(bench.sendAll() == [.reply(), .identity(poll: 2)])
        #expect(bench.receive(acknowledgement(0, poll: 2)) == .answer)
        #expect(bench.sendAll() == [.entry(2), .entry(0), .entry(1, poll: 3)])
    }

    @Test func theHeartbeatChangesAtOnce() {
        var bench = Bench.introduced(log: 0..<2, delivered: 2)
        bench.delivery.setHeartbeat(microseconds: 3000 * millisecond, now: bench.now)
        // The identity names the new one.
        #expect(bench.sendAll() == [.identity(poll: 2)])
        #expect(bench.receive(acknowledgement(2, poll: 2)) == .answer)
        #expect(bench.waitForDeadline() == 3000 * millisecond)
        #expect(bench.sendAll() == [.probe(poll: 3)])
    }
}
