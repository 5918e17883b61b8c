/// One or more consecutive sequences.
public struct SequenceRange: Equatable, Sendable {
    /// The first sequence.
    public var first: UInt32
    /// The last sequence, at least ``first``.
    public var last: UInt32

    /// Creates a range; nil if `last` is below `first`.
    public init?(_ first: UInt32, _ last: UInt32) {
        guard first <= last else { return nil }
        self.first = first
        self.last = last
    }

    /// A range of one sequence.
    public init(_ only: UInt32) { self.init(first: only, last: only) }

    /// Creates a range; `last` must not be below `first`.
    init(first: UInt32, last: UInt32) {
        self.first = first
        self.last = last
    }

    /// How many sequences the range holds, 1 … 2^32.
    public var count: UInt64 { UInt64(widening: last - first) + 1 }

    /// Whether the range holds `sequence`.
    public func contains(_ sequence: UInt32) -> Bool { sequence >= first && sequence <= last }
}

/// Up to 32 ranges in storage of fixed size.
public struct SequenceRangeList: Equatable, Sendable {
    /// The most ranges that the list can hold.
    public static var capacity: Int { 32 }

    private var ranges = InlineArray<32, SequenceRange>(repeating: SequenceRange(0))
    /// Number of ranges in the list.
    public private(set) var count = 0

    /// An empty list.
    public init() {}

    /// Whether no further range fits.
    public var isFull: Bool { count == SequenceRangeList.capacity }

    /// The range at `index`, 0 … `count` − 1.
    public subscript(index: Int) -> SequenceRange {
        precondition(index >= 0 && index < count, "the index lies in the list")
        // Access through the span makes a collar copy the list less often.
        return ranges.span[index]
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Adds a range at the end.
    /// - Returns: false, with the list unchanged, if it is full.
    @discardableResult
    public mutating func append(_ range: SequenceRange) -> Bool {
        guard !isFull else { return false }
        ranges[count] = range
        count &+= 1
        return true
    }

    /// Removes the range at `index`; the ranges after it move forward by one.
    public mutating func remove(at index: Int) {
        precondition(index >= 0 && index < count, "the index lies in the list")
        var here = index
        while here + 1 < count {
            ranges[here] = ranges[here + 1]
            here += 1
        }
        count -= 1
    }

    /// Inserts a range before the one at `index`, 0 … `count`.
    /// - Returns: false, with the list unchanged, if it is full.
    @discardableResult
    public mutating func insert(_ range: SequenceRange, at index: Int) -> Bool {
        guard append(range) else { return false }
        var here = count - 1
        while here > index {
            ranges[here] = ranges[here - 1]
            here -= 1
        }
        ranges[index] = range
        return true
    }

    /// Whether a range of the list holds `sequence`.
    public func contains(_ sequence: UInt32) -> Bool {
        var index = 0
        while index < count {
            if ranges.span[index].contains(sequence) { return true }
            index += 1
        }
        return false
    }

    /// Same ranges in the same order.
    public static func == (left: SequenceRangeList, right: SequenceRangeList) -> Bool {
        guard left.count == right.count else { return false }
        var index = 0
        while index < left.count {
            if left[index] != right[index] { return false }
            index += 1
        }
        return true
    }
}
