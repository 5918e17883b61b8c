import CollarARQ
import CollarWire
import Testing

/// Ranges a receiver lost and asks for by name, ranges a collar lost, and questions who is there.
@Suite struct CollarResendTests {
    @Test func whatIsAskedForAgainIsSentAlthoughItLiesBelowTheWatermark() {
        var bench = Bench.introduced(log: 0..<9, delivered: 8, resend: [2...3, 5...5])
        #expect(bench.sendAll() == [.entry(8), .entry(2), .entry(3), .entry(5, ask: 2)])
        #expect(bench.delivery.delivered.firstMissing == 8)
    }

    @Test func whatIsAskedForAgainComesBeforeTheBacklog() {
        var bench = Bench.introduced(log: 0..<9, delivered: 5, resend: [1...1])
        #expect(bench.sendAll() == [.entry(8), .entry(1), .entry(5), .entry(6, ask: 2)])
    }

    @Test func onlyTheLatestAsksResendRangesCount() {
        var bench = Bench.introduced(log: 0..<9, delivered: 9, resend: [0...6])
        #expect(bench.sendAll() == [.entry(0), .entry(1), .entry(2), .entry(3, ask: 2)])
        #expect(bench.receive(acknowledgement(9, ask: 2, resend: [6...6])) == .answer)
        #expect(bench.sendAll() == [.entry(6, ask: 3)])
        #expect(bench.receive(acknowledgement(9, ask: 3)) == .answer)
        #expect(bench.sendAll() == [])
    }

    @Test func aResendRangeBeyondTheLogIsCutOff() {
        var bench = Bench.introduced(log: 0..<3, delivered: 3, resend: [2...7, 9...9])
        #expect(bench.sendAll().map(\.content) == [.logEntry(2)])
    }

    @Test func outOfContactNothingIsResent() {
        var bench = Bench.introduced(log: 0..<9, delivered: 9, resend: [0...6])
        #expect(bench.sendAll().last == .entry(3, ask: 2))
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.probe(ask: 3)])
        #expect(bench.receive(acknowledgement(9, ask: 3)) == .answer)
        #expect(bench.sendAll() == [])
    }

    @Test func aQuestionWhoIsThereIsAnsweredNextAndGivesUpTheOpenAsk() {
        var bench = Bench.introduced(log: 0..<4)
        #expect(bench.sendAll().last == .entry(2, ask: 2))
        bench.delivery.identityRequested()
        #expect(bench.sendAll() == [.identity(ask: 3)])
        #expect(bench.receive(acknowledgement(1, ask: 2, durable: [3...3])) == .unasked)
        #expect(bench.receive(acknowledgement(1, ask: 3, durable: [3...3])) == .answer)
        #expect(bench.sendAll() == [.entry(1), .entry(2, ask: 4)])
    }

    @Test func aQuestionInTheMiddleOfABurstIsAnsweredBeforeTheRest() {
        var bench = Bench.introduced(log: 0..<4)
        #expect(bench.send() == .entry(3))
        bench.delivery.identityRequested()
        #expect(bench.sendAll() == [.identity(ask: 2)])
    }

    @Test func aTombstonedRangeIsNotSearchedAgainInTheSameBurst() {
        var bench = Bench.introduced(log: 50..<60)
        #expect(bench.send() == .entry(59))
        #expect(bench.send() == .entry(0))
        bench.delivery.skippedBacklog(from: 0, through: 49)
        #expect(bench.sendAll() == [.entry(50), .entry(51, ask: 2)])
        #expect(bench.receive(acknowledgement(0, ask: 2, durable: [50...51])) == .answer)
        #expect(bench.sendAll().prefix(2) == [.entry(59), .entry(0)])
    }

    @Test func aTombstonedRangeIsTakenOutOfWhatIsAskedForAgain() {
        var bench = Bench.introduced(log: 5..<9, delivered: 9, resend: [0...1, 3...6])
        #expect(bench.send() == .entry(0))
        bench.delivery.skippedBacklog(from: 0, through: 4)
        #expect(bench.sendAll() == [.entry(5), .entry(6, ask: 2)])
    }

    /// The tombstone was thought to be in the middle of a burst, and turned out to be its end.
    @Test func aBurstThatATombstoneCutsShortStillAsksAtOnce() {
        var bench = Bench.introduced(log: 50..<60, durable: [50...59])
        #expect(bench.send()?.content == .logEntry(0))
        bench.delivery.skippedBacklog(from: 0, through: 49)
        _ = bench.send()
        #expect(bench.delivery.nextDeadline == bench.now.advanced(byMicroseconds: 100 * millisecond))
    }
}
