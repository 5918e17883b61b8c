import CollarARQ
import CollarWire
import Testing

let millisecond: Int64 = 1000

extension CollarDelivery.Configuration {
    /// Bursts of four frames, a heartbeat of 10 s, and a time-out of 100 ms, doubled with every third unanswered poll up to 1 s.
    static let small = CollarDelivery.Configuration(
        burstFrameCount: 4, heartbeatMicroseconds: 10_000 * millisecond,
        maximumTimeoutMicroseconds: 1000 * millisecond,
        modem: ModemProfile(
            nanosecondsPerByte: 1_000_000, frameOverheadMicroseconds: 9 * millisecond,
            turnaroundMicroseconds: 40 * millisecond))
}

/// A frame that the collar handed out.
struct Sent: Equatable {
    var content: CollarDelivery.Transmission.Content
    var poll: PollNumber?

    init(_ transmission: CollarDelivery.Transmission) {
        content = transmission.content
        poll = transmission.poll
    }

    private init(_ content: CollarDelivery.Transmission.Content, poll: UInt8?) {
        self.content = content
        self.poll = poll.flatMap { PollNumber(rawValue: $0) }
    }

    static func identity(poll: UInt8) -> Sent { Sent(.identity, poll: poll) }
    static func reply(poll: UInt8? = nil) -> Sent { Sent(.reply, poll: poll) }
    static func probe(poll: UInt8) -> Sent { Sent(.probe, poll: poll) }
    static func batch(_ first: UInt32, limit: Int = 253) -> Sent {
        Sent(.batch(first: first, frameByteLimit: limit), poll: nil)
    }
    static func newest(_ first: UInt32, _ last: UInt32, poll: UInt8) -> Sent {
        Sent(.newestFixes(first: first, last: last, frameByteLimit: 51), poll: poll)
    }
    static func live(_ sequence: UInt32, anchor: UInt32, poll: UInt8? = nil) -> Sent {
        Sent(.liveFix(sequence, anchor: anchor), poll: poll)
    }
    static func entry(_ sequence: UInt32, poll: UInt8? = nil) -> Sent { Sent(.logEntry(sequence), poll: poll) }
}

/// Ranges in the order given.
func list(_ ranges: [ClosedRange<UInt32>]) -> SequenceRangeList {
    var result = SequenceRangeList()
    for range in ranges {
        guard let range = SequenceRange(range.lowerBound, range.upperBound) else { continue }
        result.append(range)
    }
    return result
}

func acknowledgement(
    _ firstMissing: UInt32, poll: UInt8?, durable: [ClosedRange<UInt32>] = [],
    resend: [ClosedRange<UInt32>] = []
) -> Acknowledgement {
    Acknowledgement(
        receiverID: 7, poll: poll.flatMap { PollNumber(rawValue: $0) }, firstMissing: firstMissing,
        durable: list(durable), resend: list(resend))
}

/// A collar's end of reliable delivery, with a clock. Every frame takes 10 ms.
struct Bench {
    static let frameMicroseconds = 10 * millisecond

    var delivery: CollarDelivery
    var now = Instant(microseconds: 0)

    /// A collar that has just booted with this log.
    init(log: Range<UInt32>, firstUndelivered: UInt32 = 0, configuration: CollarDelivery.Configuration = .small) {
        delivery = CollarDelivery(
            configuration: configuration, oldestSequence: log.lowerBound, nextSequence: log.upperBound,
            firstUndelivered: firstUndelivered, now: now)
    }

    /// A collar whose identity was answered: the next poll is number 2.
    static func introduced(
        log: Range<UInt32>, delivered: UInt32 = 0, durable: [ClosedRange<UInt32>] = [],
        resend: [ClosedRange<UInt32>] = [], configuration: CollarDelivery.Configuration = .small
    ) -> Bench {
        var bench = Bench(log: log, configuration: configuration)
        #expect(bench.send() == .identity(poll: 1))
        #expect(bench.receive(acknowledgement(delivered, poll: 1, durable: durable, resend: resend)) == .answer)
        return bench
    }

    /// Sends the next frame, if one is due.
    mutating func send() -> Sent? {
        guard let transmission = delivery.nextTransmission(now: now) else { return nil }
        now = now.advanced(byMicroseconds: Bench.frameMicroseconds)
        delivery.transmitted(frameByteCount: 1, now: now)
        return Sent(transmission)
    }

    /// Sends all frames that are due without a wait, at most 100.
    mutating func sendAll() -> [Sent] {
        var sent: [Sent] = []
        while sent.count < 100, let transmission = send() { sent.append(transmission) }
        return sent
    }

    mutating func receive(_ acknowledgement: Acknowledgement) -> CollarDelivery.AcknowledgementResult {
        delivery.receive(acknowledgement, now: now)
    }

    /// Advances the clock to the next deadline.
    /// - Returns: the time until the deadline, in microseconds; nil if there is no deadline.
    mutating func waitForDeadline() -> Int64? {
        guard let deadline = delivery.nextDeadline else { return nil }
        let wait = deadline.microseconds(since: now)
        now = deadline
        return wait
    }
}

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
    static var sample: LogIdentity { LogIdentity(deviceID: 0x0123_4567_89AB_CDEF, logID: 0x2AB_CDEF) }
}
