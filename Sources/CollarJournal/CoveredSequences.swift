import CollarARQ
import CollarWire

/// Which sequences of one log are covered: stored, or known to be lost for ever. Sorted ranges, apart from one another.
///
/// It also remembers up to where coverage was announced to the collar, so that what damage took away afterwards shows
/// up in ``oldestLostRange(from:)``.
public struct CoveredSequences: DurableSequences, Equatable, Sendable {
    /// What an insertion did.
    public enum Insertion: Equatable, Sendable {
        /// All or part of it was new.
        case inserted
        /// All of it was there.
        case duplicate
        /// It would have made one range too many, or lies beyond the highest sequence; nothing changed.
        case refused
    }

    /// The most ranges kept, so that a collar that lies cannot fill the memory.
    public static let maximumRangeCount = 65_536

    /// The ranges, in order, apart from one another.
    public private(set) var ranges: [SequenceRange] = []

    /// Sequences covered.
    public private(set) var count: UInt64 = 0

    /// Everything below this was announced as covered.
    public private(set) var announcedEnd: UInt32 = 0

    /// Nothing covered.
    public init() {}

    /// Every sequence below this one is covered.
    public var firstMissing: UInt32 {
        guard let range = ranges.first, range.first == 0 else { return 0 }
        return range.last + 1
    }

    /// The highest sequence covered; nil where nothing is.
    public var highest: UInt32? { ranges.last?.last }

    /// Whether `sequence` is covered.
    ///
    /// Complexity: a binary search over the ranges; constant at the end.
    public func contains(_ sequence: UInt32) -> Bool {
        let index = indexOfRange(endingAtOrAbove: sequence)
        return index < ranges.count && ranges[index].first <= sequence
    }

    /// Covers one sequence.
    /// - Parameter rangeLimit: the most ranges afterwards.
    ///
    /// Complexity: constant at the end of the last range, else a binary search and a move of the ranges behind.
    @discardableResult
    public mutating func insert(
        _ sequence: UInt32, rangeLimit: Int = CoveredSequences.maximumRangeCount
    ) -> Insertion {
        if let last = ranges.last, sequence > last.last, sequence - last.last == 1,
            sequence <= Fix.maximumSequence
        {
            ranges[ranges.count - 1].last = sequence
            count += 1
            return .inserted
        }
        return insert(SequenceRange(sequence), rangeLimit: rangeLimit)
    }

    /// Covers a range.
    /// - Parameter rangeLimit: the most ranges afterwards.
    ///
    /// Complexity: a binary search and a move of the ranges behind.
    @discardableResult
    public mutating func insert(
        _ range: SequenceRange, rangeLimit: Int = CoveredSequences.maximumRangeCount
    ) -> Insertion {
        guard range.last <= Fix.maximumSequence else { return .refused }
        // Everything that overlaps or touches becomes one.
        let start = indexOfRange(endingAtOrAbove: range.first == 0 ? 0 : range.first - 1)
        var end = start
        var merged = range
        var absorbed: UInt64 = 0
        while end < ranges.count, ranges[end].first <= range.last + 1 {
            if ranges[end].first <= range.first, ranges[end].last >= range.last { return .duplicate }
            merged.first = min(merged.first, ranges[end].first)
            merged.last = max(merged.last, ranges[end].last)
            absorbed += ranges[end].count
            end += 1
        }
        if start == end {
            guard ranges.count < rangeLimit else { return .refused }
            ranges.insert(merged, at: start)
        } else {
            ranges[start] = merged
            if end - start > 1 { ranges.removeSubrange((start + 1)..<end) }
        }
        count += merged.count - absorbed
        return .inserted
    }

    /// Takes a range out, because what was stored of it is gone. As it may have been announced, everything up to its end
    /// counts as announced from now on: what is missing there shows up in ``oldestLostRange(from:)``.
    /// - Returns: false where nothing of it was covered; nothing changes then.
    ///
    /// Complexity: a binary search and a move of the ranges behind.
    @discardableResult
    public mutating func remove(_ range: SequenceRange) -> Bool {
        let start = indexOfRange(endingAtOrAbove: range.first)
        var end = start
        var kept: [SequenceRange] = []
        var removed: UInt64 = 0
        while end < ranges.count, ranges[end].first <= range.last {
            let whole = ranges[end]
            removed += whole.count
            if whole.first < range.first, let front = SequenceRange(whole.first, range.first - 1) { kept.append(front) }
            if whole.last > range.last, let back = SequenceRange(range.last + 1, whole.last) { kept.append(back) }
            end += 1
        }
        guard end > start else { return false }
        announce(below: min(range.last, Fix.maximumSequence) + 1)
        ranges.replaceSubrange(start..<end, with: kept)
        count -= removed - kept.reduce(0) { $0 + $1.count }
        return true
    }

    /// Remembers that everything below ``firstMissing``, or below `end` where that is more, was announced.
    public mutating func announce(below end: UInt32 = 0) {
        announcedEnd = max(announcedEnd, end, firstMissing)
    }

    /// The newest durable range whose last sequence is below `bound`; nil where there is none above ``firstMissing``.
    /// A `bound` of nil means no bound.
    ///
    /// Complexity: a binary search over the ranges.
    public func newestRange(below bound: UInt32?) -> SequenceRange? {
        let end = bound.map { indexOfRange(endingAtOrAbove: $0) } ?? ranges.count
        guard end > 0 else { return nil }
        let range = ranges[end - 1]
        // The range from 0 on lies below the first missing sequence: nobody needs to be told of it.
        return range.first == 0 ? nil : range
    }

    /// The oldest durable range whose first sequence is above `bound`; nil where there is none.
    ///
    /// Complexity: a binary search over the ranges.
    public func oldestRange(above bound: UInt32) -> SequenceRange? {
        var index = indexOfRange(endingAtOrAbove: bound)
        if index < ranges.count, ranges[index].first <= bound { index += 1 }
        return index < ranges.count ? ranges[index] : nil
    }

    /// The oldest range at or above `bound` that was announced as covered once and is missing now; nil where there is
    /// none.
    ///
    /// Complexity: a binary search over the ranges.
    public func oldestLostRange(from bound: UInt32) -> SequenceRange? {
        var first = bound
        var index = indexOfRange(endingAtOrAbove: first)
        if index < ranges.count, ranges[index].first <= first {
            first = ranges[index].last + 1
            index += 1
        }
        guard first < announcedEnd else { return nil }
        let end = index < ranges.count ? min(ranges[index].first, announcedEnd) : announcedEnd
        return SequenceRange(first, end - 1)
    }

    /// The index of the first range whose last sequence is `sequence` or more.
    func indexOfRange(endingAtOrAbove sequence: UInt32) -> Int {
        guard let last = ranges.last, last.last >= sequence else { return ranges.count }
        if last.first <= sequence { return ranges.count - 1 }
        var low = 0
        var high = ranges.count - 1
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].last >= sequence { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
