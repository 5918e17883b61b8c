import CollarARQ
import CollarWire

/// Which sequences of one log are covered: stored, or known to be lost. A fix that was reported lost can still come later; a
/// stored one never becomes lost.
///
/// The value also holds the end of the coverage that was announced to the collar. With it, ``oldestLostRange(from:)`` finds
/// announced sequences that were lost to damage.
package struct CoveredSequences: DurableSequences, Equatable, Sendable {
    /// The highest number of ranges that are kept. Without this limit, a lying collar could fill the memory.
    package static let maximumRangeCount = 65_536

    package private(set) var covered = SequenceRanges()

    package private(set) var lost = SequenceRanges()

    /// Every sequence below this one counts as announced to the collar.
    package private(set) var announcedEnd: UInt32 = 0

    package init() {}

    /// The covered ranges, in order; no two of them touch.
    package var ranges: [SequenceRange] { covered.ranges }

    package var count: UInt64 { covered.count }

    /// The number of ranges kept: the covered ones plus the lost ones.
    package var rangeCount: Int { covered.ranges.count + lost.ranges.count }

    /// Every sequence below this one is covered.
    package var firstMissing: UInt32 {
        guard let range = covered.ranges.first, range.first == 0 else { return 0 }
        return range.last + 1
    }

    package var highest: UInt32? { covered.ranges.last?.last }

    /// Whether `sequence` is covered.
    ///
    /// Complexity: a binary search over the ranges; constant if `sequence` is not below the start of the last range.
    package func contains(_ sequence: UInt32) -> Bool { covered.contains(sequence) }

    /// Whether the fix `sequence` is stored.
    ///
    /// Complexity: as for ``contains(_:)``, with a second search if something is lost.
    package func isStored(_ sequence: UInt32) -> Bool {
        covered.contains(sequence) && (lost.ranges.isEmpty || !lost.contains(sequence))
    }

    /// The stored sequences.
    ///
    /// Complexity: constant if nothing is lost, else a copy of the ranges and a removal for each lost range.
    package var stored: SequenceRanges {
        guard !lost.ranges.isEmpty else { return covered }
        var stored = covered
        for range in lost.ranges { stored.remove(range) }
        return stored
    }

    /// Marks a stored fix as covered, unless more than `rangeLimit` ranges would result, see ``rangeCount``.
    /// - Returns: `inserted` also for a sequence that was lost.
    ///
    /// Complexity: constant if `sequence` directly follows the last range, else a binary search and a move of the later ranges.
    @discardableResult
    package mutating func insert(
        _ sequence: UInt32, rangeLimit: Int = CoveredSequences.maximumRangeCount
    ) -> SequenceRanges.Insertion {
        guard !lost.ranges.isEmpty else { return covered.insert(sequence, rangeLimit: rangeLimit) }
        guard lost.contains(sequence) else {
            return covered.insert(sequence, rangeLimit: rangeLimit - lost.ranges.count)
        }
        guard rangeCount < rangeLimit || !isWithinLost(sequence) else { return .refused }
        lost.remove(SequenceRange(sequence))
        return .inserted
    }

    /// Whether a sequence lies inside a lost range but not at one of its ends: storing the fix then splits the range in two.
    private func isWithinLost(_ sequence: UInt32) -> Bool {
        guard let range = lost.range(holding: sequence) else { return false }
        return range.first < sequence && sequence < range.last
    }

    /// Marks a range as stored, including its parts that were lost.
    ///
    /// Complexity: a binary search and a move of the later ranges.
    @discardableResult
    package mutating func insert(
        _ range: SequenceRange, rangeLimit: Int = CoveredSequences.maximumRangeCount
    ) -> SequenceRanges.Insertion {
        let isNew = lost.remove(range)
        let result = covered.insert(range, rangeLimit: rangeLimit - lost.ranges.count)
        return isNew ? .inserted : result
    }

    /// Marks a range as covered without changing which parts of it are lost.
    mutating func insert(covered range: SequenceRange) { covered.insert(range) }

    /// Marks as lost those parts of a range that were not covered. They count as covered from then on.
    ///
    /// Complexity: a binary search, then linear in the covered ranges that overlap `range`.
    @discardableResult
    package mutating func insert(
        lost range: SequenceRange, rangeLimit: Int = CoveredSequences.maximumRangeCount
    ) -> SequenceRanges.Insertion {
        let new = covered.missingRanges(in: range)
        guard !new.isEmpty else { return .duplicate }
        // All parts merge into one covered range, which may reduce the number of ranges. Near the limit, a trial on a copy
        // counts them.
        guard rangeCount + new.count < rangeLimit else {
            var next = self
            guard next.insert(lost: range, rangeLimit: .max) == .inserted, next.rangeCount <= rangeLimit else { return .refused }
            self = next
            return .inserted
        }
        guard covered.insert(range) == .inserted else { return .refused }
        for part in new { lost.insert(part) }
        return .inserted
    }

    /// Whether a range contains the first missing sequence. Covering such a range adds at most one range, the one that begins
    /// at sequence 0.
    func isNext(_ range: SequenceRange) -> Bool { range.first <= firstMissing && range.last >= firstMissing }

    package var storedCount: UInt64 { count - lost.count }

    /// Marks the range of a loss as covered. If its fixes may still be stored, the parts that were not covered become lost; else
    /// the whole range counts as stored.
    @discardableResult
    mutating func insert(_ loss: JournaledLoss, rangeLimit: Int = CoveredSequences.maximumRangeCount) -> SequenceRanges.Insertion {
        loss.reason.mayBeRevised
            ? insert(lost: loss.range, rangeLimit: rangeLimit) : insert(loss.range, rangeLimit: rangeLimit)
    }

    /// Marks a range as not covered because its stored records are gone. The range may have been announced, so everything up to
    /// its end counts as announced from now on, and ``oldestLostRange(from:)`` finds the sequences that are missing there.
    /// - Returns: false if nothing of the range was covered; nothing changes then.
    ///
    /// Complexity: a binary search and a move of the later ranges.
    @discardableResult
    package mutating func remove(_ range: SequenceRange) -> Bool {
        guard covered.remove(range) else { return false }
        lost.remove(range)
        announce(below: min(range.last, Fix.maximumSequence) + 1)
        return true
    }

    /// Remembers that everything below ``firstMissing``, or below `end` if that is higher, was announced.
    package mutating func announce(below end: UInt32 = 0) { announcedEnd = max(announcedEnd, end, firstMissing) }

    /// Sequences whose records are gone: covered here but not in `found`, or stored here but lost in `found`.
    ///
    /// Complexity: for each range a binary search in the ranges of `found`, then linear in those that overlap it.
    func gone(from found: CoveredSequences) -> [SequenceRange] {
        var gone = SequenceRanges()
        for range in covered.subtracting(found.covered) { gone.insert(range) }
        for range in found.lost.ranges.flatMap(stored.intersection) { gone.insert(range) }
        return gone.ranges
    }

    /// The newest durable range above ``firstMissing`` whose last sequence is below `bound`; nil if there is none. A `bound`
    /// of nil means no bound.
    ///
    /// Complexity: a binary search over the ranges.
    package func newestRange(below bound: UInt32?) -> SequenceRange? {
        let end = bound.map { covered.indexOfRange(endingAtOrAbove: $0) } ?? ranges.count
        guard end > 0 else { return nil }
        let range = ranges[end - 1]
        // A range that begins at 0 lies below the first missing sequence, so an acknowledgement need not name it.
        return range.first == 0 ? nil : range
    }

    /// The oldest durable range whose first sequence is above `bound`; nil if there is none.
    ///
    /// Complexity: a binary search over the ranges.
    package func oldestRange(above bound: UInt32) -> SequenceRange? {
        var index = covered.indexOfRange(endingAtOrAbove: bound)
        if index < ranges.count, ranges[index].first <= bound { index += 1 }
        return index < ranges.count ? ranges[index] : nil
    }

    /// The oldest range at or above `bound` that was announced as covered and is missing now; nil if there is none.
    ///
    /// Complexity: a binary search over the ranges.
    package func oldestLostRange(from bound: UInt32) -> SequenceRange? {
        var first = bound
        var index = covered.indexOfRange(endingAtOrAbove: first)
        if index < ranges.count, ranges[index].first <= first {
            first = ranges[index].last + 1
            index += 1
        }
        guard first < announcedEnd else { return nil }
        let end = index < ranges.count ? min(ranges[index].first, announcedEnd) : announcedEnd
        return SequenceRange(first, end - 1)
    }
}
