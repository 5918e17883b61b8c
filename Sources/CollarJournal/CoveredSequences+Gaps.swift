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
}
