import CollarARQ
import CollarWire

/// Which sequences of one log are covered: stored, or known to be lost. A fix that was called lost may come after all; a stored
/// one is never lost.
///
/// It also remembers up to where coverage was announced to the collar, so that what damage took away afterwards shows
/// up in ``oldestLostRange(from:)``.
public struct CoveredSequences: DurableSequences, Equatable, Sendable {
    /// The most ranges kept, so that a collar that lies cannot fill the memory.
    public static let maximumRangeCount = 65_536

    /// All that is covered.
    private(set) var covered = SequenceRanges()

    /// What of it is lost.
    public private(set) var lost = SequenceRanges()

    /// Everything below this was announced as covered.
    public private(set) var announcedEnd: UInt32 = 0

    /// Nothing covered.
    public init() {}

    /// The covered ranges, in order, apart from one another.
    public var ranges: [SequenceRange] { covered.ranges }

    /// Sequences covered.
    public var count: UInt64 { covered.count }

    /// Ranges that are kept: those covered, and those lost.
    public var rangeCount: Int { covered.ranges.count + lost.ranges.count }

    /// Every sequence below this one is covered.
    public var firstMissing: UInt32 {
        guard let range = covered.ranges.first, range.first == 0 else { return 0 }
        return range.last + 1
    }

    /// The highest sequence covered; nil where nothing is.
    public var highest: UInt32? { covered.ranges.last?.last }

    /// Whether `sequence` is covered.
    ///
    /// Complexity: a binary search over the ranges; constant at the end.
    public func contains(_ sequence: UInt32) -> Bool { covered.contains(sequence) }

    /// Whether the fix `sequence` is stored.
    ///
    /// Complexity: as for ``contains(_:)``, twice where something is lost.
    public func isStored(_ sequence: UInt32) -> Bool {
        covered.contains(sequence) && (lost.ranges.isEmpty || !lost.contains(sequence))
    }

    /// What is stored.
    ///
    /// Complexity: linear in the ranges where something is lost.
    public var stored: SequenceRanges {
        guard !lost.ranges.isEmpty else { return covered }
        var stored = covered
        for range in lost.ranges { stored.remove(range) }
        return stored
    }

    /// Covers a stored fix.
    /// - Parameter rangeLimit: the most ranges afterwards, see ``rangeCount``.
    /// - Returns: that it was inserted also where it was lost.
    ///
    /// Complexity: constant at the end of the last range, else a binary search and a move of the ranges behind.
    @discardableResult
    public mutating func insert(
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

    /// Whether a lost sequence lies between two others of its range: a fix of it would cut that in two.
    private func isWithinLost(_ sequence: UInt32) -> Bool {
        guard let range = lost.range(holding: sequence) else { return false }
        return range.first < sequence && sequence < range.last
    }

    /// Covers stored fixes.
    ///
    /// Complexity: a binary search and a move of the ranges behind.
    @discardableResult
    public mutating func insert(
        _ range: SequenceRange, rangeLimit: Int = CoveredSequences.maximumRangeCount
    ) -> SequenceRanges.Insertion {
        let isNew = lost.remove(range)
        let result = covered.insert(range, rangeLimit: rangeLimit - lost.ranges.count)
        return isNew ? .inserted : result
    }

    /// Covers a range of which it is not said again what is lost.
    mutating func insert(covered range: SequenceRange) { covered.insert(range) }

    /// Covers a range as lost, as far as it was not covered.
    ///
    /// Complexity: a binary search, and linear in the ranges within.
    @discardableResult
    public mutating func insert(
        lost range: SequenceRange, rangeLimit: Int = CoveredSequences.maximumRangeCount
    ) -> SequenceRanges.Insertion {
        let new = covered.missingRanges(in: range)
        guard !new.isEmpty else { return .duplicate }
        // All of the range becomes one of what is covered. Near the limit it is counted how many ranges become one.
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

    /// Whether a range holds the first missing sequence and begins with it, or with what is covered before it. To cover that makes
    /// one range more at most, the one from sequence 0 on.
    func isNext(_ range: SequenceRange) -> Bool { range.first <= firstMissing && range.last >= firstMissing }

    /// Fixes that are stored.
    var storedCount: UInt64 { count - lost.count }

    /// Covers what will not come, as far as it was not covered.
    @discardableResult
    mutating func insert(_ loss: JournaledLoss, rangeLimit: Int = CoveredSequences.maximumRangeCount) -> SequenceRanges.Insertion {
        loss.reason.mayBeRevised
            ? insert(lost: loss.range, rangeLimit: rangeLimit) : insert(loss.range, rangeLimit: rangeLimit)
    }

    /// Takes a range out, because what was stored of it is gone. As it may have been announced, everything up to its end
    /// counts as announced from now on: what is missing there shows up in ``oldestLostRange(from:)``.
    /// - Returns: false where nothing of it was covered; nothing changes then.
    ///
    /// Complexity: a binary search and a move of the ranges behind.
    @discardableResult
    public mutating func remove(_ range: SequenceRange) -> Bool {
        guard covered.remove(range) else { return false }
        lost.remove(range)
        announce(below: min(range.last, Fix.maximumSequence) + 1)
        return true
    }

    /// Remembers that everything below ``firstMissing``, or below `end` where that is more, was announced.
    public mutating func announce(below end: UInt32 = 0) {
        announcedEnd = max(announcedEnd, end, firstMissing)
    }

    /// The parts of a range that are not covered, in order.
    ///
    /// Complexity: a binary search, then linear in the covered ranges within.
    public func missingRanges(in range: SequenceRange) -> [SequenceRange] { covered.missingRanges(in: range) }

    /// The covered range that holds `sequence`; nil where it is missing.
    ///
    /// Complexity: a binary search.
    public func range(holding sequence: UInt32) -> SequenceRange? { covered.range(holding: sequence) }

    /// Sequences whose records are gone: covered here but not in `found`, or stored here but lost in `found`.
    ///
    /// Complexity: for each range a binary search in the other ones, and linear in those found.
    func gone(from found: CoveredSequences) -> [SequenceRange] {
        var gone = SequenceRanges()
        for range in covered.subtracting(found.covered) { gone.insert(range) }
        for range in found.lost.ranges.flatMap(stored.intersection) { gone.insert(range) }
        return gone.ranges
    }

    /// The newest durable range whose last sequence is below `bound`; nil where there is none above ``firstMissing``.
    /// A `bound` of nil means no bound.
    ///
    /// Complexity: a binary search over the ranges.
    public func newestRange(below bound: UInt32?) -> SequenceRange? {
        let end = bound.map { covered.indexOfRange(endingAtOrAbove: $0) } ?? ranges.count
        guard end > 0 else { return nil }
        let range = ranges[end - 1]
        // The range from 0 on lies below the first missing sequence: nobody needs to be told of it.
        return range.first == 0 ? nil : range
    }

    /// The oldest durable range whose first sequence is above `bound`; nil where there is none.
    ///
    /// Complexity: a binary search over the ranges.
    public func oldestRange(above bound: UInt32) -> SequenceRange? {
        var index = covered.indexOfRange(endingAtOrAbove: bound)
        if index < ranges.count, ranges[index].first <= bound { index += 1 }
        return index < ranges.count ? ranges[index] : nil
    }

    /// The oldest range at or above `bound` that was announced as covered once and is missing now; nil where there is
    /// none.
    ///
    /// Complexity: a binary search over the ranges.
    public func oldestLostRange(from bound: UInt32) -> SequenceRange? {
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
