import CollarARQ
import CollarWire
import Testing

/// New fixes that a collar among many sends without a poll.
@Suite struct UnpolledFixesTests {
    /// Less than four exchanges of 64 collars each.
    private static let interval: Int64 = 10_000_000

    /// A collar after an answer, to which the interval of its fixes is known; and the number of its next fix.
    private func talker(_ company: Company = .many, interval: Int64 = UnpolledFixesTests.interval) throws -> Talker {
        var talker = Talker(seed: 5)
        try talker.beHeard(company)
        _ = try talker.exchange(at: interval, company)
        return talker
    }

    /// Makes a fix at a number of intervals, and sends it.
    /// - Returns: whether its frame had a poll.
    private func polls(_ talker: inout Talker, _ number: Int64, interval: Int64 = UnpolledFixesTests.interval) throws -> Bool {
        talker.lastPoll = nil
        talker.log(at: number * interval)
        _ = try talker.send()
        #expect(talker.delivery.nextTransmission(now: talker.now) == nil)
        #expect(talker.lastContent == .logEntry(talker.next - 1))
        return talker.lastPoll != nil
    }

    @Test func threeOfFourHaveNoPoll() throws {
        var talker = try talker()
        for number in 2...17 as ClosedRange<Int64> {
            let hasPoll = try polls(&talker, number)
            #expect(hasPoll == (number % 4 == 1), "fix \(number)")
            if hasPoll { talker.answer(.many) }
        }
    }

    @Test(arguments: [(.alone, 10), (.few, 10), (.several, 10), (.many, 28)] as [(Company, Int64)])
    func smallCompanyAndLongIntervalsHavePolls(company: Company, seconds: Int64) throws {
        var talker = try talker(company, interval: seconds * 1_000_000)
        for number in 2...9 as ClosedRange<Int64> {
            #expect(try polls(&talker, number, interval: seconds * 1_000_000))
            talker.answer(company)
        }
    }

    @Test(arguments: Urgency.allCases, [true, false])
    func whatIsUrgentHasAPoll(urgency: Urgency, isWaiting: Bool) throws {
        var talker = try talker()
        #expect(try !polls(&talker, 2))
        talker.log(at: 3 * Self.interval)
        if isWaiting { #expect(talker.delivery.nextTransmission(now: talker.now) == nil) }
        urgency.arise(in: &talker.delivery, now: talker.now)
        // At most a second: the heartbeat sends no probe yet.
        let start = try talker.sendBurst()
        #expect(start.microseconds - 3 * Self.interval < 1_000_000)
    }

    @Test func whatGetsUrgentDuringTheSensingHasAPoll() throws {
        var talker = Talker(seed: 5, sensesChannel: true)
        try talker.beHeard(.many)
        for number in 1...2 as ClosedRange<Int64> {
            talker.log(at: number * Self.interval)
            while talker.delivery.senseEnd == nil {
                #expect(talker.delivery.nextTransmission(now: talker.now) == nil)
                if talker.delivery.senseEnd == nil { talker.now = try #require(talker.delivery.nextDeadline) }
            }
            if number == 2 { talker.delivery.newestIsUrgent() }
            talker.lastPoll = nil
            _ = try talker.send()
            #expect(talker.lastPoll != nil)
            talker.answer(.many)
        }
    }

    /// A burst of several frames ends with a poll, as ever.
    @Test func aBacklogHasAPoll() throws {
        var talker = try talker()
        talker.log(at: 2 * Self.interval)
        talker.log(at: 2 * Self.interval)
        talker.lastPoll = nil
        _ = try talker.send()
        #expect(talker.lastPoll == nil)
        _ = try talker.send()
        #expect(talker.lastPoll != nil)
    }

    @Test func onlyTheNextAnswerBringsWhatIsMissing() throws {
        var talker = try talker()
        for number in 2...4 as ClosedRange<Int64> { #expect(try !polls(&talker, number)) }
        #expect(try polls(&talker, 5))
        talker.now = talker.now.advanced(byMicroseconds: 68_000)
        // The second and the third of the four did not arrive.
        let lacking = Acknowledgement(
            receiverID: 7, poll: talker.lastPoll, firstMissing: 2, durable: list([4...4]), company: .many)
        #expect(talker.delivery.receive(lacking, now: talker.now) == .answer)
        talker.lastPoll = nil
        for sequence in [2, 3] as [UInt32] {
            _ = try talker.send()
            #expect(talker.lastContent == .logEntry(sequence))
        }
        #expect(talker.lastPoll != nil)
        talker.answer(.many)
        #expect(talker.delivery.retransmissionCount == 0)
    }

    @Test func theHeartbeatHasAPoll() throws {
        var talker = try talker()
        #expect(try !polls(&talker, 2))
        _ = try talker.send()
        #expect(talker.lastContent == .probe && talker.lastPoll != nil)
        #expect(talker.now.microseconds > 1_000_000_000)
        talker.answer(.many)
    }

    /// While no answer comes, the frames after an unanswered poll have polls.
    @Test func repeatsHavePolls() throws {
        var talker = try talker()
        for number in 2...4 as ClosedRange<Int64> { #expect(try !polls(&talker, number)) }
        #expect(try polls(&talker, 5))
        for _ in 0..<4 {
            talker.lastPoll = nil
            _ = try talker.send()
            #expect(talker.lastPoll != nil)
        }
    }
}
