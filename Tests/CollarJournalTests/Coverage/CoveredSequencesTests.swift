import CollarWire
import Testing

@testable import CollarJournal

/// Compares ``CoveredSequences`` with plain sets.
@Suite struct CoveredSequencesTests {
    private func range(_ first: UInt32, _ last: UInt32) throws -> SequenceRange {
        try #require(SequenceRange(first, last))
    }

    @Test func agreesWithAPlainSetUnderRandomInsertions() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var covered = CoveredSequences()
            var plain: Set<UInt32> = []
            for _ in 0..<60 {
                let first = UInt32.random(in: 0..<64, using: &random)
                let last = min(63, first + (Bool.random(using: &random) ? 0 : UInt32.random(in: 0..<9, using: &random)))
                let isNew = !(first...last).allSatisfy(plain.contains)
                let result =
                    first == last ? covered.insert(first) : covered.insert(try range(first, last))
                #expect(result == (isNew ? .inserted : .duplicate), "seed \(seed)")
                plain.formUnion(first...last)
                #expect((0..<70).allSatisfy { covered.contains($0) == plain.contains($0) }, "seed \(seed)")
                #expect(covered.count == UInt64(plain.count), "seed \(seed)")
                #expect(covered.firstMissing == (0..<70).first { !plain.contains($0) }, "seed \(seed)")
                #expect(covered.highest == plain.max(), "seed \(seed)")
                for (left, right) in zip(covered.ranges, covered.ranges.dropFirst()) {
                    #expect(left.last + 1 < right.first, "seed \(seed): ranges lie apart")
                }
            }
        }
    }

    @Test func newestRangesComeFromTheEndAndOldestFromTheStart() throws {
        var covered = CoveredSequences()
        for pair in [(0, 4), (7, 9), (12, 12), (20, 30)] as [(UInt32, UInt32)] {
            covered.insert(try range(pair.0, pair.1))
        }
        #expect(covered.newestRange(below: nil) == SequenceRange(20, 30))
        #expect(covered.newestRange(below: 31) == SequenceRange(20, 30))
        #expect(covered.newestRange(below: 30) == SequenceRange(12))
        #expect(covered.newestRange(below: 12) == SequenceRange(7, 9))
        #expect(covered.newestRange(below: 9) == nil)
        #expect(covered.oldestRange(above: covered.firstMissing) == SequenceRange(7, 9))
        #expect(covered.oldestRange(above: 6) == SequenceRange(7, 9))
        #expect(covered.oldestRange(above: 7) == SequenceRange(12))
        #expect(covered.oldestRange(above: 12) == SequenceRange(20, 30))
        #expect(covered.oldestRange(above: 20) == nil)
        #expect(covered.oldestRange(above: 31) == nil)
        var open = CoveredSequences()
        open.insert(5)
        #expect(open.firstMissing == 0)
        #expect(open.newestRange(below: nil) == SequenceRange(5))
    }

    @Test func whatIsTakenOutIsMissingAndCountsAsAnnounced() throws {
        var random = SeededRandom(seed: 9)
        for _ in 0..<300 {
            var covered = CoveredSequences()
            var other = CoveredSequences()
            var model: Set<UInt32> = []
            var announcedEnd: UInt32 = 0
            for _ in 0..<30 {
                let first = UInt32.random(in: 0...60, using: &random)
                let part = try range(first, first + UInt32.random(in: 0...9, using: &random))
                let sequences = Set(part.first...part.last)
                if Bool.random(using: &random) {
                    covered.insert(part)
                    model.formUnion(sequences)
                } else {
                    let isThere = !model.isDisjoint(with: sequences)
                    #expect(covered.remove(part) == isThere)
                    model.subtract(sequences)
                    if isThere { announcedEnd = max(announcedEnd, part.last + 1) }
                    other.insert(part)
                }
                #expect(Set(covered.ranges.flatMap { Array($0.first...$0.last) }) == model)
                #expect(covered.count == UInt64(model.count))
                #expect(covered.announcedEnd >= announcedEnd)
                let rest = covered.covered.subtracting(other.covered).flatMap { Array($0.first...$0.last) }
                #expect(rest == model.filter { !other.contains($0) }.sorted())
            }
        }
        var all = CoveredSequences()
        all.insert(try range(0, 0xFFFF_FFFE))
        #expect(all.remove(try range(5, 0xFFFF_FFFE)))
        #expect(all.ranges == [try range(0, 4)])
        #expect(all.oldestLostRange(from: 0) == SequenceRange(5, 0xFFFF_FFFE))
    }

    @Test func onlyAnnouncedGapsAreLost() throws {
        var covered = CoveredSequences()
        covered.insert(try range(0, 4))
        covered.insert(try range(8, 9))
        covered.insert(try range(15, 20))
        covered.announce()
        #expect(covered.announcedEnd == 5)
        #expect(covered.oldestLostRange(from: 0) == nil)
        covered.announce(below: 13)
        #expect(covered.oldestLostRange(from: 0) == SequenceRange(5, 7))
        #expect(covered.oldestLostRange(from: 6) == SequenceRange(6, 7))
        #expect(covered.oldestLostRange(from: 8) == SequenceRange(10, 12))
        #expect(covered.oldestLostRange(from: 13) == nil)
        covered.insert(try range(5, 7))
        covered.insert(try range(10, 12))
        #expect(covered.oldestLostRange(from: 0) == nil)
    }

    @Test func theNumberOfRangesIsLimitedAndSequencesEnd() throws {
        var covered = CoveredSequences()
        for index in 0..<4 as Range<UInt32> { #expect(covered.insert(index * 10, rangeLimit: 4) == .inserted) }
        let before = covered
        #expect(covered.insert(55, rangeLimit: 4) == .refused)
        #expect(covered == before)
        #expect(covered.insert(31, rangeLimit: 4) == .inserted)
        #expect(covered.insert(try range(5, 9), rangeLimit: 4) == .inserted)
        #expect(covered.insert(0xFFFF_FFFF) == .refused)
        #expect(covered.insert(0xFFFF_FFFE) == .inserted)
        #expect(covered.insert(0xFFFF_FFFF) == .refused)
        #expect(covered.insert(try range(0, 0xFFFF_FFFE)) == .inserted)
        #expect(covered.firstMissing == 0xFFFF_FFFF)
        #expect(covered.count == 0xFFFF_FFFF)
        #expect(!covered.contains(0xFFFF_FFFF))
    }
}
