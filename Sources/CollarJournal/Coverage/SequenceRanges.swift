import CollarWire

/// Sequences of one log as sorted ranges. No two of them touch.
package struct SequenceRanges: Equatable, Sendable {
    package enum Insertion: Equatable, Sendable {
        /// All or part of the range was new.
        case inserted
        /// All of the range was already there.
        case duplicate
        /// The number of ranges would exceed the limit, or the range ends beyond the highest sequence; nothing changed.
        case refused
    }

    /// The ranges, in order; no two of them touch.
    package private(set) var ranges: [SequenceRange] = []

    package private(set) var count: UInt64 = 0

    package init() {}

    /// Whether one of the ranges holds `sequence`.
    ///
    /// Complexity: a binary search over the ranges; constant if `sequence` is not below the start of the last range.
    package func contains(_ sequence: UInt32) -> Bool {
        let index = indexOfRange(endingAtOrAbove: sequence)
        return index < ranges.count && ranges[index].first <= sequence
    }

    /// Adds one sequence, unless more than `rangeLimit` ranges would result.
    ///
    /// Complexity: constant if `sequence` directly follows the last range, else a binary search and a move of the later ranges.
    @discardableResult
    package mutating func insert(_ sequence: UInt32, rangeLimit: Int = .max) -> Insertion {
        if let last = ranges.last, sequence > last.last, sequence - last.last == 1,
            sequence <= Fix.maximumSequence
        {
            ranges[ranges.count - 1].last = sequence
            count += 1
            return .inserted
        }
        return insert(SequenceRange(sequence), rangeLimit: rangeLimit)
    }

    /// Adds a range, unless more than `rangeLimit` ranges would result.
    ///
    /// Complexity: a binary search and a move of the later ranges.
    @discardableResult
    package mutating func insert(_ range: SequenceRange, rangeLimit: Int = .max) -> Insertion {
        guard range.last <= Fix.maximumSequence else { return .refused }
        // All ranges that overlap or touch the new one become one range with it.
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

    /// Removes a range.
    /// - Returns: false if no sequence of the range was there; nothing changes then.
    ///
    /// Complexity: a binary search and a move of the later ranges.
    @discardableResult
    package mutating func remove(_ range: SequenceRange) -> Bool {
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
        ranges.replaceSubrange(start..<end, with: kept)
        count -= removed - kept.reduce(0) { $0 + $1.count }
        return true
    }

    /// The parts of `range` that are missing, in order.
    ///
    /// Complexity: a binary search, then linear in the ranges that overlap `range`.
    package func missingRanges(in range: SequenceRange) -> [SequenceRange] {
        var missing: [SequenceRange] = []
        var first = range.first
        for covered in ranges[indexOfRange(endingAtOrAbove: range.first)...] {
            guard covered.first <= range.last else { break }
            if covered.first > first, let gap = SequenceRange(first, covered.first - 1) { missing.append(gap) }
            guard covered.last < range.last else { return missing }
            first = covered.last + 1
        }
        if let rest = SequenceRange(first, range.last) { missing.append(rest) }
        return missing
    }

    /// The range that holds `sequence`; nil if it is missing.
    ///
    /// Complexity: a binary search.
    package func range(holding sequence: UInt32) -> SequenceRange? {
        let index = indexOfRange(endingAtOrAbove: sequence)
        return index < ranges.count && ranges[index].first <= sequence ? ranges[index] : nil
    }

    /// The parts of the ranges that are not in `other`, in order.
    ///
    /// Complexity: for each range a binary search in the ranges of `other`, then linear in those that overlap it.
    package func subtracting(_ other: SequenceRanges) -> [SequenceRange] { ranges.flatMap { other.missingRanges(in: $0) } }

    /// The parts of `range` that are present, in order.
    ///
    /// Complexity: a binary search, and linear in the ranges found.
    package func intersection(_ range: SequenceRange) -> [SequenceRange] {
        var found: [SequenceRange] = []
        for covered in ranges[indexOfRange(endingAtOrAbove: range.first)...] {
            guard let part = SequenceRange(max(covered.first, range.first), min(covered.last, range.last)) else { break }
            found.append(part)
        }
        return found
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
