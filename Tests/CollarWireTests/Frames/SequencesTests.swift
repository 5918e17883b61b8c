import CollarWire
import Testing

/// Completing a sequence of which only the low bits were sent.
@Suite struct SequenceNumberTests {
    /// The completed sequences by the definition in section 6, indexed by their low bits. The search goes from `reference`
    /// outwards, at each distance the lower number first, and takes the first number that ends in the low bits.
    private func nearestByBruteForce(to reference: UInt32, bitCount: Int) -> [UInt32] {
        let period = 1 &<< bitCount
        var found = [UInt32?](repeating: nil, count: period)
        for distance in 0...Int64(period) {
            for number in [Int64(reference) - distance, Int64(reference) + distance] {
                guard number >= 0, number <= 0xFFFF_FFFF else { continue }
                let low = Int(number) & (period - 1)
                if found[low] == nil { found[low] = UInt32(number) }
            }
        }
        return found.compactMap { $0 }
    }

    private func check(_ reference: UInt32, _ bitCount: Int) {
        let expected = nearestByBruteForce(to: reference, bitCount: bitCount)
        #expect(expected.count == 1 &<< bitCount)
        let actual = expected.indices.map {
            SequenceNumber.nearest(to: reference, lowBits: UInt32($0), bitCount: bitCount)
        }
        #expect(actual == expected, "reference \(reference), \(bitCount) bits")
    }

    @Test(arguments: 1...8)
    func fewBitsAtBothEndsAndBetween(_ bitCount: Int) {
        for offset in 0..<600 as Range<UInt32> {
            check(offset, bitCount)
            check(.max - offset, bitCount)
            check(0x7FFF_FF00 + offset, bitCount)
        }
    }

    @Test(arguments: [
        0, 1, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x1_0000, 0x1_8000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFE_FFFF,
        0xFFFF_0000, 0xFFFF_7FFE, 0xFFFF_7FFF, 0xFFFF_8000, 0xFFFF_FFFE, 0xFFFF_FFFF,
    ] as [UInt32])
    func sixteenBits(_ reference: UInt32) { check(reference, 16) }

    @Test func aWrapFollowsTheReferenceUpwardsAndDownwards() {
        #expect(SequenceNumber.nearest(to: 0x1_FFFF, lowBits: 3, bitCount: 16) == 0x2_0003)
        #expect(SequenceNumber.nearest(to: 0x2_0003, lowBits: 0xFFFF, bitCount: 16) == 0x1_FFFF)
        #expect(SequenceNumber.nearest(to: 0x2_0000, lowBits: 0x8000, bitCount: 16) == 0x1_8000)
    }

    @Test func thirtyOneBitsReachBothEnds() {
        #expect(SequenceNumber.nearest(to: 0, lowBits: 0x7FFF_FFFF, bitCount: 31) == 0x7FFF_FFFF)
        #expect(SequenceNumber.nearest(to: .max, lowBits: 0, bitCount: 31) == 0x8000_0000)
        #expect(SequenceNumber.nearest(to: 0x8000_0000, lowBits: 0x7FFF_FFFF, bitCount: 31) == 0x7FFF_FFFF)
    }
}

/// Ranges, and the list of fixed size that holds them.
@Suite struct SequenceRangeListTests {
    @Test func aRangeIsNotEmpty() {
        #expect(SequenceRange(5, 4) == nil)
        #expect(SequenceRange(5, 5) == SequenceRange(5))
        #expect(SequenceRange(5).count == 1)
        #expect(SequenceRange(0, .max)?.count == 4_294_967_296)
    }

    @Test func aRangeHoldsItsEnds() {
        let range = SequenceRange(5, 7)
        #expect((3...9).filter { range?.contains($0) == true } == [5, 6, 7])
    }

    /// Compares random operations on a list with the same operations on an array.
    @Test func aListBehavesLikeAnArrayOf32() {
        var random = SeededRandom(seed: 0x5E)
        for _ in 0..<300 {
            var list = SequenceRangeList()
            var model: [SequenceRange] = []
            for _ in 0..<150 {
                change(&list, &model, &random)
                #expect(list.count == model.count)
                #expect(list.isFull == (model.count == 32))
                #expect(model.indices.allSatisfy { list[$0] == model[$0] })
                let sequence = UInt32(random.below(40))
                #expect(list.contains(sequence) == model.contains { $0.contains(sequence) })
            }
        }
    }

    private func change(
        _ list: inout SequenceRangeList, _ model: inout [SequenceRange], _ random: inout SeededRandom
    ) {
        let first = UInt32(random.below(40))
        guard let range = SequenceRange(first, first + UInt32(random.below(3))) else { return }
        switch random.below(4) {
        case 0, 1:
            let isAdded = list.append(range)
            #expect(isAdded == (model.count < 32))
            if isAdded { model.append(range) }
        case 2:
            let place = random.below(model.count + 1)
            let isAdded = list.insert(range, at: place)
            #expect(isAdded == (model.count < 32))
            if isAdded { model.insert(range, at: place) }
        case 3 where !model.isEmpty:
            let place = random.below(model.count)
            list.remove(at: place)
            model.remove(at: place)
        default: break
        }
    }

    @Test func listsAreEqualWhereTheirRangesAreInTheSameOrder() {
        #expect([1...2, 4...5] as SequenceRangeList == [1...2, 4...5])
        #expect([1...2, 4...5] as SequenceRangeList != [4...5, 1...2])
        #expect([1...2] as SequenceRangeList != [1...2, 4...5])
        var shortened: SequenceRangeList = [1...2, 4...5]
        shortened.remove(at: 1)
        #expect(shortened == [1...2])
    }
}
