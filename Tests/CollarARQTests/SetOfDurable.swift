import CollarARQ
import CollarWire

/// A receiver's storage as a plain set.
struct SetOfDurable: DurableSequences {
    private(set) var sequences: Set<UInt32> = []
    /// The receiver has announced everything below this sequence as durable.
    var announcedEnd: UInt32 = 0

    var firstMissing: UInt32 {
        var sequence: UInt32 = 0
        while sequences.contains(sequence) { sequence += 1 }
        return sequence
    }

    mutating func insert(_ sequence: UInt32) { sequences.insert(sequence) }

    mutating func lose(_ sequence: UInt32) { sequences.remove(sequence) }

    func newestRange(below bound: UInt32?) -> SequenceRange? {
        let floor = firstMissing
        let candidates = sequences.filter { sequence in bound.map { sequence < $0 } ?? true }
        guard let last = candidates.max(), last > floor else { return nil }
        var first = last
        while sequences.contains(first - 1) { first -= 1 }
        return SequenceRange(first, last)
    }

    func oldestRange(above bound: UInt32) -> SequenceRange? {
        guard let first = sequences.filter({ $0 > bound && !sequences.contains($0 - 1) }).min() else { return nil }
        var last = first
        while sequences.contains(last + 1) { last += 1 }
        return SequenceRange(first, last)
    }

    func oldestLostRange(from bound: UInt32) -> SequenceRange? {
        guard bound < announcedEnd else { return nil }
        guard let first = (bound..<announcedEnd).first(where: { !sequences.contains($0) }) else { return nil }
        var last = first
        while last + 1 < announcedEnd, !sequences.contains(last + 1) { last += 1 }
        return SequenceRange(first, last)
    }
}

/// A receiver's storage as ranges, oldest first.
struct RangesOfDurable: DurableSequences {
    var ranges: [SequenceRange] = []
    /// The receiver has announced everything below this sequence as durable.
    let announcedEnd: UInt32

    let firstMissing: UInt32 = 0

    func newestRange(below bound: UInt32?) -> SequenceRange? {
        ranges.last { range in bound.map { range.last < $0 } ?? true }
    }

    func oldestRange(above bound: UInt32) -> SequenceRange? { ranges.first { $0.first > bound } }

    func oldestLostRange(from bound: UInt32) -> SequenceRange? {
        let first = ranges.first { $0.contains(bound) }.map { $0.last + 1 } ?? bound
        guard first < announcedEnd else { return nil }
        return SequenceRange(first, min(announcedEnd, ranges.first { $0.first > first }?.first ?? announcedEnd) - 1)
    }
}

extension LogIdentity {
    static var sample: LogIdentity {
        guard let log = LogIdentity(deviceID: 0x0123_4567_89AB_CDEF, logID: 0x2AB_CDEF) else {
            preconditionFailure("a log id of 26 bits")
        }
        return log
    }
}
