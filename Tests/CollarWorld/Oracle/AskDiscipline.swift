import CollarWire

/// The rules of PROTOCOL.md 18 for when a collar may send, told from its frames alone.
struct AskDiscipline {
    private struct OpenAsk {
        let ask: UInt8
        let attempt: Int
        /// When its frame was over; nil while it is on the air.
        var end: Int64?
    }

    private let burstLimit: Int
    private let firstTimeout: Int64
    private let maximumTimeout: Int64
    private var open: OpenAsk?
    private var burstCount = 0
    private var lastAsk: UInt8?

    init(_ plan: WorldPlan) {
        burstLimit = plan.burstFrameCount
        firstTimeout = plan.modem.turnaroundMicroseconds + plan.modem.airtimeMicroseconds(frameByteCount: 51)
        maximumTimeout = plan.maximumTimeoutMicroseconds
    }

    /// Whether the last ask has not been answered.
    var isOutOfContact: Bool { open != nil }

    /// The collar hands out a frame.
    /// - Returns: what is wrong with that.
    mutating func handsOut(ask: UInt8?, now: Int64) -> String? {
        if let ask {
            let expected = lastAsk.map { $0 % 7 + 1 } ?? 1
            guard ask == expected else { return "ask \(ask) instead of \(expected)" }
            lastAsk = ask
        }
        guard let unanswered = open else {
            burstCount += 1
            if burstCount > burstLimit { return "\(burstCount) frames in a burst" }
            if ask == nil, burstCount == burstLimit { return "a full burst ends without an ask" }
            if let ask { open = OpenAsk(ask: ask, attempt: 0, end: nil) }
            return nil
        }
        guard let end = unanswered.end else { return "a frame while its ask is on the air" }
        let wait = min(maximumTimeout, firstTimeout << Int64(min(unanswered.attempt / 3, 24)))
        guard now >= end + wait else {
            return "a frame \(now - end) µs after unanswered ask \(unanswered.ask), "
                + "time-out \(unanswered.attempt) is \(wait) µs"
        }
        guard let ask else { return "a frame without an ask after unanswered ask \(unanswered.ask)" }
        open = OpenAsk(ask: ask, attempt: unanswered.attempt + 1, end: nil)
        return nil
    }

    mutating func frameIsOver(now: Int64) { if open?.end == nil { open?.end = now } }

    /// An answer to this ask reached the collar.
    mutating func answered(_ ask: UInt8) { if open?.ask == ask { giveUp() } }

    /// Somebody asked who the collar is, so the open ask is given up.
    mutating func giveUp() {
        open = nil
        burstCount = 0
    }
}
