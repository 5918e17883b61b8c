import CollarARQ

/// Limits on the resources that a host uses for the stations it hears, whatever they send.
enum HostLimits {
    /// The most journals of collars heard before that are opened at the start. Each needs two descriptors and some 10 KiB.
    /// A state directory can hold more journals than ``collarCount``: a host that serves a single collar counts no others.
    static let knownCollarCount = 256
    /// A collar not heard before is accepted only while the host counts fewer collars than this: those it serves, and those
    /// whose journal it could not open. As the journals opened at the start count too, a sender of invented collars cannot
    /// fill the memory or the state directory, however often the host is started.
    static let collarCount = 256
    /// The least time between two attempts to open the journal of a collar that is heard, in microseconds.
    static let openingInterval: Int64 = 10_000_000
    /// A sequence is a jump if it exceeds the highest known sequence by more than this. A collar that makes one fix a second
    /// needs 194 days for that.
    static let sequenceJump: UInt32 = 1 << 24
    /// The least time between two searches for old segments in a journal at its size limit, in microseconds.
    static let removalInterval: Int64 = 60_000_000
    /// The number of answers that a collar may get for each newly stored fix or loss. It suffices even if nine tenths of the
    /// frames and nine tenths of the answers are lost.
    static let answersPerRecord = 16

    /// New collars: sixteen at once, then one a second.
    static var newCollars: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 1_000_000) }
    /// Answers to a collar that sends nothing new: 256 at once, then ten a second.
    static var idleAnswers: TokenBucket { TokenBucket(capacity: 256, microsecondsPerToken: 100_000) }
    /// Identity requests with which the host answers frames on one link, mostly polls of unknown collars: 32 at once, then
    /// four a second. Each frame of a known collar allows one more: if damage changes the address in a known collar's frame,
    /// that frame seems to come from an unknown collar.
    static var identityRequests: TokenBucket { TokenBucket(capacity: 32, microsecondsPerToken: 250_000) }
    /// Logs with which the frames of one link are tried after the likeliest one, unless the frame fits: some 2 % of a processor.
    static var furtherLogTrials: TokenBucket { TokenBucket(capacity: 4096, microsecondsPerToken: 100) }
    /// Sealed frames of one link that do not open, whatever their addresses.
    static var unopenedFrames: TokenBucket { TokenBucket(capacity: 400, microsecondsPerToken: 2500) }
    /// Logs of one collar that are accepted above ``TrackingLimits/promptLogCount``: four at once, then one a minute. A sender
    /// of invented logs needs 42 days to reach ``TrackingLimits/logCount``.
    static var furtherLogs: TokenBucket { TokenBucket(capacity: 4, microsecondsPerToken: 60_000_000) }
    /// Searches in a collar's journal for the stored content of a fix that came again. Each reads a segment.
    static var contentSearches: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 1_000_000) }
    /// Losses of one collar that are reported one by one.
    static var reportedLosses: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 15_000_000) }
}

/// Lets each kind of notice through at most once a minute, so that repeated events do not repeat their notice. It stores one
/// time for each kind, so there must be few kinds.
struct NoticeLimiter<Kind: Hashable & Sendable>: Sendable {
    /// The least time between two notices of a kind, in microseconds.
    private static var interval: Int64 { 60_000_000 }

    private var lastNotices: [Kind: Instant] = [:]

    /// Whether a notice of this kind is due. If so, it counts as given.
    mutating func isDue(_ kind: Kind, at now: Instant) -> Bool {
        if let last = lastNotices[kind], now.microseconds(since: last) < NoticeLimiter.interval { return false }
        lastNotices[kind] = now
        return true
    }
}

/// Behaviour that no sound collar shows. The host limits its cost and goes on.
package enum Misbehaviour: Hashable, Sendable {
    /// A fix came again with another content. The first content stays.
    case otherContent(sequence: UInt32)
    /// The sequences of a log jumped by more fixes than a collar makes in half a year.
    case sequenceJump(from: UInt32, to: UInt32)
    /// A log has more gaps, or a collar more logs, than the journal keeps track of. Anything beyond that is not stored.
    case tooManyGaps
    /// The collar names more logs than are kept in memory. The logs with the fewest fixes are dropped.
    case tooManyLogs
    /// The collar polls over and over and brings nothing new: some polls are not answered.
    case tooManyPolls
    /// The collar names more losses than are reported one by one. All of them are stored.
    case tooManyLosses

    /// This misbehaviour without its figures. Notices of one kind are given at most once a minute.
    var kind: Misbehaviour {
        switch self {
        case .otherContent: .otherContent(sequence: 0)
        case .sequenceJump: .sequenceJump(from: 0, to: 0)
        case .tooManyGaps, .tooManyLogs, .tooManyPolls, .tooManyLosses: self
        }
    }
}

/// Why a collar that sent its identity was not accepted.
package enum CollarRefusal: Hashable, Sendable {
    /// The host already knows as many collars as it accepts.
    case tooManyCollars(limit: Int)
    /// New collars come faster than a host accepts them; it accepts this one later.
    case tooManyAtOnce
}

/// The logs whose CRC is compared with that of one frame. The first one is free. Each further one costs a token of the link; if the
/// frame fits a log, the tokens are returned. So a station whose frames fit no log cannot make the host try all logs with each.
struct LogTrials {
    let now: Instant
    private let link: Link
    private var count = 0

    init(of link: Link, at now: Instant) {
        self.link = link
        self.now = now
    }

    /// Whether the frame may be tried with another log. If so, the trial counts.
    mutating func mayTry() -> Bool {
        guard count == 0 || link.furtherLogs.take(at: now) else { return false }
        count += 1
        return true
    }

    /// The frame fits the log that was tried last.
    func succeeded() { link.furtherLogs.earn(max(0, count - 1)) }
}
