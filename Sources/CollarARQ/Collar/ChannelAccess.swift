import CollarWire

/// When a collar of a half-duplex link may begin to send: its random waits, its turn, and a free channel (PROTOCOL.md, section 18,
/// *Company*).
///
/// Frames of collars that begin within an exchange of each other collide. So in company the waits are random parts of
/// exchanges, and the window of a repeat doubles. The turn is the time after a new fix at which an exchange was answered: fixes
/// that come in equal intervals are then sent in equal intervals, too, and collars that once found free turns keep them. A collar whose
/// radio can sense packets of others senses the channel first: this helps fixes that come in no equal intervals, and fails where
/// collars do not hear each other, which turns separate.
struct ChannelAccess: Equatable, Sendable {
    /// The most intervals after which a new fix still comes in equal intervals.
    private static let mostIntervals: Int64 = 4
    /// The window of the wait after a busy channel doubles this many times.
    private static let mostBusyDoublings: UInt8 = 4
    /// After this many bad exchanges in a row, or lost frames of which most had no poll, the turn moves.
    private static let badLimit: UInt8 = 2
    /// This many new fixes in a row are sent without a poll.
    private static let mostUnpolled: UInt8 = 3

    /// The company that the newest acknowledgement names. Before the first one, it is assumed that many collars started together.
    var company = Company.several
    private var jitter: Jitter?
    /// The window of a collar that is alone: the airtime of the largest answer.
    private let windowMicroseconds: Int64
    private let exchangeMicroseconds: Int64
    /// How long the channel is sensed before an exchange; 0 if the radio cannot do that.
    private let senseMicroseconds: Int64
    /// Until when the channel is sensed; nil if it is not.
    private(set) var senseEnd: Instant?
    /// How often in a row the channel was busy.
    private var busyCount: UInt8 = 0
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
    /// New fixes that were sent without a poll since the last poll.
    private var unpolledCount: UInt8 = 0
    /// Whether such fixes came before the exchange that was answered last or is open.
    private var isAfterUnpolled = false

    init(_ configuration: CollarDelivery.Configuration) {
        let modem = configuration.modem
        if modem.isHalfDuplex { jitter = configuration.jitterSeed.map { Jitter(seed: $0) } }
        windowMicroseconds = modem.airtimeMicroseconds(frameByteCount: CollarDelivery.answerByteCount)
        exchangeMicroseconds = modem.exchangeMicroseconds
        senseMicroseconds = modem.isHalfDuplex && configuration.sensesChannel ? modem.senseMicroseconds : 0
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
        // Seven doublings are the longest window of the largest company.
        return randomPartOfExchange(doublings: UInt8(truncatingIfNeeded: min(attempt + 2, 7)), limit: longestShare / 2)
    }

    /// A random part of the time of an exchange, doubled so often, but at most of `limit` and, if fixes come in equal intervals, of half an
    /// interval.
    @inline(never) private mutating func randomPartOfExchange(doublings: UInt8, limit: Int64) -> Int64 {
        var window = min(exchangeMicroseconds &<< Int64(widening: doublings), limit)
        if isRegular { window = min(window, max(exchangeMicroseconds, intervalMicroseconds / 2)) }
        return randomPart(of: window)
    }

    /// Four exchanges of each collar.
    private var longestShare: Int64 { company.assumedCount &* exchangeMicroseconds &* 4 }

    /// Notes that the new fix is sent together with something that does not wait for a turn.
    mutating func newsEnded() { newsStart = nil }

    // MARK: A free channel

    /// Begins to sense the channel, if that has not begun.
    /// - Returns: until when it is sensed; nil if it was sensed until now and no packet was noticed.
    mutating func sense(now: Instant) -> Instant? {
        guard senseMicroseconds > 0 else { return nil }
        senseEnd = senseEnd ?? now.advanced(byMicroseconds: senseMicroseconds)
        if let senseEnd, now >= senseEnd { endSensing() }
        return senseEnd
    }

    mutating func endSensing() {
        senseEnd = nil
        busyCount = 0
    }

    /// The wait after a packet of another radio was noticed, before the channel is sensed again, in microseconds.
    mutating func waitOfBusyChannel() -> Int64 {
        senseEnd = nil
        defer { if busyCount < ChannelAccess.mostBusyDoublings { busyCount += 1 } }
        return randomPartOfExchange(doublings: busyCount, limit: .max)
    }

    // MARK: Polls

    /// Whether a new fix goes without a poll: answers to all would take more airtime than a base radio may have (EU868: a tenth).
    mutating func omitsPoll() -> Bool {
        guard newsStart != nil, company == .many, unpolledCount < ChannelAccess.mostUnpolled,
            intervalMicroseconds > 0, intervalMicroseconds < longestShare
        else { return false }
        unpolledCount += 1
        newsStart = nil
        return true
    }

    /// Notes that a frame carries a poll.
    mutating func polled() {
        if unpolledCount > 0 { isAfterUnpolled = true }
        unpolledCount = 0
    }

    // MARK: The turn

    /// Notes that an exchange was answered.
    /// - Parameters:
    ///   - start: when the frame began whose poll was answered.
    ///   - attempt: the number of polls of the exchange that were not answered.
    ///   - missingCount: how many of the fixes that were sent the answer does not name.
    @inline(never) mutating func answered(from start: Instant, attempt: Int, missingCount: UInt32) {
        let wasUnpolled = isAfterUnpolled
        isAfterUnpolled = false
        guard let newsStart else { return }
        self.newsStart = nil
        guard company != .alone else { return }
        badCount = attempt == 0 ? 0 : badCount + 1
        if wasUnpolled {
            // Who always meets another collar loses nearly all frames, and must not wait for two polls to learn that.
            badCount = missingCount + (attempt > 0 ? 1 : 0) >= UInt32(ChannelAccess.badLimit) ? ChannelAccess.badLimit : 0
        }
        let isMoved = badCount >= ChannelAccess.badLimit
        // A collar that senses the channel keeps the time at which it last found it free.
        let isKept = attempt > 0 || senseMicroseconds == 0
        if let turnMicroseconds, turnMicroseconds <= longestTurn, !isMoved, isKept { return }
        badCount = 0
        // If the turn began with the frame, each exchange would move it by the time of the sensing.
        let delay = start.microseconds(since: newsStart) - senseMicroseconds
        turnMicroseconds = delay <= longestTurn && !(isMoved && attempt == 0) ? delay : randomPart(of: longestTurn)
    }

    private var longestTurn: Int64 {
        intervalMicroseconds > 0 ? min(longestShare, intervalMicroseconds / 5 * 4) : longestShare
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
