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
            let start =
                index == 0 ? 32 : BitWriter.eliasGammaBitCount(list[index].first - list[index - 1].last - 1)
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

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Reads how many ranges follow.
    @_lifetime(reader: copy reader)
    static func readCount(_ reader: inout BitReader) -> UInt32 {
        let count = reader.read(countBitCount)
        _ = isBelow(count, UInt32(SequenceRangeList.capacity) &+ 1, count, &reader)
        return count
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Whether a number is below its limit. If it is not, the code that was read is recorded as invalid.
    @_lifetime(reader: copy reader)
    private static func isBelow(_ number: UInt32, _ limit: UInt32, _ code: UInt32, _ reader: inout BitReader) -> Bool {
        reader.require(number < limit, .range, code)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Reads an Elias gamma code. If there is none, the result is 0 and is recorded as invalid.
    @_lifetime(reader: copy reader)
    private static func readGamma(_ reader: inout BitReader) -> UInt32 {
        let value = reader.readEliasGamma() ?? 0
        reader.require(value != 0, .range, 0)
        return value
    }
}
