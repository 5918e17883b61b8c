import CollarWire

extension SeededRandom {
    /// Random ranges in ascending order that do not touch, all at or above `floor`. Lengths and distances vary widely.
    mutating func ranges(upTo count: Int, from floor: UInt32) -> [ClosedRange<UInt32>] {
        var ranges: [ClosedRange<UInt32>] = []
        var next = Int64(floor)
        let longest = 1 + below(27)
        while ranges.count < count {
            let first = next + Int64(below(1 &<< below(longest + 1)))
            let last = first + Int64(below(1 &<< below(longest + 1)))
            guard last <= 0xFFFF_FFFE else { break }
            ranges.append(UInt32(first)...UInt32(last))
            next = last + 2
        }
        return ranges
    }
}

/// The number of bits of an Elias gamma code, by its definition.
func gammaBitCount(_ value: UInt32) -> Int { 2 * String(value, radix: 2).count - 1 }

/// The number of bits of each range in the ascending form of sections 9 and 10 of PROTOCOL.md.
func ascendingBitCounts(_ ranges: [ClosedRange<UInt32>]) -> [Int] {
    ranges.indices.map { index in
        let range = ranges[index]
        let start = index == 0 ? 32 : gammaBitCount(range.lowerBound - ranges[index - 1].upperBound - 1)
        return start + gammaBitCount(range.upperBound - range.lowerBound + 1)
    }
}

/// The number of bits of each range in the descending form of section 9 of PROTOCOL.md.
func descendingBitCounts(_ ranges: [ClosedRange<UInt32>], firstMissing: UInt32) -> [Int] {
    ranges.indices.map { index in
        let range = ranges[index]
        let distance =
            index == 0 ? range.upperBound - firstMissing : ranges[index - 1].lowerBound - range.upperBound - 1
        return gammaBitCount(distance) + gammaBitCount(range.upperBound - range.lowerBound + 1)
    }
}

/// The number of items, from the first on, that fit into the budget.
func countThatFits(_ bitCounts: [Int], bitBudget: Int) -> Int {
    var rest = bitBudget
    return bitCounts.prefix { bitCount in
        rest -= bitCount
        return rest >= 0
    }.count
}
