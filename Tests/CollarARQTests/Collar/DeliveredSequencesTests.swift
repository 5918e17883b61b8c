import CollarARQ
import CollarWire
import Testing

/// The sequences that a collar knows to be durable at its receiver.
@Suite struct DeliveredSequencesTests {
    private func delivered(_ firstMissing: UInt32, _ durable: [ClosedRange<UInt32>]) -> DeliveredSequences {
        var result = DeliveredSequences(firstMissing: 0)
        result.update(from: acknowledgement(firstMissing, poll: 1, durable: durable), floor: nil)
        return result
    }

    @Test func namesWhatIsMissingFromAnyStart() {
        let state = delivered(3, [9...9, 5...6])
        #expect((0...11).map { state.contains($0) ? "x" : "." }.joined() == "xxx..xx..x..")
        #expect([0, 3, 4, 5, 6, 7, 9, 12].map(state.firstMissing(from:)) == [3, 3, 4, 7, 7, 7, 10, 12])
        #expect([12, 10, 9, 8, 7, 6, 5, 4, 3, 0].map(state.lastMissing(below:)) == [11, 8, 8, 7, 4, 4, 4, 3, nil, nil])
    }

    @Test func anAdvanceSwallowsTheRangesItReaches() {
        var state = delivered(2, [20...30, 10...12, 5...7])
        state.advance(to: 4)
        #expect(state.firstMissing == 4)
        state.advance(to: 5)
        #expect(state.firstMissing == 8)
        state.advance(to: 11)
        #expect(state.firstMissing == 13)
        state.advance(to: 40)
        #expect(state == DeliveredSequences(firstMissing: 40))
    }

    @Test func anAdvanceBackwardsChangesNothing() {
        var state = delivered(8, [12...13])
        let before = state
        state.advance(to: 3)
        #expect(state == before)
    }

    @Test func anUpdateForgetsRangesItDoesNotName() {
        var state = delivered(2, [20...30, 10...12])
        state.update(from: acknowledgement(2, poll: 2, durable: [20...30]), floor: nil)
        #expect(!state.contains(11))
        #expect(state.contains(25))
        state.update(from: acknowledgement(2, poll: 3), floor: nil)
        #expect(state == DeliveredSequences(firstMissing: 2))
    }

    @Test func anUpdateFromBelowKeepsTheWatermark() {
        var state = delivered(15, [])
        state.update(from: acknowledgement(3, poll: 2, durable: [30...31, 15...16, 5...8]), floor: nil)
        #expect(state.firstMissing == 17)
        #expect(state.contains(9))
        #expect(state.contains(30))
        #expect(!state.contains(17))
    }

    @Test func theHighestSequencesAreHandled() {
        let last = Fix.maximumSequence
        var state = delivered(last - 2, [last...last])
        #expect(state.contains(last))
        #expect(state.firstMissing(from: last) == last + 1)
        #expect(state.firstMissing(from: last - 1) == last - 1)
        state.advance(to: last)
        #expect(state == DeliveredSequences(firstMissing: last + 1))
    }

    /// Compares the state with a plain set, for every set of the first seven sequences.
    @Test func agreesWithAPlainSet() {
        for bits in 0..<128 as Range<UInt32> {
            let plain = (0..<7 as Range<UInt32>).filter { bits >> $0 & 1 == 1 }
            var host = SetOfDurable()
            for sequence in plain { host.insert(sequence) }
            var end = HostDelivery(log: .sample, receiverID: 7, highestSequence: 0)
            end.receive(flags: FrameFlags(poll: .first))
            guard let answer = end.takeAnswer(from: host) else {
                Issue.record("no answer to a poll")
                return
            }
            var state = DeliveredSequences(firstMissing: 0)
            state.update(from: answer, floor: nil)
            for sequence in 0..<9 as Range<UInt32> {
                #expect(state.contains(sequence) == plain.contains(sequence), "set \(bits), sequence \(sequence)")
                let missing = (sequence...9).first { !plain.contains($0) }
                let expected = sequence < state.firstMissing ? state.firstMissing : missing
                #expect(state.firstMissing(from: sequence) == expected, "set \(bits), sequence \(sequence)")
                let below = (0..<sequence).last { !plain.contains($0) }
                #expect(state.lastMissing(below: sequence) == below, "set \(bits), sequence \(sequence)")
            }
        }
    }
}
