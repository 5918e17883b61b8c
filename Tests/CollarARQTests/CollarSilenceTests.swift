import CollarARQ
import CollarWire
import Testing

/// What a collar does when no answer comes, and when there is nothing to say.
@Suite struct CollarSilenceTests {
    @Test func outOfContactOnlyTheNewestFixIsSentAndTheIdentityEveryFourthTime() {
        var bench = Bench(log: 0..<9)
        #expect(bench.send() == .identity(ask: 1))
        var sent: [Sent] = []
        for _ in 0..<9 {
            _ = bench.waitForDeadline()
            sent += bench.sendAll()
        }
        #expect(
            sent == [
                .entry(8, ask: 2), .entry(8, ask: 3), .entry(8, ask: 4), .identity(ask: 5), .entry(8, ask: 6),
                .entry(8, ask: 7), .entry(8, ask: 1), .identity(ask: 2), .entry(8, ask: 3),
            ])
    }

    @Test func outOfContactTheNewestFixIsTheOneOfThatMoment() {
        var bench = Bench(log: 0..<9)
        #expect(bench.send() == .identity(ask: 1))
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.entry(8, ask: 2)])
        bench.delivery.logChanged(oldestSequence: 0, nextSequence: 10)
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.entry(9, ask: 3)])
    }

    @Test func outOfContactWithTheNewestFixDeliveredAProbeIsSent() {
        var bench = Bench.introduced(log: 0..<3, delivered: 0, durable: [2...2])
        #expect(bench.sendAll() == [.entry(0), .entry(1, ask: 2)])
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.probe(ask: 3)])
    }

    @Test func outOfContactWithAnEmptyLogAProbeIsSent() {
        var bench = Bench(log: 4..<4, firstUndelivered: 4)
        #expect(bench.send() == .identity(ask: 1))
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.probe(ask: 2)])
    }

    @Test func theTimeoutDoublesWithEveryThirdUpToTheCapAndAnAnswerResetsIt() {
        var bench = Bench(log: 0..<2)
        #expect(bench.send() == .identity(ask: 1))
        var waits: [Int64] = []
        for _ in 0..<14 {
            if let wait = bench.waitForDeadline() { waits.append(wait / millisecond) }
            #expect(bench.sendAll().count == 1)
        }
        #expect(waits == [100, 100, 100, 200, 200, 200, 400, 400, 400, 800, 800, 800, 1000, 1000])
        #expect(bench.receive(acknowledgement(0, ask: 1)) == .answer)
        #expect(bench.sendAll() == [.entry(1), .entry(0, ask: 2)])
        #expect(bench.waitForDeadline() == 100 * millisecond)
    }

    @Test func aTimeoutAboveTheCapIsTheCap() {
        var configuration = CollarDelivery.Configuration.small
        configuration.maximumTimeoutMicroseconds = 70 * millisecond
        var bench = Bench(log: 0..<2, configuration: configuration)
        #expect(bench.send() == .identity(ask: 1))
        #expect(bench.waitForDeadline() == 70 * millisecond)
    }

    @Test func aRestingCollarProbesAfterTheHeartbeat() {
        var bench = Bench.introduced(log: 0..<2, delivered: 2)
        #expect(bench.send() == nil)
        #expect(bench.waitForDeadline() == 10_000 * millisecond)
        #expect(bench.sendAll() == [.probe(ask: 2)])
        #expect(bench.receive(acknowledgement(2, ask: 2)) == .answer)
        #expect(bench.send() == nil)
        #expect(bench.waitForDeadline() == 10_000 * millisecond)
    }

    @Test func aRestingCollarIsSilentUntilTheHeartbeat() {
        var bench = Bench.introduced(log: 0..<2, delivered: 2)
        bench.now = bench.now.advanced(byMicroseconds: 10_000 * millisecond - 1)
        #expect(bench.send() == nil)
        bench.now = bench.now.advanced(byMicroseconds: 1)
        #expect(bench.send() == .probe(ask: 2))
    }

    @Test func anUnansweredHeartbeatCountsAsOutOfContact() {
        var bench = Bench.introduced(log: 0..<2, delivered: 2)
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.probe(ask: 2)])
        #expect(bench.waitForDeadline() == 100 * millisecond)
        #expect(bench.sendAll() == [.probe(ask: 3)])
        #expect(bench.waitForDeadline() == 100 * millisecond)
    }
}
