import CollarWire

/// When a collar of a half-duplex link may begin to send: its random waits, and its turn (PROTOCOL.md, section 18, *Company*).
///
/// Frames of collars that begin within an exchange of each other collide. So in company the waits are random parts of
/// exchanges, and the window of a repeat doubles. The turn is the time after a new fix at which an exchange was answered: fixes
/// that come in equal intervals are then sent in equal intervals, too, and collars that once found free turns keep them.
struct ChannelAccess: Equatable, Sendable {
    /// The most intervals after which a new fix still comes in equal intervals.
    private static let mostIntervals: Int64 = 4

    /// The company that the newest acknowledgement names. Before the first one, it is assumed that many collars started together.
    var company = Company.several
    private var jitter: Jitter?
    /// The window of a collar that is alone: the airtime of the largest answer.
    private let windowMicroseconds: Int64
    private let exchangeMicroseconds: Int64
    /// The time between two new fixes; 0 before the second.
    private var intervalMicroseconds: Int64 = 0
    /// Whether the newest fix came whole intervals after the one before it.
    private var isRegular = false
    private var lastNews: Instant?
    /// When the new fix came that began the present exchange; nil if none did, or if the collar is alone.
    private(set) var newsStart: Instant?
    /// The turn: the time from a new fix to the beginning of its exchange; nil if the collar has none.
    private var turnMicroseconds: Int64?
    /// Exchanges of new fixes in a row that needed repeats.
    private var badCount: UInt8 = 0

    init(_ configuration: CollarDelivery.Configuration) {
        let modem = configuration.modem
        if modem.isHalfDuplex { jitter = configuration.jitterSeed.map { Jitter(seed: $0) } }
        windowMicroseconds = modem.airtimeMicroseconds(frameByteCount: CollarDelivery.answerByteCount)
        exchangeMicroseconds = modem.exchangeMicroseconds
    }

    /// The wait before a new fix with nothing before it, which may be sent from `now` on, in microseconds.
    @inline(never) mutating func waitOfNews(now: Instant) -> Int64 {
        guard jitter != nil else { return 0 }
        noteNews(now: now)
        guard company != .alone else { return waitOfBurst() }
        newsStart = now
        if isRegular, intervalMicroseconds >= 4 * exchangeMicroseconds, let turnMicroseconds, turnMicroseconds <= longestTurn {
            return turnMicroseconds
        }
        return waitOfBurst()
    }

    /// The wait before any other burst, in microseconds.
    mutating func waitOfBurst() -> Int64 { randomPart(of: company == .alone ? windowMicroseconds : exchangeMicroseconds) }

    /// The wait of a repeat after its time-out, in microseconds.
    /// - Parameter attempt: the number of unanswered polls before the one that is repeated.
    @inline(never) mutating func waitOfRepeat(attempt: Int) -> Int64 {
        guard company != .alone else {
            // The first repeat has no wait, because a loss is likelier than a collision.
            return attempt > 0 ? randomPart(of: windowMicroseconds) : 0
        }
        var window = 2 * company.assumedCount * exchangeMicroseconds
        if isRegular { window = min(window, max(exchangeMicroseconds, intervalMicroseconds / 2)) }
        var doublings = attempt
        var doubled = exchangeMicroseconds
        while doublings > 0, doubled < window {
            doubled *= 2
            doublings -= 1
        }
        return randomPart(of: min(doubled, window))
    }

    /// Notes that the new fix is sent together with something that does not wait for a turn.
    mutating func newsEnded() { newsStart = nil }

    /// Notes that an exchange was answered.
    /// - Parameters:
    ///   - start: when the frame began whose poll was answered.
    ///   - attempt: the number of polls of the exchange that were not answered.
    @inline(never) mutating func answered(from start: Instant, attempt: Int) {
        guard let newsStart else { return }
        self.newsStart = nil
        guard company != .alone else { return }
        badCount = attempt == 0 ? 0 : badCount + 1
        if let turnMicroseconds, turnMicroseconds <= longestTurn, badCount < 2 { return }
        badCount = 0
        let delay = start.microseconds(since: newsStart)
        turnMicroseconds = delay <= longestTurn ? delay : randomPart(of: longestTurn)
    }

    private var longestTurn: Int64 {
        let share = 4 * company.assumedCount * exchangeMicroseconds
        return intervalMicroseconds > 0 ? min(share, intervalMicroseconds / 5 * 4) : share
    }

    /// Compares the time since the last new fix with the interval. A fix that was not made leaves a gap of several intervals. A gap
    /// of more than ``mostIntervals`` shows nothing: a much shorter time, which chance made, could divide every interval.
    private mutating func noteNews(now: Instant) {
        defer { lastNews = now }
        guard let lastNews else { return }
        let elapsed = now.microseconds(since: lastNews)
        let tolerance = intervalMicroseconds / 8
        isRegular =
            intervalMicroseconds > 0 && elapsed + tolerance >= intervalMicroseconds
            && elapsed - tolerance <= ChannelAccess.mostIntervals * intervalMicroseconds
            && (elapsed + tolerance) % intervalMicroseconds <= 2 * tolerance
        if !isRegular { intervalMicroseconds = elapsed }
    }

    @inline(never) private mutating func randomPart(of microseconds: Int64) -> Int64 {
        guard let random = jitter?.next() else { return 0 }
        return (microseconds &* Int64(widening: random)) &>> 16
    }
}

/// Random delays, so that collars which make their fixes at the same moment do not send at the same moment.
///
/// A xorshift generator (G. Marsaglia, "Xorshift RNGs", 2003). Predictable numbers suffice here.
struct Jitter: Equatable, Sendable {
    private var state: UInt32

    init(seed: UInt32) { state = seed == 0 ? 1 : seed }

    /// A number 0 … 65,535.
    mutating func next() -> UInt32 {
        state ^= state &<< 13
        state ^= state &>> 17
        state ^= state &<< 5
        return state &>> 16
    }
}
