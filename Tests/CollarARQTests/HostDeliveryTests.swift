import CollarARQ
import CollarWire
import Testing

/// The answers of a host to polls.
@Suite struct HostDeliveryTests {
    private func host(highestSequence: UInt32 = 0) -> HostDelivery {
        HostDelivery(log: .sample, receiverID: 7, highestSequence: highestSequence)
    }

    private func durable(_ ranges: [ClosedRange<UInt32>], announcedEnd: UInt32 = 0) -> SetOfDurable {
        var result = SetOfDurable()
        for range in ranges { for sequence in range { result.insert(sequence) } }
        result.announcedEnd = announcedEnd
        return result
    }

    @Test func aHostThatIsNotPolledIsSilent() {
        var end = host()
        #expect(!end.isAnswerWanted)
        #expect(end.takeAnswer(from: durable([0...3])) == nil)
        end.receive(flags: FrameFlags(poll: nil))
        #expect(!end.isAnswerWanted)
        #expect(end.takeAnswer(from: durable([0...3])) == nil)
    }

    @Test func onePollGetsOneAnswer() {
        var end = host()
        end.receive(flags: FrameFlags(poll: .first))
        #expect(end.isAnswerWanted)
        #expect(end.takeAnswer(from: durable([0...3])) == acknowledgement(4, poll: 1))
        #expect(!end.isAnswerWanted)
        #expect(end.takeAnswer(from: durable([0...3])) == nil)
    }

    @Test func onlyTheLatestPollCounts() {
        var end = host()
        end.receive(flags: FrameFlags(poll: .first))
        end.receive(flags: FrameFlags(poll: PollNumber(rawValue: 2)))
        end.receive(flags: FrameFlags(poll: nil))
        #expect(end.takeAnswer(from: durable([])) == acknowledgement(0, poll: 2))
        #expect(!end.isAnswerWanted)
    }

    @Test func durableRangesAreNamedNewestFirst() {
        var end = host()
        end.receive(flags: FrameFlags(poll: .first))
        let answer = end.takeAnswer(from: durable([0...1, 4...4, 6...9, 20...20]))
        #expect(answer == acknowledgement(2, poll: 1, durable: [20...20, 6...9, 4...4]))
    }

    @Test func anAnswerSaysWhatIsDurableWhenItIsTaken() {
        var end = host()
        var stored = durable([0...1])
        end.receive(flags: FrameFlags(poll: .first))
        stored.insert(2)
        #expect(end.takeAnswer(from: stored) == acknowledgement(3, poll: 1))
    }

    /// Live fixes that are lost leave gaps among the newest sequences. The answer must still show the gaps in a backlog.
    @Test func ofManyRangesTheNewestAndTheOldestAreNamed() throws {
        var end = host()
        end.receive(flags: FrameFlags(poll: .first))
        let stored = durable((1...40).map { UInt32(2 * $0)...UInt32(2 * $0) })
        let taken = end.takeAnswer(from: stored)
        let answer = try #require(taken)
        #expect(answer.firstMissing == 0)
        #expect(answer.durable.count == 32)
        #expect(answer.durable[0] == SequenceRange(80))
        #expect(answer.durable[1] == SequenceRange(62))
        #expect(answer.durable[31] == SequenceRange(2))
    }

    /// A collar does not wait long enough for a longer answer.
    @Test func anAnswerHasAtMostFiftyOneBytes() throws {
        for gap: UInt32 in [1, 2, 3, 50, 1000, 100_000] {
            for length: UInt32 in [1, 2, 64, 5000] {
                for announcedEnd: UInt32 in [0, 40 * (gap + length)] {
                    var end = host()
                    end.receive(flags: FrameFlags(poll: .first))
                    var stored = RangesOfDurable(announcedEnd: announcedEnd)
                    for index in 0..<40 as Range<UInt32> {
                        let first = gap + index * (gap + length)
                        if let range = SequenceRange(first, first + length - 1) { stored.ranges.append(range) }
                    }
                    let taken = end.takeAnswer(from: stored)
                    let answer = try #require(taken)
                    #expect(answer.durable.count >= (announcedEnd > 0 ? 2 : 4))
                    #expect(answer.durable[0] == stored.ranges[39])
                    #expect(answer.durable[answer.durable.count - 1] == stored.ranges[0])
                    #expect(announcedEnd == 0 || answer.resend.count > 0)
                    var byteCount = 0
                    _ = try [UInt8](capacity: 253) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                        try answer.encode(address: 1, log: .sample, into: &output)
                        byteCount = output.count
                    }
                    #expect(byteCount <= 51, "gap \(gap), length \(length): \(answer.durable.count) ranges")
                    // The frame holds every range of the answer.
                    let sent = try [UInt8](capacity: 51) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                        try answer.encode(address: 1, log: .sample, into: &output)
                    }
                    #expect(try Message.decode(sent.span, log: .sample, reference: 0) == .acknowledgement(answer))
                }
            }
        }
    }

    @Test func lostRangesAreAskedForOldestFirst() throws {
        var end = host()
        end.receive(flags: FrameFlags(poll: .first))
        let taken = end.takeAnswer(from: durable([0...1, 4...5, 7...9], announcedEnd: 9))
        let answer = try #require(taken)
        #expect(answer == acknowledgement(2, poll: 1, durable: [7...9, 4...5], resend: [2...3, 6...6]))
    }

    @Test func atMostThirtyTwoLostRangesAreAskedFor() throws {
        var end = host()
        end.receive(flags: FrameFlags(poll: .first))
        let stored = durable((0...40).map { UInt32(2 * $0)...UInt32(2 * $0) }, announcedEnd: 80)
        let taken = end.takeAnswer(from: stored)
        let answer = try #require(taken)
        #expect(answer.resend.count == 32)
        #expect(answer.resend[0] == SequenceRange(1))
        #expect(answer.resend[31] == SequenceRange(63))
    }

    @Test func theHighestSequenceOnlyGrows() {
        var end = host(highestSequence: 5)
        end.learn(of: 3)
        #expect(end.highestSequence == 5)
        end.learn(of: 9)
        #expect(end.highestSequence == 9)
    }
}
