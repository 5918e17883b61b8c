import CollarARQ
import CollarWire
import Testing

/// Ranges that a receiver requests again, ranges that are missing from the collar's log, and identity requests.
@Suite struct CollarResendTests {
    @Test func whatIsAskedForAgainIsSentAlthoughItLiesBelowTheWatermark() {
        var bench = Bench.introduced(log: 0..<9, delivered: 8, resend: [2...3, 5...5])
        #expect(bench.delivery.delivered.firstMissing == 2)
        #expect(bench.sendAll() == [.entry(8), .entry(2), .entry(3), .entry(5, poll: 2)])
        #expect(bench.receive(acknowledgement(9, poll: 2)) == .answer)
        #expect(bench.delivery.delivered == DeliveredSequences(firstMissing: 9))
    }

    /// A frame for each fix would take too long: at a low bit rate, a thousand absolute fixes take half an hour.
    @Test func whatIsAskedForAgainGoesInBatches() {
        var configuration = CollarDelivery.Configuration.small
        configuration.batchFrameByteLimit = 253
        var bench = Bench.introduced(log: 0..<100, delivered: 100, resend: [10...19, 40...49], configuration: configuration)
        #expect(bench.send() == .batch(10))
        #expect(bench.delivery.undelivered(after: 10) == 11)
        #expect(bench.delivery.undelivered(after: 19) == 40)
        #expect(bench.delivery.undelivered(after: 49) == nil)
        #expect(bench.delivery.batched(through: 49) == PollNumber(rawValue: 2))
    }

    /// The next answer requests only the fixes that have not arrived by then.
    @Test func whatIsAskedForAgainIsNotDeliveredUntilAnAnswerSaysSo() {
        var bench = Bench.introduced(log: 0..<9, delivered: 9, resend: [2...3, 7...7])
        for sequence in 0..<9 as Range<UInt32> {
            #expect(bench.delivery.delivered.contains(sequence) == ![2, 3, 7].contains(sequence))
        }
        #expect(bench.sendAll() == [.entry(2), .entry(3), .entry(7, poll: 2)])
        #expect(bench.receive(acknowledgement(3, poll: 2, durable: [4...8], resend: [3...3])) == .answer)
        #expect(bench.sendAll() == [.entry(3, poll: 3)])
    }

    /// A collar remembers a limited number of delivered ranges. The fixes of a forgotten range are sent again.
    @Test func ofManyRangesTheOldestDeliveredOnesAreForgotten() {
        let resend = stride(from: 0 as UInt32, to: 128, by: 4).map { $0...$0 }
        let durable = [210...211, 220...221] as [ClosedRange<UInt32>]
        let bench = Bench.introduced(log: 0..<230, delivered: 200, durable: durable.reversed(), resend: resend)
        for sequence in 0..<230 as Range<UInt32> {
            let isNamed = sequence < 200 || durable.contains { $0.contains(sequence) }
            let isDelivered = isNamed && !resend.contains { $0.contains(sequence) }
            let isForgotten = sequence < 8
            #expect(bench.delivery.delivered.contains(sequence) == (isDelivered && !isForgotten), "\(sequence)")
        }
    }

    /// If the receiver has lost fix 8, it cannot verify a live fix that is coded against fix 8.
    @Test func aLiveFixIsNotCodedAgainstWhatTheNewestAnswerDoesNotName() {
        var configuration = CollarDelivery.Configuration.small
        configuration.sendsLiveFixes = true
        let answers: [(Acknowledgement, UInt32?)] = [
            (acknowledgement(9, poll: nil), 8), (acknowledgement(5, poll: nil), 4), (acknowledgement(0, poll: nil), nil),
            (acknowledgement(0, poll: nil, durable: [6...7]), 7), (acknowledgement(9, poll: nil, resend: [8...8]), nil),
        ]
        for (answer, anchor) in answers {
            for isSetBackDue in [true, false] {
                var bench = Bench.introduced(log: 0..<9, delivered: 9, configuration: configuration)
                if !isSetBackDue {
                    bench.answerIdentity(acknowledgement(8, poll: nil))
                    bench.answerIdentity(acknowledgement(9, poll: nil))
                }
                bench.answerIdentity(answer)
                // An acknowledgement that does not answer the open poll does not change the anchor.
                #expect(bench.receive(acknowledgement(9, poll: nil)) == .unasked)
                bench.delivery.logChanged(oldestSequence: 0, nextSequence: 10)
                let sent = bench.send()
                #expect(sent?.content == (anchor.map { .liveFix(9, anchor: $0) } ?? .logEntry(9)), "\(answer)")
            }
        }
    }

    @Test func whatIsAskedForAgainComesBeforeTheBacklog() {
        var bench = Bench.introduced(log: 0..<9, delivered: 5, resend: [1...1])
        #expect(bench.sendAll() == [.entry(8), .entry(1), .entry(5), .entry(6, poll: 2)])
    }

