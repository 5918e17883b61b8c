import CollarARQ
import CollarWire

/// The kind of poll in a frame, for a host with several radios that may hear the same frame.
enum HeardPoll {
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

    /// Examines the poll of a frame, and remembers it.
    /// - Parameter isShared: whether another link is open.
    mutating func examine(_ heard: HeardFrame, isShared: Bool) -> HeardPoll {
        let (crc, link, now) = (heard.crc, heard.link, heard.time.instant)
        guard heard.header.flags.poll != nil else { return .none }
        polls.removeAll { now.microseconds(since: $0.time) > RecentPolls.copyTime }
        if polls.contains(where: { $0.crc == crc && $0.link != link.id }) { return .copy }
        if polls.count == RecentPolls.limit { polls.removeFirst() }
        polls.append(Poll(crc: crc, link: link.id, time: now))
        guard isShared else { return .new(wait: nil) }
        return .new(wait: min(RecentPolls.longestWait, (link.session?.turnaroundMicroseconds ?? .max) / 4))
    }
}

struct PendingAnswer {
    /// The open links that heard the poll, in their order, and the strength of the poll there in dBm, if the radio reports it.
    private(set) var hearers: [(link: LinkID, strengthDBm: Int16?)]
    let askedAt: Instant
    /// The answer waits for other radios until this time; nil once it may go out.
    var holdUntil: Instant?

    init(link: LinkID, signal: RadioSignal?, askedAt: Instant, holdUntil: Instant?) {
        hearers = [(link, signal?.plausibleStrengthDBm)]
        self.askedAt = askedAt
        self.holdUntil = holdUntil
    }

    mutating func offer(_ other: LinkID, signal: RadioSignal?) {
        if !hearers.contains(where: { $0.link == other }) { hearers.append((other, signal?.plausibleStrengthDBm)) }
    }

    /// A link was closed.
    /// - Returns: false if no link is left.
    mutating func close(_ closed: LinkID) -> Bool {
        hearers.removeAll { $0.link == closed }
        return !hearers.isEmpty
    }
}

extension RadioSignal {
    /// The strength, if a radio can measure it: receivers do not report less than −160 dBm or more than 20 dBm.
    fileprivate var plausibleStrengthDBm: Int16? { (-160...20).contains(strengthDBm) ? strengthDBm : nil }
}

/// The frame with a collar's newest poll. Its content shows whether the collar heard the previous answer.
struct PollFrame {
    let type: MessageType
    /// Whether another frame has followed: everything that is stored from then on came in later frames.
    var isComplete = false
    /// Whether it brought something that was stored before.
    private var hasRepeated = false
    private var hasNew = false
    private var hasNewest = false

    init(type: MessageType) { self.type = type }

    /// Something that was stored before came in.
    mutating func noteRepeated() { if !isComplete { hasRepeated = true } }

    mutating func noteNew(isNewest: Bool) {
        guard !isComplete else { return }
        hasNew = true
        if isNewest { hasNewest = true }
    }

    /// Whether the collar has heard the answer to its previous poll; nil if the frame does not show it.
    ///
    /// After an unanswered poll a collar repeats what it sent, sends the newest fix in the absolute form, or a probe (PROTOCOL.md,
    /// section 18).
    /// - Parameters:
    ///   - answeredAt: when the answer was sent; nil if none was.
    ///   - heartbeat: the heartbeat in force, in microseconds. A probe sooner than half of it after the answer is none.
    ///   - sendsLiveFixes: whether the collar sends its newest fix in the live form if it has heard an answer.
    func showsAnswer(sentAt answeredAt: Instant?, heartbeat: Int64, sendsLiveFixes: Bool, at now: Instant) -> Bool? {
        guard let answeredAt else { return nil }
        if hasRepeated { return false }
        switch type {
        case .liveFix: return true
        case .probe: return now.microseconds(since: answeredAt) < heartbeat / 2 ? false : nil
        case .absoluteFix where hasNewest && sendsLiveFixes: return false
        default: return hasNew ? true : nil
        }
    }
}
