import CollarWire

extension CoveredSequences {
    /// The parts of a range that are not covered, in order.
    ///
    /// Complexity: a binary search, then linear in the covered ranges within.
    public func missingRanges(in range: SequenceRange) -> [SequenceRange] {
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

    /// The covered range that holds `sequence`; nil where it is missing.
    ///
    /// Complexity: a binary search.
    public func range(holding sequence: UInt32) -> SequenceRange? {
        let index = indexOfRange(endingAtOrAbove: sequence)
        return index < ranges.count && ranges[index].first <= sequence ? ranges[index] : nil
    }

    /// The ranges that are covered here and not there.
    ///
    /// Complexity: for each range a binary search in the other ones, and linear in those found.
    public func subtracting(_ other: CoveredSequences) -> [SequenceRange] {
        ranges.flatMap { other.missingRanges(in: $0) }
    }

    /// What of a range is covered.
    ///
    /// Complexity: a binary search, and linear in the ranges found.
    public func intersection(_ range: SequenceRange) -> [SequenceRange] {
        var found: [SequenceRange] = []
        for covered in ranges[indexOfRange(endingAtOrAbove: range.first)...] {
            guard let part = SequenceRange(max(covered.first, range.first), min(covered.last, range.last)) else { break }
            found.append(part)
        }
        return found
    }
}
