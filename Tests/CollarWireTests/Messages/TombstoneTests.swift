import CollarWire
import Testing

/// Tombstones, encoded and decoded again.
@Suite struct TombstoneTests {
    @Test func everyListComesBackAndWhatDoesNotFitIsLeftOutTheNewestFirst() throws {
        var random = SeededRandom(seed: 0x70)
        for _ in 0..<2_000 {
            let ranges = random.ranges(upTo: 1 + random.below(32), from: random.oneIn(2) ? 0 : random.anyLength() / 2)
            let sent = Tombstone(ranges: SequenceRangeList(ranges))
            let bitCounts = ascendingBitCounts(ranges)
            for room in [51, 253, 20 + random.below(234)] {
                let count = countThatFits(bitCounts, bitBudget: (room - 7) * 8 - 6)
                let expected = Tombstone(ranges: SequenceRangeList(Array(ranges.prefix(count))))
                let bytes = try frame(of: .tombstone(sent), log: .sample, room: room)
                let bitCount = bitCounts.prefix(count).reduce(6, +)
                #expect(bytes.count == 7 + (bitCount + 7) / 8)
                #expect(try decoded(bytes) == .tombstone(expected))
            }
        }
    }

    /// In a smaller room the error names the needed size, and in a room of this size the tombstone fits.
    @Test(arguments: [0...0, 5...40, 0...1000, 7...100_000, 0...0xFFFF_FFFE] as [ClosedRange<UInt32>])
    func oneRangeNeedsWhatItSays(_ range: ClosedRange<UInt32>) {
        let sent = Tombstone(ranges: SequenceRangeList([range]))
        let needed = 7 + (6 + ascendingBitCounts([range]).reduce(0, +) + 7) / 8
        let answers = (0...needed).map { room in
            Result { () throws(EncodeError) in try frame(of: .tombstone(sent), log: .sample, room: room).count }
        }
        let refusal = Result<Int, EncodeError>.failure(.frameTooSmall(neededByteCount: needed))
        #expect(answers == Array(repeating: refusal, count: needed) + [.success(needed)])
    }

    @Test func anOutputLargerThanTheLargestFrameIsUsedUpTo253Bytes() throws {
        let ranges = (0..<32 as Range<UInt32>).map { $0 &<< 27...($0 &<< 27 | 0x3FF_FFFF) }
        let sent = Tombstone(ranges: SequenceRangeList(ranges))
        let largest = try frame(of: .tombstone(sent), log: .sample, room: 253)
        #expect(throws: Never.self) {
            let bytes = try frame(of: .tombstone(sent), log: .sample, room: 500)
            #expect(bytes == largest)
        }
    }

    @Test func noRangesAreNotWritten() {
        #expect(throws: EncodeError.self) { try frame(of: .tombstone(Tombstone(ranges: [])), log: .sample) }
    }

    @Test(arguments: [
        [20...30, 31...40], [20...30, 25...40], [20...30, 5...6], [12...0xFFFF_FFFF],
    ] as [[ClosedRange<UInt32>]])
    func rangesThatAreNotApartAreNotWritten(_ ranges: [ClosedRange<UInt32>]) {
        let wrong = Tombstone(ranges: SequenceRangeList(ranges))
        #expect(throws: EncodeError.self) { try frame(of: .tombstone(wrong), log: .sample) }
    }

    private func end(_ payload: Payload) -> DecodeError? {
        do throws(DecodeError) {
            _ = try decoded(sealed(.tombstone, payload: payload.bytes, log: .sample))
            return nil
        } catch {
            return error
        }
    }

    @Test func fromOneTo32RangesAreRead() throws {
        #expect(end(try Payload(.bits(0, 6))) == .invalidField(.range, code: 0))
        #expect(end(try Payload(.bits(33, 6), .bits(.max, 32), .bits(.max, 32))) == .invalidField(.range, code: 33))
        #expect(end(try Payload(.bits(1, 6), .bits(9, 32), .gamma(1))) == nil)
    }

    @Test func noRangeReachesBeyondTheLastSequence() throws {
        #expect(end(try Payload(.bits(1, 6), .bits(0, 32), .gamma(.max))) == nil)
        #expect(end(try Payload(.bits(1, 6), .bits(1, 32), .gamma(.max))) == .invalidField(.range, code: .max))
        #expect(end(try Payload(.bits(1, 6), .bits(.max, 32), .gamma(1))) == .invalidField(.range, code: .max))
    }

    @Test func aPayloadThatEndsInsideAFieldIsTruncated() throws {
        let whole = try frame(of: .tombstone(.sample), log: .sample)
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

    @Test func whatFollowsTheLastFieldIsRefused() throws {
        let payload = try Payload(.bits(1, 6), .bits(9, 32), .gamma(1), .bits(1, 1))
        #expect(end(payload) == .nonzeroPadding(bitOffset: 71))
        let longer = try Payload(.bits(1, 6), .bits(9, 32), .gamma(1), .bits(0, 9))
        #expect(end(longer) == .trailingBytes(byteOffset: 9))
    }
}
