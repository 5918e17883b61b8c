import CollarARQ
import CollarWire
import Testing

/// Ranges a receiver lost and asks for by name, ranges a collar lost, and questions who is there.
@Suite struct CollarResendTests {
    @Test func whatIsAskedForAgainIsSentAlthoughItLiesBelowTheWatermark() {
        var bench = Bench.introduced(log: 0..<9, delivered: 8, resend: [2...3, 5...5])
        #expect(bench.delivery.delivered.firstMissing == 2)
        #expect(bench.sendAll() == [.entry(8), .entry(2), .entry(3), .entry(5, ask: 2)])
        #expect(bench.receive(acknowledgement(9, ask: 2)) == .answer)
        #expect(bench.delivery.delivered == DeliveredSequences(firstMissing: 9))
    }

    /// Not one by one: at a slow rate a thousand absolute frames take half an hour.
    @Test func whatIsAskedForAgainGoesInBatches() {
        var configuration = CollarDelivery.Configuration.small
        configuration.batchFrameByteLimit = 253
        var bench = Bench.introduced(log: 0..<100, delivered: 100, resend: [10...19, 40...49], configuration: configuration)
        #expect(bench.send() == .batch(10))
        #expect(bench.delivery.undelivered(after: 10) == 11)
        #expect(bench.delivery.undelivered(after: 19) == 40)
        #expect(bench.delivery.undelivered(after: 49) == nil)
        #expect(bench.delivery.batched(through: 49) == AskNumber(rawValue: 2))
    }

    /// What was asked for may come before the receiver sends the next answer: then nothing is asked for any more.
    @Test func whatIsAskedForAgainIsNotDeliveredUntilAnAnswerSaysSo() {
        var bench = Bench.introduced(log: 0..<9, delivered: 9, resend: [2...3, 7...7])
        for sequence in 0..<9 as Range<UInt32> {
            #expect(bench.delivery.delivered.contains(sequence) == ![2, 3, 7].contains(sequence))
        }
        #expect(bench.sendAll() == [.entry(2), .entry(3), .entry(7, ask: 2)])
        #expect(bench.receive(acknowledgement(3, ask: 2, durable: [4...8], resend: [3...3])) == .answer)
        #expect(bench.sendAll() == [.entry(3, ask: 3)])
    }

    /// More than a collar can keep in mind is sent once more.
    @Test func ofManyRangesTheOldestDeliveredOnesAreForgotten() {
        let resend = (0..<32).map { UInt32(4 * $0)...UInt32(4 * $0) }
        let durable = [210...211, 220...221] as [ClosedRange<UInt32>]
        let bench = Bench.introduced(log: 0..<230, delivered: 200, durable: durable.reversed(), resend: resend)
        for sequence in 0..<230 as Range<UInt32> {
            let isNamed = sequence < 200 || durable.contains { $0.contains(sequence) }
            let isDelivered = isNamed && !resend.contains { $0.contains(sequence) }
            let isForgotten = sequence < 8
            #expect(bench.delivery.delivered.contains(sequence) == (isDelivered && !isForgotten), "\(sequence)")
        }
    }

    /// The receiver has lost 8, and a fix that is coded against it could not be checked.
    @Test func aLiveFixIsNotCodedAgainstWhatTheNewestAnswerDoesNotName() {
        var configuration = CollarDelivery.Configuration.small
        configuration.sendsLiveFixes = true
        let answers: [(Acknowledgement, UInt32?)] = [
            (acknowledgement(9, ask: nil), 8), (acknowledgement(5, ask: nil), 4), (acknowledgement(0, ask: nil), nil),
            (acknowledgement(0, ask: nil, durable: [6...7]), 7), (acknowledgement(9, ask: nil, resend: [8...8]), nil),
        ]
        for (answer, anchor) in answers {
            for isSetBackDue in [true, false] {
                var bench = Bench.introduced(log: 0..<9, delivered: 9, configuration: configuration)
                if !isSetBackDue {
                    bench.answerIdentity(acknowledgement(8, ask: nil))
                    bench.answerIdentity(acknowledgement(9, ask: nil))
                }
                bench.answerIdentity(answer)
                // An answer that comes late does not tell what the receiver has now.
                #expect(bench.receive(acknowledgement(9, ask: nil)) == .unasked)
                bench.delivery.logChanged(oldestSequence: 0, nextSequence: 10)
                let sent = bench.send()
                #expect(sent?.content == (anchor.map { .liveFix(9, anchor: $0) } ?? .logEntry(9)), "\(answer)")
            }
        }
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

extension Bench {
    /// Somebody asks who is there, and answers the identity.
    fileprivate mutating func answerIdentity(_ answer: Acknowledgement) {
        delivery.identityRequested()
        var answer = answer
        answer.ask = sendAll().last?.ask
        #expect(receive(answer) == .answer)
    }
}
