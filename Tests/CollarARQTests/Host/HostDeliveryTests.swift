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

/// Every pattern of losses among the first frames of both directions, with a host that stores every fix at once.
@Suite struct LossPatternTests {
    private struct Run {
        var frames = 0
        var lost = 0
        var arrivals: [UInt32: Int] = [:]
        var isDelivered = false
    }

    /// If bit n of `uplinkLosses` or `downlinkLosses` is set, frame n of that direction is lost.
    private func run(
        uplinkLosses: UInt32, downlinkLosses: UInt32, fixes: UInt32, arrivingEvery interval: Int
    ) -> Run {
        let atBoot: UInt32 = interval == 0 ? fixes : 1
        var bench = Bench(log: 0..<atBoot)
        var nextSequence = atBoot
        var host = HostDelivery(log: .sample, receiverID: 7, highestSequence: 0)
        var stored = SetOfDurable()
        var answers: UInt32 = 0
        var result = Run()
        while result.frames < 200 {
            guard let transmission = bench.send() else {
                if bench.delivery.delivered.firstMissing == fixes { break }
                _ = bench.waitForDeadline()
                continue
            }
            let frame = UInt32(result.frames)
            result.frames += 1
            if interval > 0, result.frames % interval == 0, nextSequence < fixes {
                nextSequence += 1
                bench.delivery.logChanged(oldestSequence: 0, nextSequence: nextSequence)
            }
            if frame < 32, uplinkLosses >> frame & 1 == 1 {
                result.lost += 1
                continue
            }
            if case .logEntry(let sequence) = transmission.content {
                #expect(sequence < nextSequence, "a fix that is not in the log")
                result.arrivals[sequence, default: 0] += 1
                stored.insert(sequence)
            }
            host.receive(flags: FrameFlags(poll: transmission.poll))
            guard let answer = host.takeAnswer(from: stored) else { continue }
            answers += 1
            if answers <= 32, downlinkLosses >> (answers - 1) & 1 == 1 {
                result.lost += 1
                continue
            }
            _ = bench.receive(answer)
        }
        result.isDelivered =
            bench.delivery.delivered.firstMissing == fixes && stored.sequences == Set(0..<fixes)
        return result
    }

    /// Checks that every fix arrives, and that each lost frame costs at most two more frames.
    private func checkEveryPattern(arrivingEvery interval: Int) {
        let fixes: UInt32 = 6
        for pattern in 0..<UInt32(1 << 14) {
            let run = run(
                uplinkLosses: pattern & 0xFF, downlinkLosses: pattern >> 8, fixes: fixes, arrivingEvery: interval)
            let bound = 2 + Int(fixes) + 2 * run.lost + (interval == 0 ? 0 : 2 * Int(fixes))
            guard run.isDelivered, run.frames <= bound else {
                Issue.record("pattern \(pattern): \(run), at most \(bound) frames")
                return
            }
        }
    }

    @Test func aBacklogArrivesWhateverIsLost() { checkEveryPattern(arrivingEvery: 0) }

    @Test func fixesMadeOnTheWayArriveWhateverIsLost() { checkEveryPattern(arrivingEvery: 2) }

    @Test func withoutLossEveryFixIsSentOnce() {
        let run = run(uplinkLosses: 0, downlinkLosses: 0, fixes: 6, arrivingEvery: 0)
        #expect(run.isDelivered)
        #expect(run.arrivals.allSatisfy { $0.value == 1 })
        #expect(run.frames == 7)
    }
}
