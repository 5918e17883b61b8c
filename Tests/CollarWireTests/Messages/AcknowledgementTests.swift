import CollarWire
import Testing

/// Acknowledgements, encoded and decoded again.
@Suite struct AcknowledgementTests {
    private func random(_ random: inout SeededRandom) -> Acknowledgement {
        let firstMissing = random.oneIn(4) ? 0 : UInt32(random.below(1 &<< 31))
        let durable = random.ranges(upTo: random.below(33), from: firstMissing + 1)
        let resend = random.ranges(upTo: random.below(33), from: UInt32(random.below(1000)))
        return Acknowledgement(
            receiverID: 1 + random.anyLength() / 2, poll: PollNumber(rawValue: UInt8(random.below(8))),
            firstMissing: firstMissing, durable: SequenceRangeList(durable.reversed()),
            resend: SequenceRangeList(resend))
    }

    private func size(_ acknowledgement: Acknowledgement) -> Int {
        let durable = descendingBitCounts(
            acknowledgement.durable.ranges, firstMissing: acknowledgement.firstMissing)
        let resend = ascendingBitCounts(acknowledgement.resend.ranges)
        return 7 + (76 + (durable + resend).reduce(0, +) + 7) / 8
    }

    @Test func everyListThatFitsComesBack() throws {
        var random = SeededRandom(seed: 0xAC)
        var wholeCount = 0
        for _ in 0..<20_000 {
            let sent = self.random(&random)
            guard size(sent) <= 253 else { continue }
            wholeCount += 1
            let bytes = try frame(of: .acknowledgement(sent), log: .sample)
            #expect(bytes.count == size(sent))
            #expect(try decoded(bytes) == .acknowledgement(sent))
        }
        #expect(wholeCount > 5_000)
    }

