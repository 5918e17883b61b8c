import CollarARQ
import CollarWire

/// The kind of poll in a frame, for a host with several radios that may hear the same frame.
enum HeardPoll {
    /// The frame has no poll.
    case none
    /// The poll is heard for the first time. Its answer waits this many microseconds for other radios; nil means no wait.
    case new(wait: Int64?)
    /// Another radio has already heard the same frame.
    case copy
}

/// Recent frames with a poll. A frame that several radios hear gets only one answer: two answers at the same time would
/// collide.
struct RecentPolls {
    private struct Poll {
        /// The CRC of the frame.
        let crc: UInt32
        let link: LinkID
        let time: Instant
    }

    /// How much later an equal frame on another link still counts as a copy, in microseconds. A network may deliver a frame so
    /// late if it lost the first packet. Within this time a collar does not use a poll number again with the same content.
    static let copyTime: Int64 = 500_000
    /// The longest time an answer waits for other radios, in microseconds. It also never waits more than a quarter of the
    /// turnaround.
    private static let longestWait: Int64 = 5000
    /// The most polls in memory: two of each collar.
    private static let limit = 2 * HostLimits.collarCount

    private var polls: [Poll] = []

    /// Whether a frame with a poll came in on another link just before.
    func isCopy(_ crc: UInt32, on link: Link, at now: Instant) -> Bool {
        polls.contains { $0.crc == crc && $0.link != link.id && now.microseconds(since: $0.time) <= RecentPolls.copyTime }
    }

    /// Examines the poll of a frame that came in on a link, and remembers it.
    /// - Parameters:
    ///   - crc: the CRC of the frame, or the last three bytes of a sealed frame.
    ///   - header: the header of the frame.
    ///   - isShared: whether another link is open.
    mutating func examine(_ crc: UInt32, header: FrameHeader, on link: Link, isShared: Bool, at now: Instant) -> HeardPoll {
        guard header.flags.poll != nil else { return .none }
        polls.removeAll { now.microseconds(since: $0.time) > RecentPolls.copyTime }
        if polls.contains(where: { $0.crc == crc && $0.link != link.id }) { return .copy }
        if polls.count == RecentPolls.limit { polls.removeFirst() }
        polls.append(Poll(crc: crc, link: link.id, time: now))
        guard isShared else { return .new(wait: nil) }
        return .new(wait: min(RecentPolls.longestWait, (link.session?.turnaroundMicroseconds ?? .max) / 4))
    }
}
