import CollarARQ
import CollarWire
import Testing

/// How a collar senses the channel before it sends, and waits while it is busy.
@Suite struct ChannelSensingTests {
    private static let interval: Int64 = 60_000_000

    private func talker(seed: UInt32 = 5, _ company: Company = .few) throws -> Talker {
        var talker = Talker(seed: seed &* 2_654_435_769, sensesChannel: true)
        try talker.beHeard(company)
        return talker
    }

    /// Waits until the sensing begins.
    private func beginSensing(_ talker: inout Talker) throws {
        while talker.delivery.senseEnd == nil {
            #expect(talker.delivery.nextTransmission(now: talker.now) == nil)
            if talker.delivery.senseEnd == nil { talker.now = try #require(talker.delivery.nextDeadline) }
        }
        #expect(talker.delivery.senseEnd == talker.now.advanced(byMicroseconds: Talker.sensing))
        #expect(talker.delivery.nextDeadline == talker.delivery.senseEnd)
    }

    @Test func itIsSensedBeforeABurstAndNotWithinIt() throws {
        var talker = try talker()
        for _ in 0..<3 { talker.log(at: Self.interval) }
        try beginSensing(&talker)
        talker.now = talker.now.advanced(byMicroseconds: Talker.sensing - 1)
        #expect(talker.delivery.nextTransmission(now: talker.now) == nil)
        talker.now = talker.now.advanced(byMicroseconds: 1)
        for _ in 0..<3 {
            let due = talker.now
            #expect(try talker.send() == due)
            #expect(talker.delivery.senseEnd == nil)
        }
        talker.answer(.few)
    }

    @Test func itIsSensedBeforeEachRepeat() throws {
        var talker = try talker()
        talker.log(at: Self.interval)
        _ = try talker.send()
        for _ in 0..<4 {
            try beginSensing(&talker)
            let end = try #require(talker.delivery.senseEnd)
            #expect(try talker.send() == end)
        }
    }

    @Test func aSerialLineIsNotSensed() throws {
        let line = ModemProfile(nanosecondsPerByte: 1_000_000, frameOverheadMicroseconds: 10_000, turnaroundMicroseconds: 40_000)
        var talker = Talker(seed: 5, modem: line, sensesChannel: true)
        try talker.beHeard(.few)
        #expect(try talker.exchange(at: Self.interval, losses: 1) == [0, 140_000])
    }

    @Test func theWaitsOfABusyChannelDoubleFourTimes() throws {
        var longest = [Int64](repeating: 0, count: 7)
        for seed in 1...300 as ClosedRange<UInt32> {
            var talker = try talker(seed: seed)
            talker.log(at: Self.interval)
            for count in 0..<7 {
                try beginSensing(&talker)
                talker.now = talker.now.advanced(byMicroseconds: 10_000)
                talker.delivery.channelIsBusy(now: talker.now)
                #expect(talker.delivery.senseEnd == nil)
                // Outside a sensing a packet changes nothing.
                talker.delivery.channelIsBusy(now: talker.now)
                let wait = try #require(talker.delivery.nextDeadline).microseconds(since: talker.now)
                #expect(wait >= 0 && wait < Talker.exchange << Int64(min(count, 4)))
                longest[count] = max(longest[count], wait)
            }
            // A free channel ends the row.
            _ = try talker.send()
            try beginSensing(&talker)
            talker.delivery.channelIsBusy(now: talker.now)
            #expect(try #require(talker.delivery.nextDeadline).microseconds(since: talker.now) < Talker.exchange)
        }
        for count in 0..<7 { #expect(longest[count] > Talker.exchange << Int64(min(count, 4)) / 10 * 9) }
    }

    /// Otherwise each exchange would move the turn by the time of the sensing.
    @Test func theTurnCountsFromTheBeginningOfTheSensing() throws {
        var talker = try talker()
        let starts = try (1...12 as ClosedRange<Int64>).flatMap { try talker.exchange(at: $0 * Self.interval) }
        #expect(Set(starts[2...]).count == 1)
        #expect((Talker.sensing..<Talker.exchange + Talker.sensing).contains(starts[2]))
    }

    @Test func theTurnMovesToTheTimeAtWhichTheChannelWasFree() throws {
        var talker = try talker()
        for index in 1...4 as ClosedRange<Int64> { _ = try talker.exchange(at: index * Self.interval) }
        talker.log(at: 5 * Self.interval)
        try beginSensing(&talker)
        talker.now = talker.now.advanced(byMicroseconds: 30_000)
        talker.delivery.channelIsBusy(now: talker.now)
        let start = try talker.send().microseconds - 5 * Self.interval
        talker.answer(.few)
        for index in 6...8 as ClosedRange<Int64> { #expect(try talker.exchange(at: index * Self.interval) == [start]) }
    }

    /// The burst begins with the reply, so the time of the new fix's frame shows nothing.
    @Test func aReplyThatComesDuringTheSensingDoesNotMoveTheTurn() throws {
        var talker = try talker()
        let turn = try (1...4 as ClosedRange<Int64>).map { try talker.exchange(at: $0 * Self.interval)[0] }[3]
        talker.log(at: 5 * Self.interval)
        try beginSensing(&talker)
        talker.delivery.replyWaits(frameCount: 1)
        #expect(try talker.sendBurst().microseconds == 5 * Self.interval + turn)
        talker.answer(.few)
        #expect(try talker.exchange(at: 6 * Self.interval) == [turn])
    }

    @Test func aLateAnswerEndsTheSensing() throws {
        var talker = try talker()
        talker.log(at: Self.interval)
        _ = try talker.send()
        try beginSensing(&talker)
        let end = try #require(talker.delivery.senseEnd)
        talker.now = talker.now.advanced(byMicroseconds: 20_000)
        let answer = Acknowledgement(receiverID: 7, poll: talker.lastPoll, firstMissing: talker.next, company: .few)
        #expect(talker.delivery.receive(answer, now: talker.now) == .answer)
        #expect(talker.delivery.senseEnd == nil)
        talker.delivery.channelIsBusy(now: talker.now)
        #expect(talker.delivery.nextTransmission(now: end) == nil)
        #expect(talker.delivery.senseEnd == nil)
    }

    @Test func aChangeOfTheReceiverEndsTheSensing() throws {
        var talker = try talker()
        talker.log(at: Self.interval)
        try beginSensing(&talker)
        talker.delivery.receiverChanged(now: talker.now)
        #expect(talker.delivery.senseEnd == nil)
        #expect(talker.delivery.nextDeadline == talker.now.advanced(byMicroseconds: 101_000))
    }
}
