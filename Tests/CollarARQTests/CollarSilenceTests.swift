import CollarARQ
import CollarWire
import Testing

/// The frames of a collar that gets no answers or has nothing to deliver.
@Suite struct CollarSilenceTests {
    @Test func outOfContactOnlyTheNewestFixIsSentAndTheIdentityEveryFourthTime() {
        var bench = Bench(log: 0..<9)
        #expect(bench.send() == .identity(poll: 1))
        var sent: [Sent] = []
        for _ in 0..<9 {
            _ = bench.waitForDeadline()
            sent += bench.sendAll()
        }
        #expect(
            sent == [
                .entry(8, poll: 2), .entry(8, poll: 3), .entry(8, poll: 4), .identity(poll: 5), .entry(8, poll: 6),
                .entry(8, poll: 7), .entry(8, poll: 1), .identity(poll: 2), .entry(8, poll: 3),
            ])
    }

    @Test func outOfContactTheNewestFixIsTheOneOfThatMoment() {
        var bench = Bench(log: 0..<9)
        #expect(bench.send() == .identity(poll: 1))
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.entry(8, poll: 2)])
        bench.delivery.logChanged(oldestSequence: 0, nextSequence: 10)
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.entry(9, poll: 3)])
    }

    @Test func outOfContactWithTheNewestFixDeliveredAProbeIsSent() {
        var bench = Bench.introduced(log: 0..<3, delivered: 0, durable: [2...2])
        #expect(bench.sendAll() == [.entry(0), .entry(1, poll: 2)])
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.probe(poll: 3)])
    }

    @Test func outOfContactWithAnEmptyLogAProbeIsSent() {
        var bench = Bench(log: 4..<4, firstUndelivered: 4)
        #expect(bench.send() == .identity(poll: 1))
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.probe(poll: 2)])
    }

    @Test func theTimeoutDoublesWithEveryThirdUpToTheCapAndAnAnswerResetsIt() {
        var bench = Bench(log: 0..<2)
        #expect(bench.send() == .identity(poll: 1))
        var waits: [Int64] = []
        for _ in 0..<14 {
            if let wait = bench.waitForDeadline() { waits.append(wait / millisecond) }
            #expect(bench.sendAll().count == 1)
        }
        #expect(waits == [100, 100, 100, 200, 200, 200, 400, 400, 400, 800, 800, 800, 1000, 1000])
        #expect(bench.receive(acknowledgement(0, poll: 1)) == .answer)
        #expect(bench.sendAll() == [.entry(1), .entry(0, poll: 2)])
        #expect(bench.waitForDeadline() == 100 * millisecond)
    }

    @Test func aTimeoutAboveTheCapIsTheCap() {
        var configuration = CollarDelivery.Configuration.small
        configuration.maximumTimeoutMicroseconds = 70 * millisecond
        var bench = Bench(log: 0..<2, configuration: configuration)
        #expect(bench.send() == .identity(poll: 1))
        #expect(bench.waitForDeadline() == 70 * millisecond)
    }

    @Test func aRestingCollarProbesAfterTheHeartbeat() {
        var bench = Bench.introduced(log: 0..<2, delivered: 2)
        #expect(bench.send() == nil)
        #expect(bench.waitForDeadline() == 10_000 * millisecond)
        #expect(bench.sendAll() == [.probe(poll: 2)])
        #expect(bench.receive(acknowledgement(2, poll: 2)) == .answer)
        #expect(bench.send() == nil)
        #expect(bench.waitForDeadline() == 10_000 * millisecond)
    }

    @Test func aRestingCollarIsSilentUntilTheHeartbeat() {
        var bench = Bench.introduced(log: 0..<2, delivered: 2)
        bench.now = bench.now.advanced(byMicroseconds: 10_000 * millisecond - 1)
        #expect(bench.send() == nil)
        bench.now = bench.now.advanced(byMicroseconds: 1)
        #expect(bench.send() == .probe(poll: 2))
    }

    @Test func anUnansweredHeartbeatCountsAsOutOfContact() {
        var bench = Bench.introduced(log: 0..<2, delivered: 2)
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.probe(poll: 2)])
        #expect(bench.waitForDeadline() == 100 * millisecond)
        #expect(bench.sendAll() == [.probe(poll: 3)])
        #expect(bench.waitForDeadline() == 100 * millisecond)
    }
}
