import CollarARQ
import CollarWire
import Testing

/// When a collar on a half-duplex link begins to send: alone, in company, and in its turn.
@Suite struct ChannelAccessTests {
    private static let exchange = Talker.exchange
    private static let window: Int64 = 61_000
    private static let interval: Int64 = 60_000_000

    @Test func aCollarThatIsAloneSendsSoonAndRepeatsAtOnce() throws {
        for seed in 1...100 as ClosedRange<UInt32> {
            var talker = Talker(seed: seed &* 2_654_435_769)
            try talker.beHeard(.alone)
            for index in 1...4 as ClosedRange<Int64> {
                let starts = try talker.exchange(at: index * Self.interval, losses: 2, .alone)
                #expect(starts[0] < Self.window)
                // A frame of 39 ms, and the time-out of 40 + 61 ms.
                #expect(starts[1] - starts[0] == 140_000)
                #expect((140_000..<140_000 + Self.window).contains(starts[2] - starts[1]))
            }
        }
    }

    @Test func inCompanyTheWindowsOfRepeatsDouble() throws {
        var longest = [Int64](repeating: 0, count: 6)
        var longestFirst: Int64 = 0
        for seed in 1...300 as ClosedRange<UInt32> {
            var talker = Talker(seed: seed &* 2_654_435_769)
            try talker.beHeard(.several)
            let starts = try talker.exchange(at: Self.interval, losses: 6)
            #expect(starts[0] < Self.exchange)
            longestFirst = max(longestFirst, starts[0])
            for repeated in 1...6 {
                // The time-outs double with every third one.
                let wait = starts[repeated] - starts[repeated - 1] - 39_000 - 101_000 * (1 << Int64((repeated - 1) / 3))
                #expect(wait >= 0 && wait < min(Self.exchange << Int64(repeated + 1), 32 * Self.exchange))
                longest[repeated - 1] = max(longest[repeated - 1], wait)
            }
        }
        for repeated in 0..<6 { #expect(longest[repeated] > min(Self.exchange << Int64(repeated + 2), 32 * Self.exchange) / 10 * 9) }
        #expect(longestFirst > Self.exchange / 10 * 9)
    }

    @Test(arguments: [(.few, 8), (.several, 32), (.many, 128)] as [(Company, Int64)])
    func theWindowDependsOnTheCompany(company: Company, exchanges: Int64) throws {
        var longest: Int64 = 0
        for seed in 1...100 as ClosedRange<UInt32> {
            var talker = Talker(seed: seed &* 2_654_435_769)
            try talker.beHeard(company)
            let starts = try talker.exchange(at: Self.interval, losses: 12)
            // The time-out of the last repeat is 101 ms doubled three times.
            longest = max(longest, starts[12] - starts[11] - 39_000 - 808_000)
        }
        #expect(longest <= exchanges * Self.exchange)
        #expect(longest > exchanges * Self.exchange / 10 * 8)
    }

    /// Else the repeats of one fix would go on when the next fix comes.
    @Test func inEqualIntervalsTheWindowIsAtMostHalfAnInterval() throws {
        var longest: Int64 = 0
        for seed in 1...100 as ClosedRange<UInt32> {
            var talker = Talker(seed: seed &* 2_654_435_769)
            try talker.beHeard(.several)
            for seconds in [5, 10] as [Int64] { _ = try talker.exchange(at: seconds * 1_000_000, .several) }
            let starts = try talker.exchange(at: 15_000_000, losses: 12, .several)
            longest = max(longest, starts[12] - starts[11] - 39_000 - 808_000)
        }
        #expect(longest <= 2_500_000)
        #expect(longest > 2_000_000)
    }

    /// Before the first answer the collars cannot know of one another: they may all have got power at the same moment.
    @Test func twoCollarsThatStartTogetherAreApartAfterEightPolls() throws {
        var failures = 0
        for seed in 0..<1000 as Range<UInt32> {
            var first = Talker(seed: (2 * seed + 1) &* 2_654_435_769)
            var second = Talker(seed: (2 * seed + 2) &* 2_654_435_769)
            var isApart = false
            for _ in 0..<8 where !isApart {
                let distance = abs(try first.send().microseconds(since: try second.send()))
                isApart = distance > Self.exchange
            }
            if !isApart { failures += 1 }
        }
        #expect(failures <= 1)
    }

    @Test func aTurnIsKeptInEqualIntervals() throws {
        var talker = Talker(seed: 5)
        try talker.beHeard(.few)
        var starts: [Int64] = []
        for index in 1...20 as ClosedRange<Int64> { starts += try talker.exchange(at: index * Self.interval) }
        // The first fix has no interval before it, the second none that it repeats.
        #expect(Set(starts[2...]).count == 1)
        #expect(starts[2] < Self.exchange)
        // Receivers of GNSS time vary a little, and sometimes there is no fix.
        #expect(try talker.exchange(at: 24 * Self.interval + 900_000) == [starts[2]])
        // A fix out of the interval does not wait for the turn, and has a random wait.
        let other = try talker.exchange(at: 24 * Self.interval + 20_000_000)
        #expect(other[0] < Self.exchange)
    }

    @Test func oneBadTurnIsKeptAndTwoInARowMoveIt() throws {
        var talker = Talker(seed: 9)
        try talker.beHeard(.few)
        for index in 1...5 as ClosedRange<Int64> { _ = try talker.exchange(at: index * Self.interval) }
        let turn = try talker.exchange(at: 6 * Self.interval)
        let bad = try talker.exchange(at: 7 * Self.interval, losses: 1)
        #expect(bad[0] == turn[0])
        #expect(try talker.exchange(at: 8 * Self.interval) == turn)
        #expect(try talker.exchange(at: 9 * Self.interval, losses: 1)[0] == turn[0])
        let second = try talker.exchange(at: 10 * Self.interval, losses: 1)
        #expect(second[0] == turn[0])
        #expect(try talker.exchange(at: 11 * Self.interval) == [second[1]])
        #expect(try talker.exchange(at: 12 * Self.interval) == [second[1]])
    }

    @Test func aTurnIsNotLongerThanFourExchangesOfEachCollar() throws {
        var turns: Set<Int64> = []
        for seed in 1...50 as ClosedRange<UInt32> {
            var talker = Talker(seed: seed &* 2_654_435_769)
            try talker.beHeard(.few)
            for index in 1...3 as ClosedRange<Int64> { _ = try talker.exchange(at: index * Self.interval, losses: 9) }
            let turn = try talker.exchange(at: 4 * Self.interval)[0]
            #expect(turn <= 16 * Self.exchange)
            turns.insert(turn)
        }
        // Collars whose exchanges began too late must not all get the same turn.
        #expect(turns.count > 40)
    }

    /// A collar after fixes in five equal intervals, whose turn is longer than the given number of exchanges.
    private func talkerWithLateTurn(
        _ company: Company = .few, exchanges: Int64 = 4
    ) throws -> (talker: Talker, turn: Int64) {
        for seed in 1...20 as ClosedRange<UInt32> {
            var talker = Talker(seed: seed &* 2_654_435_769)
            try talker.beHeard(company)
            for index in 1...4 as ClosedRange<Int64> { _ = try talker.exchange(at: index * Self.interval, losses: 6, company) }
            let turn = try talker.exchange(at: 5 * Self.interval, company)[0]
            if turn > exchanges * Self.exchange { return (talker, turn) }
        }
        throw NoLateTurn()
    }

    private struct NoLateTurn: Error {}

    @Test func aTurnHoldsOnlyInItsInterval() throws {
        let (settled, turn) = try talkerWithLateTurn()
        var talker = settled
        #expect(try talker.exchange(at: 5 * Self.interval + 20_000_000)[0] < Self.exchange)
        // With so short intervals the turn would be after the next fix.
        talker = settled
        for index in 0...5 as ClosedRange<Int64> {
            #expect(try talker.exchange(at: 5 * Self.interval + 30_000_000 + index * turn)[0] < Self.exchange)
        }
    }

    @Test func aTurnEndsWhenTheCompanyGetsTooSmallForIt() throws {
        var (talker, _) = try talkerWithLateTurn(.several, exchanges: 16)
        talker.delivery.replyWaits(frameCount: 1)
        _ = try talker.sendBurst()
        talker.answer(.few)
        #expect(try talker.exchange(at: 7 * Self.interval)[0] < Self.exchange)
    }

    @Test func aCollarThatIsAloneHasNoTurn() throws {
        var longest: Int64 = 0
        for seed in 1...20 as ClosedRange<UInt32> {
            var talker = Talker(seed: seed &* 2_654_435_769)
            try talker.beHeard(.few)
            for index in 1...3 as ClosedRange<Int64> { longest = max(longest, try talker.exchange(at: index * Self.interval)[0]) }
            _ = try talker.exchange(at: 4 * Self.interval, .alone)
            #expect(try talker.exchange(at: 5 * Self.interval, .alone)[0] < Self.window)
        }
        #expect(longest > Self.window)
    }

    /// Such a time would be taken for the interval for ever if it divides the true one, and would allow no turn.
    @Test func aShortTimeBetweenTwoNewBurstsIsForgotten() throws {
        var talker = Talker(seed: 5)
        try talker.beHeard(.few)
        _ = try talker.exchange(at: Self.interval)
        _ = try talker.exchange(at: Self.interval + 300_000)
        let starts = try (2...6 as ClosedRange<Int64>).flatMap { try talker.exchange(at: $0 * Self.interval) }
        #expect(Set(starts[2...]).count == 1)
    }

    @Test func intervalsOfLessThanFourExchangesHaveNoTurn() throws {
        var talker = Talker(seed: 5)
        try talker.beHeard(.few)
        let starts = try (1...10 as ClosedRange<Int64>).flatMap { try talker.exchange(at: Self.interval + $0 * 400_000) }
        #expect(Set(starts).count == 10)
    }

    @Test(arguments: Urgency.allCases, [true, false])
    func whatIsUrgentEndsTheWaitForTheTurn(urgency: Urgency, isWaiting: Bool) throws {
        var (talker, turn) = try talkerWithLateTurn()
        talker.log(at: 6 * Self.interval)
        if isWaiting {
            #expect(talker.delivery.nextTransmission(now: talker.now) == nil)
            #expect(talker.delivery.nextDeadline == talker.now.advanced(byMicroseconds: turn))
        }
        urgency.arise(in: &talker.delivery, now: talker.now)
        #expect(try talker.sendBurst().microseconds - 6 * Self.interval < Self.exchange)
        // The identity goes out alone, and the fix after it.
        guard urgency == .fix || urgency == .reply else { return }
        talker.answer(.few)
        #expect(try talker.exchange(at: 7 * Self.interval) == [turn])
    }

    @Test func aBurstThatDoesNotWaitForATurnMakesNone() throws {
        var talker = Talker(seed: 9)
        try talker.beHeard(.few)
        talker.log(at: Self.interval)
        #expect(talker.delivery.nextTransmission(now: talker.now) == nil)
        talker.delivery.replyWaits(frameCount: 1)
        _ = try talker.sendBurst()
        talker.answer(.few)
        let second = try talker.exchange(at: 2 * Self.interval)
        #expect(try talker.exchange(at: 3 * Self.interval) == second)
    }

    /// A fix that the host lacks after its answer is sent again soon. It does not count as a new one, which would end the intervals.
    @Test func whatIsSentAgainHasNoTurn() throws {
        var (talker, turn) = try talkerWithLateTurn()
        talker.log(at: 6 * Self.interval)
        _ = try talker.send()
        let lacking = Acknowledgement(receiverID: 7, poll: talker.lastPoll, firstMissing: talker.next - 1, company: .few)
        #expect(talker.delivery.receive(lacking, now: talker.now) == .answer)
        let answered = talker.now
        #expect(try talker.send().microseconds(since: answered) < Self.exchange)
        talker.answer(.few)
        #expect(try talker.exchange(at: 7 * Self.interval) == [turn])
    }

    @Test func aReplyDoesNotEndTheWaitOfARepeat() throws {
        var (talker, _) = try talkerWithLateTurn()
        talker.log(at: 6 * Self.interval)
        _ = try talker.send()
        talker.now = try #require(talker.delivery.nextDeadline)
        #expect(talker.delivery.nextTransmission(now: talker.now) == nil)
        let end = try #require(talker.delivery.nextDeadline)
        #expect(end > talker.now)
        talker.delivery.replyWaits(frameCount: 1)
        #expect(talker.delivery.nextDeadline == end)
    }

    /// The former receiver may just be sending its answer.
    @Test func aReplyDoesNotEndTheWaitAfterAChangeOfTheReceiver() throws {
        var (talker, _) = try talkerWithLateTurn()
        talker.log(at: 6 * Self.interval)
        #expect(talker.delivery.nextTransmission(now: talker.now) == nil)
        talker.delivery.receiverChanged(now: talker.now)
        talker.delivery.replyWaits(frameCount: 1)
        #expect(talker.delivery.nextDeadline == talker.now.advanced(byMicroseconds: 101_000))
    }

    @Test func anAnswerEndsTheWaitOfARepeat() throws {
        for seed in 1...50 as ClosedRange<UInt32> {
            var talker = Talker(seed: seed &* 2_654_435_769)
            try talker.beHeard(.several)
            talker.log(at: Self.interval)
            for _ in 0...6 { _ = try talker.send() }
            talker.now = try #require(talker.delivery.nextDeadline)
            #expect(talker.delivery.nextTransmission(now: talker.now) == nil)
            let answer = Acknowledgement(receiverID: 7, poll: talker.lastPoll, firstMissing: talker.next, company: .several)
            #expect(talker.delivery.receive(answer, now: talker.now) == .answer)
            let answered = talker.now
            talker.log(at: answered.microseconds)
            #expect(try talker.send().microseconds(since: answered) < Self.exchange)
        }
    }

    /// With equal live intervals and intervals of fixes, each fix is due when it comes.
    @Test func aLiveIntervalAsLongAsThatOfTheFixesMovesNoTurn() throws {
        var (talker, turn) = try talkerWithLateTurn()
        talker.delivery.setLiveInterval(microseconds: Self.interval)
        for index in 6...9 as ClosedRange<Int64> { #expect(try talker.exchange(at: index * Self.interval) == [turn]) }
    }

    /// Otherwise each wait for the turn would move the next one, and the interval would grow.
    @Test func theLiveIntervalCountsFromTheFixAndNotFromTheTurn() throws {
        var talker = Talker(seed: 9)
        talker.delivery.setLiveInterval(microseconds: 30_000_000)
        try talker.beHeard(.few)
        var starts: [Int64] = []
        // A fix each second; the newest one is sent every half minute.
        for second in 1...240 as ClosedRange<Int64> {
            talker.log(at: second * 1_000_000)
            starts += talker.exchanges(until: Instant(microseconds: second * 1_000_000 + 999_999))
        }
        #expect(starts.count >= 8)
        for (earlier, later) in zip(starts[2...], starts[3...]) { #expect(later - earlier == 30_000_000) }
    }

    @Test func aSerialLineHasNoWaits() throws {
        let line = ModemProfile(nanosecondsPerByte: 1_000_000, frameOverheadMicroseconds: 10_000, turnaroundMicroseconds: 40_000)
        var talker = Talker(seed: 5, modem: line)
        try talker.beHeard(.many)
        #expect(try talker.exchange(at: Self.interval, losses: 2, .many) == [0, 140_000, 280_000])
    }
}
