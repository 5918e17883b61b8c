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

/// The duty cycle, and the random delays of collars that make their fixes at the same moment.
@Suite struct CollarDutyCycleTests {
    private let modem = ModemProfile(
        nanosecondsPerByte: 1_000_000, frameOverheadMicroseconds: 20_000, turnaroundMicroseconds: 40_000,
        isHalfDuplex: true)

    /// Three hours with a backlog that never ends: every poll is answered at once, but no answer acknowledges a fix.
    @Test func noWindowOfAnHourHoldsMoreThanItsPart() {
        let configuration = CollarDelivery.Configuration(modem: modem, dutyCyclePartsPerMillion: 10_000)
        var now = Instant(microseconds: 0)
        var delivery = CollarDelivery(
            configuration: configuration, oldestSequence: 0, nextSequence: 1_000_000, firstUndelivered: 0, now: now)
        var sent: [(at: Int64, airtime: Int64)] = []
        while now < Instant(microseconds: 3 * 3_600_000_000) {
            guard let transmission = delivery.nextTransmission(now: now) else {
                now = max(delivery.nextDeadline ?? now, now.advanced(byMicroseconds: 1))
                continue
            }
            let airtime = modem.airtimeMicroseconds(frameByteCount: 27)
            sent.append((now.microseconds, airtime))
            now = now.advanced(byMicroseconds: airtime)
            delivery.transmitted(frameByteCount: 27, now: now)
            if let poll = transmission.poll {
                _ = delivery.receive(acknowledgement(0, poll: poll.rawValue), now: now)
            }
        }
        var first = 0
        var sum: Int64 = 0
        var most: Int64 = 0
        for element in sent {
            sum += element.airtime
            while sent[first].at <= element.at - 3_600_000_000 {
                sum -= sent[first].airtime
                first += 1
            }
            most = max(most, sum)
        }
        #expect(most <= 36_000_000)
        #expect(most >= 25_000_000)
    }

    @Test func theFirstBurstBeginsAfterARandomPartOfAnExchange() {
        var delays: Set<Int64> = []
        for seed in 1...50 as ClosedRange<UInt32> {
            let configuration = CollarDelivery.Configuration(modem: modem, jitterSeed: seed &* 2_654_435_769)
            let start = Instant(microseconds: 0)
            var delivery = CollarDelivery(
                configuration: configuration, oldestSequence: 0, nextSequence: 5, firstUndelivered: 0, now: start)
            #expect(delivery.nextTransmission(now: start) == nil)
            guard let begin = delivery.nextDeadline else { continue }
            #expect(begin >= start)
            #expect(begin < start.advanced(byMicroseconds: modem.exchangeMicroseconds))
            #expect(delivery.nextTransmission(now: begin)?.content == .identity)
            delays.insert(begin.microseconds)
        }
        #expect(delays.count > 40)
    }

    /// A simulation found this fault: the collar was due to send forever, but had nothing to send.
    @Test func whatWasDeliveredWhileABurstWaitedToBeginIsDueNoMore() throws {
        let configuration = CollarDelivery.Configuration(modem: modem, jitterSeed: 1)
        var now = Instant(microseconds: 0)
        var delivery = CollarDelivery(
            configuration: configuration, oldestSequence: 0, nextSequence: 1, firstUndelivered: 0, now: now)
        #expect(delivery.nextTransmission(now: now) == nil)
        now = try #require(delivery.nextDeadline)
        #expect(delivery.nextTransmission(now: now)?.content == .identity)
        delivery.transmitted(frameByteCount: 40, now: now)
        #expect(delivery.receive(acknowledgement(1, poll: 1), now: now) == .answer)
        delivery.logChanged(oldestSequence: 0, nextSequence: 2)
        now = now.advanced(byMicroseconds: 1000)
        #expect(delivery.nextTransmission(now: now) == nil)
        let begin = try #require(delivery.nextDeadline)
        #expect(delivery.receive(acknowledgement(2, poll: nil), now: now) == .unasked)
        #expect(delivery.nextTransmission(now: begin) == nil)
        #expect(try #require(delivery.nextDeadline) > begin)
    }

    /// A simulation found this fault too. If a request extends the time-out beyond the wait for the duty cycle, the next
    /// deadline is the end of the time-out.
    @Test func aWindowMadeLongerOutlastsTheWaitForTheBudget() throws {
        let configuration = CollarDelivery.Configuration(modem: modem, dutyCyclePartsPerMillion: 10_000)
        var now = Instant(microseconds: 0)
        var delivery = CollarDelivery(
            configuration: configuration, oldestSequence: 0, nextSequence: 1, firstUndelivered: 0, now: now)
        #expect(delivery.nextTransmission(now: now) == nil)
        now = try #require(delivery.nextDeadline)
        #expect(delivery.nextTransmission(now: now)?.content == .identity)
        delivery.transmitted(frameByteCount: 40, now: now)
        now = try #require(delivery.nextDeadline)
        #expect(delivery.nextTransmission(now: now) == nil)
        let budgeted = try #require(delivery.nextDeadline)
        #expect(budgeted > now)
        delivery.requestReceived(now: budgeted.advanced(byMicroseconds: -1))
        let deadline = try #require(delivery.nextDeadline)
        #expect(deadline > budgeted)
        #expect(delivery.nextTransmission(now: deadline) != nil)
    }
}