    @Test func onlyTheLatestPollsResendRangesCount() {
        var bench = Bench.introduced(log: 0..<9, delivered: 9, resend: [0...6])
        #expect(bench.sendAll() == [.entry(0), .entry(1), .entry(2), .entry(3, poll: 2)])
        #expect(bench.receive(acknowledgement(9, poll: 2, resend: [6...6])) == .answer)
        #expect(bench.sendAll() == [.entry(6, poll: 3)])
        #expect(bench.receive(acknowledgement(9, poll: 3)) == .answer)
        #expect(bench.sendAll() == [])
    }

    @Test func aResendRangeBeyondTheLogIsCutOff() {
        var bench = Bench.introduced(log: 0..<3, delivered: 3, resend: [2...7, 9...9])
        #expect(bench.sendAll().map(\.content) == [.logEntry(2)])
    }

    @Test func outOfContactNothingIsResent() {
        var bench = Bench.introduced(log: 0..<9, delivered: 9, resend: [0...6])
        #expect(bench.sendAll().last == .entry(3, poll: 2))
        _ = bench.waitForDeadline()
        #expect(bench.sendAll() == [.probe(poll: 3)])
        #expect(bench.receive(acknowledgement(9, poll: 3)) == .answer)
        #expect(bench.sendAll() == [])
    }

    @Test func aQuestionWhoIsThereIsAnsweredNextAndGivesUpTheOpenPoll() {
        var bench = Bench.introduced(log: 0..<4)
        #expect(bench.sendAll().last == .entry(2, poll: 2))
        bench.delivery.identityRequested()
        #expect(bench.sendAll() == [.identity(poll: 3)])
        #expect(bench.receive(acknowledgement(1, poll: 2, durable: [3...3])) == .unasked)
        #expect(bench.receive(acknowledgement(1, poll: 3, durable: [3...3])) == .answer)
        #expect(bench.sendAll() == [.entry(1), .entry(2, poll: 4)])
    }

    @Test func aQuestionInTheMiddleOfABurstIsAnsweredBeforeTheRest() {
        var bench = Bench.introduced(log: 0..<4)
        #expect(bench.send() == .entry(3))
        bench.delivery.identityRequested()
        #expect(bench.sendAll() == [.identity(poll: 2)])
    }

    @Test func aTombstonedRangeIsNotSearchedAgainInTheSameBurst() {
        var bench = Bench.introduced(log: 50..<60)
        #expect(bench.send() == .entry(59))
        #expect(bench.send() == .entry(0))
        bench.delivery.skippedBacklog(from: 0, through: 49)
        #expect(bench.sendAll() == [.entry(50), .entry(51, poll: 2)])
        #expect(bench.receive(acknowledgement(0, poll: 2, durable: [50...51])) == .answer)
        #expect(bench.sendAll().prefix(2) == [.entry(59), .entry(0)])
    }

    @Test func aTombstonedRangeIsTakenOutOfWhatIsAskedForAgain() {
        var bench = Bench.introduced(log: 5..<9, delivered: 9, resend: [0...1, 3...6])
        #expect(bench.send() == .entry(0))
        bench.delivery.skippedBacklog(from: 0, through: 4)
        #expect(bench.sendAll() == [.entry(5), .entry(6, poll: 2)])
    }

    /// The frame of the tombstone has no poll, because more of the backlog seems to be left. The tombstone covers all of the
    /// backlog, so a probe carries the poll.
    @Test func aBurstThatATombstoneCutsShortStillPollsAtOnce() {
        var bench = Bench.introduced(log: 50..<60, durable: [50...59])
        #expect(bench.send()?.content == .logEntry(0))
        bench.delivery.skippedBacklog(from: 0, through: 49)
        _ = bench.send()
        #expect(bench.delivery.nextDeadline == bench.now.advanced(byMicroseconds: 100 * millisecond))
    }
}

extension Bench {
    /// Requests the identity, and answers it with `answer`.
    fileprivate mutating func answerIdentity(_ answer: Acknowledgement) {
        delivery.identityRequested()
        var answer = answer
        answer.poll = sendAll().last?.poll
        #expect(receive(answer) == .answer)
    }
}

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

    /// The receiver cannot read the fixes, and its request for the identity comes while the radio sleeps.
    @Test func theIdentityFollowsTwoAnswersThatDeliverNothing() {
        var bench = Bench(log: 0..<3)
        var identities: [Int] = []
        for exchange in 0..<8 {
            var poll: PollNumber?
            while poll == nil, let sent = bench.send() {
                if sent.content == .identity { identities.append(exchange) }
                poll = sent.poll
            }
            #expect(bench.receive(acknowledgement(exchange < 6 ? 0 : UInt32(exchange) - 5, poll: poll?.rawValue)) == .answer)
        }
        #expect(identities == [0, 3, 6])
    }
}