    /// Section 9: the sender first leaves out resend ranges, newest first, except the oldest one. Then it leaves out durable
    /// ranges, oldest first. So if a durable range is left out, at most one resend range is sent.
    @Test func whatDoesNotFitIsLeftOutInOrderForEveryOutputSize() throws {
        var random = SeededRandom(seed: 0xAD)
        var wrong: [(room: Int, Acknowledgement)] = []
        for _ in 0..<100 {
            let sent = self.random(&random)
            for room in 17...253 {
                let expected = fitted(sent, room: room)
                let bytes = try frame(of: .acknowledgement(sent), log: .sample, room: room)
                if try bytes.count > room || decoded(bytes) != .acknowledgement(expected) { wrong.append((room, sent)) }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of 23,700; rooms \(wrong.prefix(9).map(\.room))")
    }

    private func fitted(_ sent: Acknowledgement, room: Int) -> Acknowledgement {
        var fitted = sent
        let budget = (room - 7) * 8 - 76
        let durable = descendingBitCounts(sent.durable.ranges, firstMissing: sent.firstMissing)
        let resend = ascendingBitCounts(sent.resend.ranges)
        let reserved = resend.first.map { $0 <= budget ? $0 : 0 } ?? 0
        let kept = countThatFits(durable, bitBudget: budget - reserved)
        fitted.durable = SequenceRangeList(Array(sent.durable.ranges.prefix(kept)))
        let rest = kept < durable.count ? reserved : budget - durable.reduce(0, +)
        let resent = countThatFits(kept < durable.count ? Array(resend.prefix(1)) : resend, bitBudget: rest)
        fitted.resend = SequenceRangeList(Array(sent.resend.ranges.prefix(resent)))
        return fitted
    }

    @Test func anOutputLargerThanTheLargestFrameIsUsedUpTo253Bytes() throws {
        var random = SeededRandom(seed: 0xAE)
        var tooLargeCount = 0
        var errors: [EncodeError] = []
        for _ in 0..<1_000 {
            let sent = self.random(&random)
            if size(sent) > 253 { tooLargeCount += 1 }
            let largest = try frame(of: .acknowledgement(sent), log: .sample, room: 253)
            do throws(EncodeError) {
                let bytes = try frame(of: .acknowledgement(sent), log: .sample, room: 400)
                #expect(bytes == largest)
            } catch {
                errors.append(error)
            }
        }
        #expect(errors.isEmpty)
        #expect(tooLargeCount > 20)
    }

    @Test func withoutRangesItHas17Bytes() throws {
        let none = Acknowledgement(receiverID: 1, poll: nil, firstMissing: .max)
        let bytes = try frame(of: .acknowledgement(none), log: .sample, room: 17)
        #expect(bytes.count == 17)
        #expect(try decoded(bytes) == .acknowledgement(none))
        #expect(throws: EncodeError.frameTooSmall(neededByteCount: 17)) {
            try frame(of: .acknowledgement(none), log: .sample, room: 16)
        }
    }

    @Test func thePollStandsInTheLowByte() throws {
        #expect(try frame(of: .acknowledgement(.sample), address: 9, log: .sample).prefix(4) == [0x30, 0, 9, 3])
    }

    @Test(arguments: [
        [10...10], [5...12], [3...4], [20...30, 30...40], [30...40, 20...29], [20...30, 32...40], [12...0xFFFF_FFFF],
    ] as [[ClosedRange<UInt32>]])
    func durableRangesThatAreNotApartAboveTheFirstMissingAreNotWritten(_ ranges: [ClosedRange<UInt32>]) {
        let wrong = Acknowledgement(
            receiverID: 1, poll: nil, firstMissing: 10, durable: SequenceRangeList(ranges))
        #expect(throws: EncodeError.self) { try frame(of: .acknowledgement(wrong), log: .sample) }
    }

    @Test(arguments: [
        [20...30, 30...40], [20...30, 31...40], [30...40, 10...20], [12...0xFFFF_FFFF],
    ] as [[ClosedRange<UInt32>]])
    func rangesToResendThatAreNotApartAreNotWritten(_ ranges: [ClosedRange<UInt32>]) {
        let wrong = Acknowledgement(
            receiverID: 1, poll: nil, firstMissing: 10, resend: SequenceRangeList(ranges))
        #expect(throws: EncodeError.self) { try frame(of: .acknowledgement(wrong), log: .sample) }
    }

    @Test func receiverZeroIsNotWritten() {
        let wrong = Acknowledgement(receiverID: 0, poll: nil, firstMissing: 10)
        #expect(throws: EncodeError.self) { try frame(of: .acknowledgement(wrong), log: .sample) }
    }
}

/// Acknowledgements that break section 9 are refused.
@Suite struct AcknowledgementRejectionTests {
    private func end(_ payload: Payload, lowByte: UInt8 = 0) -> DecodeError? {
        do throws(DecodeError) {
            _ = try decoded(sealed(.acknowledgement, lowByte: lowByte, payload: payload.bytes, log: .sample))
            return nil
        } catch {
            return error
        }
    }

    private func isRangeRefused(_ payload: Payload) -> Bool {
        if case .invalidField(.range, _) = end(payload) { true } else { false }
    }

    private let max: UInt32 = 0xFFFF_FFFE

    @Test func aPollAboveSevenIsRefused() throws {
        let payload = try Payload(.bits(1, 32), .bits(5, 32), .bits(0, 12))
        #expect(end(payload, lowByte: 7) == nil)
        #expect(end(payload, lowByte: 8) == .invalidField(.poll, code: 8))
        #expect(end(payload, lowByte: 255) == .invalidField(.poll, code: 255))
    }

    @Test func receiverZeroIsRefused() throws {
        let payload = try Payload(.bits(0, 32), .bits(5, 32), .bits(0, 12))
        #expect(end(payload) != nil)
    }

    @Test func moreThan32RangesAreRefused() throws {
        #expect(isRangeRefused(try Payload(.bits(1, 32), .bits(5, 32), .bits(33, 6), .bits(0, 6), .bits(.max, 32))))
        #expect(isRangeRefused(try Payload(.bits(1, 32), .bits(5, 32), .bits(0, 6), .bits(33, 6), .bits(.max, 32))))
        #expect(isRangeRefused(try Payload(.bits(1, 32), .bits(5, 32), .bits(63, 6), .bits(63, 6), .bits(.max, 32))))
    }

