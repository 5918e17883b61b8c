import CollarWire

/// The turn of a collar, as section 18 of PROTOCOL.md describes it for at most 16 collars, from the times of its fixes and frames alone.
/// It judges only where it knows the turn: when other bursts were due cannot be told from the frames.
struct TurnRule {
    private enum Turn: Equatable {
        case unknown, none
        case at(Int64)
    }

    /// A new fix whose burst is on its way.
    private struct News {
        let due: Int64
        /// The company when it was due.
        let company: Company
        /// The time from ``due`` to the beginning of its first frame, or of the listening before it; nil before that.
        var offset: Int64?
        /// Whether the channel was busy before that frame.
        var isDelayed = false
    }

    /// The times of a collar are rounded.
    private static let tolerance: UInt64 = 50

    private let interval: Int64
    private let exchange: Int64
    /// How long the collar listens; 0 if it does not.
    private let listening: Int64
    private var turn = Turn.none
    /// The new bursts in a row that were due with their fixes. With the third one, the fixes come in equal intervals.
    private var row = 0
    /// Whether the exchange of the new burst before needed repeats and the turn was not set since; nil if that is unknown.
    private var wasRepeated: Bool? = false
    /// Whether all new bursts since the boot are known; otherwise the collar's interval is anything with the first new burst in a row, and
    /// then may be a whole part of the true one, at least a quarter.
    private var isKnownFromBoot = true
    private var news: News?
    /// The bursts that were compared with the turn.
    private(set) var checkedCount = 0

    init(interval: Int64, exchange: Int64, listening: Int64) {
        self.interval = interval
        self.exchange = exchange
        self.listening = listening
    }

    /// The collar boots, and forgets everything.
    mutating func boots() {
        let count = checkedCount
        self = TurnRule(interval: interval, exchange: exchange, listening: listening)
        checkedCount = count
    }

    /// A fix is made while something else is on its way, or something else ends its wait.
    mutating func forget() {
        (turn, wasRepeated, news) = (.unknown, nil, nil)
        (row, isKnownFromBoot) = (0, false)
    }

    /// A burst begins with something else than a new fix.
    mutating func otherBurstBegins() { if news != nil { forget() } }

    /// A fix is made while nothing else is on its way.
    mutating func fixMade(at due: Int64, in company: Company) {
        row += 1
        news = News(due: due, company: company)
    }

    mutating func channelIsBusy() { if news?.offset == nil { news?.isDelayed = true } }

    /// The shortest interval with which the collar may reckon.
    private var leastInterval: Int64 { interval / (isKnownFromBoot ? 1 : 5) }

    /// The longest turn, or less: the clock of the collar is not exact, and its interval may be unknown.
    private func longestTurn(_ company: Company) -> Int64 {
        min(4 * company.assumedCount * exchange, leastInterval / 5 * 4) / 1000 * 998
    }

    /// Whether the new burst waits for the turn, if there is one.
    private var isTurnAwaited: Bool { row >= 3 && leastInterval >= 5 * exchange }

    /// The first frame of a burst begins with the new fix.
    /// - Returns: the rule that is broken; nil if none is.
    mutating func begins(at start: Int64) -> String? {
        guard let news else { return nil }
        let offset = start - listening - news.due
        self.news?.offset = offset
        guard news.company != .alone, isTurnAwaited, case .at(let turn) = turn, turn <= longestTurn(news.company) else { return nil }
        checkedCount += 1
        if news.isDelayed, offset > turn || (offset - turn).magnitude <= TurnRule.tolerance { return nil }
        guard (offset - turn).magnitude > TurnRule.tolerance else { return nil }
        return "a new fix is sent \(offset) us after it was made, and the turn is \(turn) us"
    }

    /// The exchange of the new burst is answered.
    /// - Parameters:
    ///   - start: when the frame began whose poll is answered.
    ///   - attempt: the polls of the exchange that were not answered.
    mutating func answered(from start: Int64, attempt: Int, in company: Company) {
        guard let news, let offset = news.offset else { return }
        self.news = nil
        guard news.company != .alone else { return }
        guard company != .alone else { return forget() }
        guard isKnownFromBoot || row > 1 else { return forgetTurn() }
        let longest = longestTurn(company)
        let delay = start - listening - news.due
        // A longer one becomes a random turn.
        let delayAsTurn = delay <= longest ? Turn.at(delay) : .unknown
        if attempt == 0, listening > 0 { return set(delayAsTurn) }
        switch turn {
        case .none: set(delayAsTurn)
        case .at(let turn) where turn <= longest:
            if attempt == 0 {
                wasRepeated = false
            } else if wasRepeated == false {
                wasRepeated = true
            } else {
                wasRepeated == true ? set(delayAsTurn) : forgetTurn()
            }
        case .at, .unknown:
            // It was sent in its turn, or has made one now.
            if attempt == 0, isTurnAwaited, offset <= longest { set(.at(offset)) } else { forgetTurn() }
        }
    }

    private mutating func set(_ turn: Turn) { (self.turn, wasRepeated) = (turn, false) }

    private mutating func forgetTurn() { (turn, wasRepeated) = (.unknown, nil) }
}
