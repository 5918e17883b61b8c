import CollarWire

/// The sequences that a collar knows to be durable at its receiver. The memory for them is bounded: sequences that do not fit are
/// forgotten, and their fixes are sent once more.
public struct DeliveredSequences: Equatable, Sendable {
    /// Every sequence below this one is durable.
    public private(set) var firstMissing: UInt32
    /// Durable ranges above ``firstMissing``, newest first.
    private var ranges = SequenceRangeList()

    /// Creates a state in which nothing at or above `firstMissing` is durable.
    public init(firstMissing: UInt32) { self.firstMissing = firstMissing }

    /// Whether `sequence` is durable.
    public func contains(_ sequence: UInt32) -> Bool { sequence < firstMissing || ranges.contains(sequence) }

    /// The lowest sequence at or above `start` that is not durable.
    public func firstMissing(from start: UInt32) -> UInt32 {
        guard start >= firstMissing else { return firstMissing }
        var index = 0
        while index < ranges.count {
            if ranges[index].contains(start) { return ranges[index].last + 1 }
            index += 1
        }
        return start
    }

    /// The highest sequence below `end` that is not durable; nil if there is none.
    public func lastMissing(below end: UInt32) -> UInt32? {
        var end = end
        var index = 0
        while index < ranges.count {
            if end > 0, ranges[index].contains(end - 1) { end = ranges[index].first }
            index += 1
        }
        return end > firstMissing ? end - 1 : nil
    }

    /// How many sequences below `end` are not durable.
    public func missingCount(below end: UInt32) -> UInt32 {
        guard end > firstMissing else { return 0 }
        var count = end - firstMissing
        var index = 0
        while index < ranges.count {
            // A receiver may have what was sent before a boot.
            if ranges[index].first < end { count -= min(ranges[index].last, end - 1) - ranges[index].first + 1 }
            index += 1
        }
        return count
    }

    /// Applies the state that an answer reports. Sequences that the answer asks for again count as undelivered.
    ///
    /// With a `floor`, the first missing sequence goes back to that of the answer, but not below `floor`. Without a `floor`, it
    /// goes back only to what the answer asks for again.
    public mutating func update(from answer: Acknowledgement, floor: UInt32?) {
        if let floor { firstMissing = min(firstMissing, max(answer.firstMissing, floor)) }
        ranges = answer.durable
        advance(to: answer.firstMissing)
        withdraw(answer.resend)
    }

    /// Removes the ranges `lost`, which are sorted oldest first, from what is delivered below ``firstMissing``. Above that
    /// sequence nothing is removed, because only what the answer names counts as delivered there.
    private mutating func withdraw(_ lost: SequenceRangeList) {
        let end = firstMissing
        var index = lost.count
        var kept = end
        while index > 0 {
            index -= 1
            guard lost[index].first < end else { continue }
            if lost[index].last < kept, let rest = SequenceRange(lost[index].last + 1, kept - 1) { ranges.append(rest) }
            kept = lost[index].first
            firstMissing = kept
        }
    }

    /// Counts everything below `sequence` as delivered.
    public mutating func advance(to sequence: UInt32) {
        if sequence > firstMissing { firstMissing = sequence }
        while ranges.count > 0, ranges[ranges.count - 1].first <= firstMissing {
            let oldest = ranges[ranges.count - 1]
            if oldest.last >= firstMissing { firstMissing = oldest.last + 1 }
            ranges.remove(at: ranges.count - 1)
        }
    }
}