    private func durable(_ firstMissing: UInt32, _ distance: UInt32, _ count: UInt32) throws -> Payload {
        try Payload(
            .bits(1, 32), .bits(firstMissing, 32), .bits(1, 6), .bits(0, 6), .gamma(distance), .gamma(count))
    }

    @Test func aDurableRangeLiesAboveTheFirstMissing() throws {
        #expect(end(try durable(5, 3, 3)) == nil)
        #expect(isRangeRefused(try durable(5, 3, 4)))
        #expect(isRangeRefused(try durable(5, 3, .max)))
    }

    @Test func aDurableRangeEndsAtTheLastSequence() throws {
        #expect(end(try durable(5, max - 5, 1)) == nil)
        #expect(isRangeRefused(try durable(5, max - 4, 1)))
        #expect(isRangeRefused(try durable(5, .max, 1)))
        #expect(isRangeRefused(try durable(max, 1, 1)))
        #expect(isRangeRefused(try durable(.max, .max, .max)))
    }

    @Test func aFurtherDurableRangeLiesAboveTheFirstMissingToo() throws {
        func second(_ gap: UInt32, _ count: UInt32) throws -> Payload {
            try Payload(
                .bits(1, 32), .bits(5, 32), .bits(2, 6), .bits(0, 6), .gamma(10), .gamma(1), .gamma(gap),
                .gamma(count))
        }
        #expect(end(try second(1, 8)) == nil)
        #expect(isRangeRefused(try second(1, 9)))
        #expect(isRangeRefused(try second(9, 1)))
        #expect(isRangeRefused(try second(.max, .max)))
    }

    @Test func aRangeToResendEndsAtTheLastSequence() throws {
        func resend(_ first: UInt32, _ count: UInt32) throws -> Payload {
            try Payload(.bits(1, 32), .bits(5, 32), .bits(0, 6), .bits(1, 6), .bits(first, 32), .gamma(count))
        }
        #expect(end(try resend(0, .max)) == nil)
        #expect(end(try resend(max, 1)) == nil)
        #expect(isRangeRefused(try resend(max, 2)))
        #expect(isRangeRefused(try resend(.max, 1)))
        #expect(isRangeRefused(try resend(.max, .max)))
    }

    @Test func aFurtherRangeToResendEndsThereToo() throws {
        func second(_ gap: UInt32, _ count: UInt32) throws -> Payload {
            try Payload(
                .bits(1, 32), .bits(5, 32), .bits(0, 6), .bits(2, 6), .bits(10, 32), .gamma(1), .gamma(gap),
                .gamma(count))
        }
        #expect(end(try second(1, 1)) == nil)
        #expect(end(try second(max - 11, 1)) == nil)
        #expect(isRangeRefused(try second(max - 11, 2)))
        #expect(isRangeRefused(try second(.max, .max)))
    }

    @Test func aNumberOf32ZeroBitsIsRefused() throws {
        let payload = try Payload(
            .bits(1, 32), .bits(5, 32), .bits(1, 6), .bits(0, 6), .bits(0, 32), .bits(.max, 32), .bits(.max, 32))
        #expect(isRangeRefused(payload))
    }

    /// The payload is cut after each byte: inside a number of fixed width, or inside an Elias gamma code.
    @Test func aPayloadThatEndsInsideAFieldIsTruncated() throws {
        let whole = try frame(of: .acknowledgement(.sample), log: .sample)
        var other: [DecodeError?] = []
        for end in 4..<whole.count - 3 {
            do throws(DecodeError) {
                _ = try decoded(sealed(Array(whole.prefix(end)), log: .sample))
                other.append(nil)
            } catch {
                if error != .truncated(bitOffset: end * 8) { other.append(error) }
            }
        }
        #expect(other.isEmpty)
    }
}
