/// Ranges of sequences, oldest first, as messages carry them.
enum RangeCoding {
    /// Width of the number of ranges.
    static let countBitCount = 6

    /// Checks that ranges ascend, lie apart and hold only sequences.
    static func validateAscending(_ list: SequenceRangeList) throws(EncodeError) {
        var index = 0
        while index < list.count {
            guard list[index].last <= Fix.maximumSequence,
                index == 0 || (list[index].first > list[index - 1].last && list[index].first - list[index - 1].last > 1)
            else { throw .field(.range, value: list[index].first) }
            index += 1
        }
    }

    /// How many of the first ranges fit `bitBudget` bits.
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

    /// Writes the first `count` ranges.
    static func writeAscending(_ list: SequenceRangeList, count: Int, into writer: inout BitWriter) {
        for index in 0..<count {
            if index == 0 {
                writer.write(list[0].first, 32)
            } else {
                writer.writeEliasGamma(list[index].first - list[index - 1].last - 1)
            }
            writer.writeEliasGamma(list[index].last - list[index].first + 1)
        }
    }

    /// Reads `count` ranges.
    static func readAscending(
        _ count: UInt32, from reader: inout BitReader
    ) throws(DecodeError) -> SequenceRangeList {
        var list = SequenceRangeList()
        guard count <= UInt32(SequenceRangeList.capacity) else { throw reader.fault(.invalidField(.range, code: count)) }
        var next: UInt32 = 0
        while list.count < Int(count) {
            let distance = list.count == 0 ? reader.read(32) : try readGamma(&reader)
            let (first, isBeyond) = next.addingReportingOverflow(distance)
            guard !isBeyond, first <= Fix.maximumSequence else {
                throw reader.fault(.invalidField(.range, code: first))
            }
            let length = try readGamma(&reader)
            let (last, endsBeyond) = first.addingReportingOverflow(length - 1)
            guard !endsBeyond, last <= Fix.maximumSequence, let range = SequenceRange(first, last) else {
                throw reader.fault(.invalidField(.range, code: length))
            }
            list.append(range)
            next = last + 1
        }
        return list
    }

    /// Reads a code of at least 1, or fails.
    static func readGamma(_ reader: inout BitReader) throws(DecodeError) -> UInt32 {
        guard let value = reader.readEliasGamma() else { throw reader.fault(.invalidField(.range, code: 0)) }
        return value
    }
}
