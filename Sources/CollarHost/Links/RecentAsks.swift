import CollarARQ
import CollarWire

/// What an ask is to a host whose radios may hear the same frame.
enum HeardAsk {
    /// The frame asks for nothing.
    case none
    /// The first time that it is heard; its answer waits so many microseconds for other radios, nil where it does not.
    case new(wait: Int64?)
    /// Another radio has heard it before.
    case copy
}

/// Frames that asked for an answer lately. If several radios hear the same one, it gets one answer: two at a time would
/// disturb each other.
struct RecentAsks {
    private struct Ask {
        /// The CRC of the frame.
        let check: UInt32
        let link: LinkID
        let time: Instant
    }

    /// How much later another radio may tell of the same frame, in microseconds. A collar does not come to the same number of an
    /// ask, with the same content, within that time.
    private static let copyTime: Int64 = 100_000
    /// How long an answer waits for other radios, in microseconds, and at most a quarter of the time for it.
    private static let longestWait: Int64 = 5000
    private static let limit = 64

    private var asks: [Ask] = []

    /// Takes in a frame of a link.
    /// - Parameter isShared: whether another link is open.
    mutating func heard(_ frame: Span<UInt8>, header: FrameHeader, on link: Link, isShared: Bool, at now: Instant) -> HeardAsk {
        guard header.flags.ask != nil else { return .none }
        let check = FrameCheck.sent(in: frame)
        asks.removeAll { now.microseconds(since: $0.time) > RecentAsks.copyTime }
        if asks.contains(where: { $0.check == check && $0.link != link.id }) { return .copy }
        if asks.count == RecentAsks.limit { asks.removeFirst() }
        asks.append(Ask(check: check, link: link.id, time: now))
        guard isShared else { return .new(wait: nil) }
        return .new(wait: min(RecentAsks.longestWait, (link.session?.turnaroundMicroseconds ?? .max) / 4))
    }
}

/// The answer that a collar waits for.
struct PendingAnswer {
    /// The link on which it goes out: of those that heard the ask, the one with the strongest signal.
    private(set) var link: LinkID
    /// Until then other radios may tell of the same ask; nil once it may go out.
    var holdUntil: Instant?

    init(link: LinkID, holdUntil: Instant?) {
        self.link = link
        self.holdUntil = holdUntil
    }

    /// Another link has heard the ask, too.
    mutating func offer(_ other: LinkID, _ strengths: [LinkID: Int16]) {
        if strengths[other] ?? .min > strengths[link] ?? .min { link = other }
    }
}
