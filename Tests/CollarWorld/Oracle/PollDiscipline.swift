import CollarWire

/// The rules of section 18 of PROTOCOL.md for when a collar may send, checked on its frames alone.
struct PollDiscipline {
    private struct OpenPoll {
        let poll: UInt8
        let attempt: Int
        /// When the frame with the poll was over; nil while the frame is on the air.
        var end: Int64?
    }

    private let burstLimit: Int
    private let firstTimeout: Int64
    private let maximumTimeout: Int64
    private var open: OpenPoll?
    private var burstCount = 0
    private var lastPoll: UInt8?

    /// - Parameter turnaroundMilliseconds: the turnaround among the settings of the collar when it boots; 0 for that of its modem.
    init(_ plan: WorldPlan, turnaroundMilliseconds: Int64 = 0) {
        burstLimit = plan.burstFrameCount
        let turnaround = turnaroundMilliseconds > 0 ? turnaroundMilliseconds * 1000 : plan.modem.turnaroundMicroseconds
        firstTimeout = turnaround + plan.modem.airtimeMicroseconds(frameByteCount: 51)
        maximumTimeout = plan.maximumTimeoutMicroseconds
    }

    /// Whether the last poll is still unanswered.
    var isOutOfContact: Bool { open != nil }

    /// The collar hands out a frame.
    /// - Returns: the rule that is broken; nil if none is.
    mutating func handsOut(poll: UInt8?, now: Int64) -> String? {
        if let poll {
            let expected = lastPoll.map { $0 % 7 + 1 } ?? 1
            guard poll == expected else { return "poll \(poll) instead of \(expected)" }
            lastPoll = poll
        }
        guard let unanswered = open else {
            burstCount += 1
            if burstCount > burstLimit { return "\(burstCount) frames in a burst" }
            if poll == nil, burstCount == burstLimit { return "a full burst ends without a poll" }
            if let poll { open = OpenPoll(poll: poll, attempt: 0, end: nil) }
            return nil
        }
        guard let end = unanswered.end else { return "a frame while its poll is on the air" }
        let wait = min(maximumTimeout, firstTimeout << Int64(min(unanswered.attempt / 3, 24)))
        guard now >= end + wait else {
            return "a frame \(now - end) µs after unanswered poll \(unanswered.poll), "
                + "time-out \(unanswered.attempt) is \(wait) µs"
        }
        guard let poll else { return "a frame without a poll after unanswered poll \(unanswered.poll)" }
        open = OpenPoll(poll: poll, attempt: unanswered.attempt + 1, end: nil)
        return nil
    }

    mutating func frameIsOver(now: Int64) { if open?.end == nil { open?.end = now } }

    /// An answer to `poll` reached the collar.
    mutating func answered(_ poll: UInt8) { if open?.poll == poll { giveUp() } }

    /// The collar gives up its open poll, as after an identity request.
    mutating func giveUp() {
        open = nil
        burstCount = 0
    }
}
