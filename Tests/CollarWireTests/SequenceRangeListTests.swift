import CollarWire
import Testing

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
