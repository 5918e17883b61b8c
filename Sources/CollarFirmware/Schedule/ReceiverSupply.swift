import CollarARQ
import CollarWire

/// The supply of a GNSS receiver that the board is to give.
public enum GNSSSupply: Equatable, Sendable {
    /// None: the receiver forgets everything.
    case off
    /// Only the supply that keeps the clock and the orbits of the satellites.
    case backup
    /// The receiver works.
    case on
}

/// When the GNSS receiver is switched on and off, and which of its positions become fixes (PROTOCOL.md, section 18, *Schedule*).
///
/// It holds no clock. After each input, look at ``supply`` and ``nextDeadline``.
public struct ReceiverSupply: Sendable {
    /// The positions that the collar needs from its receiver.
    public enum Demand: Equatable, Sendable {
        /// Nothing: no positions are logged.
        case none
        /// Positions without a pause.
        case continuous
        /// A fix at the times of a schedule, whose interval is not 0.
        case scheduled(FixSchedule)
    }

    enum State: Equatable, Sendable {
        case off
        case backup
        case searching(Searching)
        case settling(Settling)
        case collecting(Collecting)
        case tracking(Tracking)
    }

    /// On, without a position.
    struct Searching: Equatable, Sendable {
        let begin: Instant
        let end: Instant
        /// When the search ends if too few satellites are heard.
        let skyDeadline: Instant
        /// The satellites that the receiver hears; nil if it does not tell.
        var satelliteCount: UInt8?
        /// Whether the receiver had no supply before, so that it must read the orbits again.
        let isCold: Bool
    }

    /// On, with a position that is not accurate enough.
    struct Settling: Equatable, Sendable {
        let begin: Instant
        let end: Instant
    }

    /// On after the fix, so that the receiver reads the orbits of the satellites.
    struct Collecting: Equatable, Sendable {
        let begin: Instant
        let end: Instant
    }

    /// On without an end.
    struct Tracking: Equatable, Sendable {
        let begin: Instant
        var lastPosition: Instant?
    }

    /// The orbits of GPS satellites are valid for up to four hours, and change every two (u-blox UBX-22020019, section 2.6).
    private static var orbitMicroseconds: Int64 { 7_200_000_000 }
    /// A satellite sends its orbit within 30 s.
    private static var collectingMicroseconds: Int64 { 35_000_000 }
    /// In a longer pause the backup supply costs more than the search that follows a pause without it.
    private static var longestBackupMicroseconds: Int64 { 10_800_000_000 }
    private static var skyMicroseconds: Int64 { 20_000_000 }
    private static var leastSatelliteCount: UInt8 { 3 }
    /// How much longer a receiver without orbits may search, and for how long at most.
    private static var coldFactor: Int64 { 5 }
    private static var longestColdMicroseconds: Int64 { 300_000_000 }
    /// The time to a position that is assumed before the first one is known.
    private static var usualTimeToFix: Int64 { 8_000_000 }

    private(set) var demand = Demand.none
    private(set) var state = State.off
    /// The most accurate position since the receiver is settling. It is no part of ``State``, which is copied whenever it is looked at.
    private var best: Fix?
    /// When the last search began from which the next one is planned; nil if the next one is due at once.
    private var lastBegin: Instant?
    /// When the receiver last stayed on for as long as the orbits need; nil if it has forgotten them.
    private var lastCollection: Instant?
    /// The mean time to a position of receivers that had their orbits, in microseconds.
    private var meanTimeToFix = ReceiverSupply.usualTimeToFix
    private var onSince: Instant?
    private var onMicroseconds: Int64 = 0

    /// Searches without a position in a row.
    public private(set) var failuresInRow: UInt8 = 0
    /// Searches since the boot.
    public private(set) var searchCount: UInt32 = 0
    /// Searches without a position since the boot.
    public private(set) var failureCount: UInt32 = 0
    /// The time from the last switching on to a position, in microseconds; nil if there was none since the boot.
    public private(set) var timeToFixMicroseconds: Int64?

    /// Creates the state of a receiver without supply.
    public init() {}

    /// The supply that the receiver is to get.
    public var supply: GNSSSupply {
        switch state {
        case .off: .off
        case .backup: .backup
        case .searching, .settling, .collecting, .tracking: .on
        }
    }

    private var isOff: Bool { if case .off = state { true } else { false } }

    /// Whether the receiver is on without an end.
    var isTracking: Bool { if case .tracking = state { true } else { false } }

    /// Whether each fix comes from a search of its own.
    var isSparse: Bool { if case .scheduled = demand { !isTracking } else { false } }

