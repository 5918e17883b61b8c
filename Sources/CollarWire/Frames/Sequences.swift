/// Completes a sequence of which only the low bits were sent.
public enum SequenceNumber {
    /// The sequence nearest to `reference` whose lowest `bitCount` bits are `lowBits`; of two equally near ones, the lower.
    /// `bitCount` is 1 … 31. Only the sequences 0 … 2^32 − 1 are considered.
    public static func nearest(to reference: UInt32, lowBits: UInt32, bitCount: Int) -> UInt32 {
        let period = Int64(bitPattern: 1 &<< shiftCount(bitCount))
        let base = Int64(widening: reference) & ~(period - 1)
        var candidate = base + Int64(widening: lowBits)
        if candidate - Int64(widening: reference) >= period / 2 {
            candidate -= period
        } else if Int64(widening: reference) - candidate > period / 2 {
            candidate += period
        }
        if candidate < 0 { candidate += period }
        if candidate > 0xFFFF_FFFF { candidate -= period }
        return UInt32(truncatingIfNeeded: candidate)
    }
}

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

    @inline(never)
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

/// Reads and writes ranges of sequences in the forms that messages carry.
enum RangeCoding {
    /// Width in bits of the field that holds the number of ranges.
    static let countBitCount = 6

    /// Checks that ranges ascend, do not touch and hold only valid sequences.
    static func validateAscending(_ list: SequenceRangeList) throws(EncodeError) {
        var index = 0
        // The next range must begin above this sequence.
        var end: UInt32 = 0
        while index < list.count {
            let range = list[index]
            guard range.last <= Fix.maximumSequence, index == 0 || range.first > end else {
                throw .field(.range, value: range.first)
            }
            end = range.last &+ 1
            index &+= 1
        }
    }

    /// How many ranges, from the first on, fit `bitBudget` bits.
    static func countThatFits(_ list: SequenceRangeList, bitBudget: Int) -> Int {
        var budget = bitBudget
        var index = 0
        while index < list.count {
            let start = index == 0 ? 32 : BitWriter.eliasGammaBitCount(list[index].first - list[index - 1].last - 1)
            budget -= start + BitWriter.eliasGammaBitCount(list[index].last - list[index].first + 1)
            guard budget >= 0 else { break }
            index += 1
        }
        return index
    }

    /// Writes the range at `index` of a valid list, after the ranges before it.
    static func write(_ list: SequenceRangeList, at index: Int, into writer: inout BitWriter) {
        let range = list[index]
        if index == 0 {
            writer.write(range.first, 32)
        } else {
            writer.writeEliasGamma(range.first &- list[index &- 1].last &- 1)
        }
        writer.writeEliasGamma(range.last &- range.first &+ 1)
    }

    /// Reads `count` ranges, oldest first, into `list`, which is empty. Reading ends before the first invalid range.
    @_lifetime(reader: copy reader)
    static func readAscending(_ count: UInt32, into list: inout SequenceRangeList, from reader: inout BitReader) {
        var next: UInt32 = 0
        var rest = count
        while rest > 0 {
            let distance = rest == count ? reader.read(32) : readGamma(&reader)
            // The checks keep the sums within the valid sequences.
            guard isBelow(distance, ~next, next &+ distance, &reader) else { return }
            let first = next &+ distance
            let length = readGamma(&reader)
            guard isBelow(length &- 1, ~first, length, &reader) else { return }
            next = first &+ length
            list.append(SequenceRange(first: first, last: next &- 1))
            rest &-= 1
        }
    }

    /// Reads `count` ranges above a sequence, newest first, into `list`, which is empty. Reading ends before the first invalid
    /// range.
    @_lifetime(reader: copy reader)
    static func readDescending(
        _ count: UInt32, above floor: UInt32, into list: inout SequenceRangeList, from reader: inout BitReader
    ) {
        var before = floor
        var rest = count
        while rest > 0 {
            let distance = readGamma(&reader)
            var last = floor &+ distance
            if rest == count {
                guard isBelow(distance, ~floor, distance, &reader) else { return }
            } else {
                last = distance < before ? before &- 1 &- distance : 0
            }
            let length = readGamma(&reader)
            guard isBelow(length &- 1, last > floor ? last &- floor : 0, length, &reader) else { return }
            before = last &- length &+ 1
            list.append(SequenceRange(first: before, last: last))
            rest &-= 1
        }
    }

    @inline(never)
    @_lifetime(reader: copy reader)
    static func readCount(_ reader: inout BitReader) -> UInt32 {
        let count = reader.read(countBitCount)
        _ = isBelow(count, UInt32(SequenceRangeList.capacity) &+ 1, count, &reader)
        return count
    }

    @inline(never)
    /// Whether a number is below its limit. If it is not, the code that was read is recorded as invalid.
    @_lifetime(reader: copy reader)
    private static func isBelow(_ number: UInt32, _ limit: UInt32, _ code: UInt32, _ reader: inout BitReader) -> Bool {
        reader.require(number < limit, .range, code)
    }

    @inline(never)
    /// Reads an Elias gamma code. If there is none, the result is 0 and is recorded as invalid.
    @_lifetime(reader: copy reader)
    private static func readGamma(_ reader: inout BitReader) -> UInt32 {
        let value = reader.readEliasGamma() ?? 0
        reader.require(value != 0, .range, 0)
        return value
    }
}
