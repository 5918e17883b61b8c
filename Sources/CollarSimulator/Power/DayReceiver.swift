import CollarARQ
import CollarWire

/// The other end of the link of a simulated day: a host that stores at once and acknowledges everything, with the delivery of the
/// shipping host.
struct DayReceiver {
    static let receiverID: UInt32 = 0x00D0_0DAD

    private let log: LogIdentity
    private let address: UInt8
    private var delivery: HostDelivery
    private var received = ReceivedSequences()
    /// Fixes that can be anchors of live fixes, by their sequences.
    private var anchors: [UInt32: Fix] = [:]
    private(set) var requests = RequestQueue(receiverID: receiverID, lastRequestID: 0)
    /// When each fix arrived that came first, and its sequence.
    private(set) var arrivals: [(sequence: UInt32, at: Instant)] = []
    /// The newest power report.
    private(set) var powerReport: PowerReport?
    /// The newest settings report for each key.
    private(set) var reported: [UInt8: UInt32] = [:]

    init(log: LogIdentity, address: UInt8) {
        self.log = log
        self.address = address
        delivery = HostDelivery(log: log, receiverID: Self.receiverID, highestSequence: 0)
    }

    /// Queues a request to the collar. It goes out until the collar replies.
    mutating func submit(_ request: HostRequest) { _ = requests.add(request, deadline: Instant(microseconds: .max)) }

    /// Receives a frame of the collar.
    /// - Returns: the frames of the answer, in the order in which they are sent; empty if the frame has no poll.
    mutating func receive(_ frame: [UInt8], now: Instant) -> [[UInt8]] {
        do throws(DecodeError) { try accept(frame.span, now: now) } catch { return [] }
        guard delivery.isAnswerWanted else { return [] }
        var frames: [[UInt8]] = []
        requests.beginWindow()
        while let request = nextRequest() { frames.append(request) }
        if let answer = delivery.takeAnswer(from: received) {
            frames.append(Self.frame { output throws(EncodeError) in try answer.encode(address: address, log: log, into: &output) })
        }
        return frames
    }

    private mutating func nextRequest() -> [UInt8]? {
        var isRequest = false
        let frame = Self.frame { output throws(EncodeError) in
            isRequest = try requests.nextOfWindow(address: address, log: log, into: &output) != nil
        }
        return isRequest ? frame : nil
    }

    static func frame(_ write: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) -> [UInt8] {
        do throws(EncodeError) {
            return try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try write(&output)
            }
        } catch { preconditionFailure("a frame of a host fits the largest frame: \(error)") }
    }

    private mutating func accept(_ frame: Span<UInt8>, now: Instant) throws(DecodeError) {
        let header = try FrameHeader(frame)
        if header.type == .liveFix {
            guard
                let named = LiveFix.sequences(of: frame, header: header, reference: delivery.highestSequence),
                let anchor = anchors[named.anchor]
            else { throw .anchorNeeded }
            note(try LiveFix.decode(frame, sequence: named.sequence, anchor: anchor, log: log), now: now)
        } else {
            switch try Message.decode(frame, log: log, reference: delivery.highestSequence) {
            case .fix(let fix): note(fix, now: now)
            case .batch(let batch): batch.forEach { note($0, now: now) }
            case .tombstone(let tombstone):
                for index in 0..<tombstone.ranges.count {
                    let range = tombstone.ranges[index]
                    for sequence in range.first...range.last { _ = received.insert(sequence) }
                }
            case .powerReport(let report): powerReport = report
            case .commandResult(let result): _ = requests.accept(result)
            case .settings(let report):
                for index in 0..<report.entries.count { reported[report.entries[index].key] = report.entries[index].value }
                _ = requests.accept(report)
            default: break
            }
        }
        delivery.receive(flags: header.flags)
    }

    private mutating func note(_ fix: Fix, now: Instant) {
        delivery.learn(of: fix.sequence)
        anchors[fix.sequence] = fix
        // The anchor of a live fix is at most 127 sequences lower.
        if fix.sequence >= 256 { anchors[fix.sequence - 256] = nil }
        if received.insert(fix.sequence) { arrivals.append((fix.sequence, now)) }
    }
}

/// The sequences that a receiver has.
struct ReceivedSequences: DurableSequences {
    private(set) var firstMissing: UInt32 = 0
    /// Above ``firstMissing``, in ascending order; two neighbours never touch.
    private var ranges: [SequenceRange] = []

    /// Notes a sequence.
    /// - Returns: false if it was noted before.
    mutating func insert(_ sequence: UInt32) -> Bool {
        guard sequence >= firstMissing, !ranges.contains(where: { $0.contains(sequence) }) else { return false }
        let index = ranges.firstIndex { $0.first > sequence } ?? ranges.count
        ranges.insert(SequenceRange(sequence), at: index)
        if index + 1 < ranges.count, ranges[index + 1].first == sequence + 1 {
            ranges[index].last = ranges[index + 1].last
            ranges.remove(at: index + 1)
        }
        if index > 0, ranges[index - 1].last + 1 == sequence {
            ranges[index - 1].last = ranges[index].last
            ranges.remove(at: index)
        }
        if let first = ranges.first, first.first == firstMissing {
            firstMissing = first.last + 1
            ranges.removeFirst()
        }
        return true
    }

    func newestRange(below bound: UInt32?) -> SequenceRange? { ranges.last { bound == nil || $0.last < bound ?? 0 } }

    func oldestRange(above bound: UInt32) -> SequenceRange? { ranges.first { $0.first > bound } }

    func oldestLostRange(from bound: UInt32) -> SequenceRange? { nil }
}