    /// The same for a report.
    var reported: PowerReport.Supply {
        switch state {
        case .off: .off
        case .backup: .backup
        case .searching: .searching
        case .settling: .settling
        case .collecting: .collecting
        case .tracking: .tracking
        }
    }

    /// Time in which the receiver was on, in microseconds.
    public func onMicroseconds(now: Instant) -> Int64 {
        onMicroseconds &+ (onSince.map { now.microseconds(since: $0) } ?? 0)
    }

    /// When to call ``advance(to:)`` if nothing else happens; nil for never.
    public var nextDeadline: Instant? {
        switch state {
        case .off, .backup: nextSearch
        case .searching(let searching): isSkyClosed(searching) ? searching.skyDeadline : searching.end
        case .settling(let settling): settling.end
        case .collecting(let collecting): collecting.end
        case .tracking(let tracking): lossDeadline(of: tracking)
        }
    }

    /// When the next search begins; nil if none is planned.
    public var nextSearch: Instant? {
        switch demand {
        case .none: nil
        case .continuous: Instant(microseconds: 0)
        case .scheduled(let schedule):
            lastBegin?.advanced(byMicroseconds: schedule.waitMicroseconds(failuresInRow: failuresInRow)) ?? Instant(microseconds: 0)
        }
    }

    /// Changes the demand. Call ``advance(to:)`` after it.
    public mutating func demand(_ demand: Demand) { self.demand = demand }

    /// Makes the next search due: a collar at rest moves.
    public mutating func endWait() { if supply != .on { lastBegin = nil } }

    /// Notes how many satellites the receiver hears.
    public mutating func heard(satelliteCount: UInt8) {
        guard case .searching(var searching) = state else { return }
        searching.satelliteCount = satelliteCount
        state = .searching(searching)
    }

    /// Accepts a position of the receiver. If a fix comes of it, call ``advance(to:)``: the fix may change the demand, and with it the
    /// supply until the next search.
    /// - Returns: the fix to log; nil if there is none yet.
    public mutating func accept(_ fix: Fix, now: Instant) -> Fix? {
        switch state {
        case .off, .backup, .collecting: return nil
        case .searching(let searching):
            notePosition(after: now.microseconds(since: searching.begin), isCold: searching.isCold)
            guard case .scheduled(let schedule) = demand, !schedule.isEnough(fix) else {
                return end(with: fix, begin: searching.begin, now: now)
            }
            let end = now.advanced(byMicroseconds: schedule.settlingMicroseconds)
            state = .settling(Settling(begin: searching.begin, end: end))
            best = fix
            return advance(to: now)
        case .settling(let settling):
            let best = best.map { isBetter(fix, than: $0) ? fix : $0 } ?? fix
            self.best = best
            guard case .scheduled(let schedule) = demand, !schedule.isEnough(fix) else {
                return end(with: best, begin: settling.begin, now: now)
            }
            return advance(to: now)
        case .tracking(var tracking):
            if tracking.lastPosition == nil { notePosition(after: now.microseconds(since: tracking.begin), isCold: true) }
            tracking.lastPosition = now
            failuresInRow = 0
            state = .tracking(tracking)
            return fix
        }
    }

    private func isBetter(_ fix: Fix, than best: Fix) -> Bool {
        guard let old = best.horizontalAccuracy, let new = fix.horizontalAccuracy else { return true }
        return new.millimeters <= old.millimeters
    }

    private mutating func notePosition(after microseconds: Int64, isCold: Bool) {
        timeToFixMicroseconds = microseconds
        failuresInRow = 0
        if !isCold { meanTimeToFix = meanTimeToFix &+ (microseconds &- meanTimeToFix) / 4 }
    }

    /// Does what the demand and the time ask for. If a fix comes of it, call it again.
    /// - Returns: the fix to log; nil if there is none.
    public mutating func advance(to now: Instant) -> Fix? {
        if let fix = endStay(at: now) { return fix }
        guard supply != .on else { return nil }
        // A search that is due when another one ends goes on with it: a receiver without supply would begin again.
        if let due = nextSearch, now >= due {
            switchOn(now: now)
        } else {
            rest()
        }
        return nil
    }

    /// Ends what the receiver does, if the demand or the time asks for that.
    private mutating func endStay(at now: Instant) -> Fix? {
        switch state {
        case .off, .backup: break
        case .searching(let searching):
            guard isOnWanted(from: searching.begin, now: now) else { return nil }
            if now >= searching.end || isSkyClosed(searching) && now >= searching.skyDeadline { fail(begin: searching.begin, now: now) }
        case .settling(let settling):
            guard isOnWanted(from: settling.begin, now: now) else { return supply == .on ? best : nil }
            if now >= settling.end, let best { return end(with: best, begin: settling.begin, now: now) }
        case .collecting(let collecting):
            guard isOnWanted(from: collecting.begin, now: now) else { return nil }
            guard now >= collecting.end else { return nil }
            lastCollection = collecting.begin
            switchOff(now: now)
        case .tracking(let tracking): advance(tracking, now: now)
        }
        return nil
    }

    /// Whether a receiver that is on for a fix stays on for it. If not, it is off or tracks after this call.
    private mutating func isOnWanted(from begin: Instant, now: Instant) -> Bool {
        switch demand {
        case .none: switchOff(now: now)
        case .continuous: state = .tracking(Tracking(begin: begin))
        case .scheduled: return true
        }
        return false
    }

    private mutating func advance(_ tracking: Tracking, now: Instant) {
        guard case .scheduled(let schedule) = demand else {
            if case .none = demand { switchOff(now: now) }
            return
        }
        if now.microseconds(since: tracking.begin) >= Self.collectingMicroseconds, tracking.lastPosition != nil { lastCollection = now }
        if !isShort(schedule, factor: 2) {
            lastBegin = tracking.lastPosition ?? tracking.begin
            switchOff(now: now)
        } else if let loss = lossDeadline(of: tracking), now >= loss {
            fail(begin: tracking.lastPosition ?? tracking.begin, now: now)
        }
    }

    /// When a receiver that tracks because of a short interval has lost the satellites; nil if it tracks for another reason.
    private func lossDeadline(of tracking: Tracking) -> Instant? {
        guard case .scheduled(let schedule) = demand else { return nil }
        return (tracking.lastPosition ?? tracking.begin).advanced(byMicroseconds: schedule.timeoutMicroseconds)
    }

    private func isSkyClosed(_ searching: Searching) -> Bool { searching.satelliteCount.map { $0 < Self.leastSatelliteCount } ?? false }

    /// Whether the interval is so short that a receiver which stays on in cyclic mode needs less than one that searches each time.
    private func isShort(_ schedule: FixSchedule, factor: Int64) -> Bool {
        schedule.intervalMicroseconds &* 10 < 17 &* factor &* meanTimeToFix
    }

    private mutating func switchOn(now: Instant) {
        let isCold = isOff
        onSince = now
        searchCount &+= 1
        lastBegin = now
        guard case .scheduled(let schedule) = demand, !isShort(schedule, factor: 1) else {
            state = .tracking(Tracking(begin: now))
            return
        }
        var timeout = schedule.timeoutMicroseconds
        if isCold { timeout = max(timeout, min(timeout &* Self.coldFactor, Self.longestColdMicroseconds)) }
        state = .searching(
            Searching(
                begin: now, end: now.advanced(byMicroseconds: timeout),
                skyDeadline: now.advanced(byMicroseconds: Self.skyMicroseconds &* (isCold ? Self.coldFactor : 1)), isCold: isCold))
    }

    private mutating func fail(begin: Instant, now: Instant) {
        failureCount &+= 1
        if failuresInRow < .max { failuresInRow &+= 1 }
        lastBegin = begin
        switchOff(now: now)
    }

    /// Ends a search with a fix. Every two hours the receiver stays on until it has read the orbits.
    private mutating func end(with fix: Fix, begin: Instant, now: Instant) -> Fix {
        let isCollectionDue = lastCollection.map { begin.microseconds(since: $0) >= Self.orbitMicroseconds } ?? true
        let end = begin.advanced(byMicroseconds: Self.collectingMicroseconds)
        if isCollectionDue, now < end {
            state = .collecting(Collecting(begin: begin, end: end))
            return fix
        }
        if now >= end { lastCollection = begin }
        switchOff(now: now)
        return fix
    }

    /// Switches a receiver that is on to its backup supply.
    private mutating func switchOff(now: Instant) {
        guard let onSince else { return }
        onMicroseconds = onMicroseconds &+ now.microseconds(since: onSince)
        self.onSince = nil
        state = .backup
    }

    /// Switches the backup supply off as well if the wait is long. An empty supply stays so: there is nothing to keep.
    private mutating func rest() {
        switch demand {
        case .none: state = .off
        case .continuous: break
        case .scheduled(let schedule):
            if schedule.waitMicroseconds(failuresInRow: failuresInRow) > Self.longestBackupMicroseconds { state = .off }
        }
        if isOff { lastCollection = nil }
    }
}
