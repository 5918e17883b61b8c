/// When a GNSS receiver must have its supply, and which of its positions become fixes, as PROTOCOL.md says it: computed from the
/// beginning of each stay rather than from states. Times are in microseconds.
struct ExpectedSupply {
    /// What the collar wants of its receiver.
    enum Demand: Equatable {
        case nothing
        case always
        /// A fix in this interval.
        case every(Int64)
    }

    /// The settings that count.
    struct Rules {
        var timeout: Int64 = 60_000_000
        var longestWait: Int64 = 3_600_000_000
        var enoughMillimeters: UInt32 = 20_000
        var settling: Int64 = 10_000_000
    }

    struct Position {
        /// The time of the position, which names it.
        var unixMilliseconds: Int64
        var accuracyMillimeters: UInt32
    }

    /// The time in which the receiver is on without a pause for one fix, or without an end.
    private struct Stay {
        let begin: Int64
        let isCold: Bool
        let timeoutEnd: Int64
        var isEndless: Bool
        /// Satellites that the receiver said last that it hears.
        var satellites: Int?
        var settlingEnd: Int64?
        var best: Position?
        var isChosen = false
        /// The last position of an endless stay.
        var last: Int64?
    }

    var rules = Rules()
    private var stay: Stay?
    private var isBackup = false
    /// The instant from which the next wait counts; nil if the next search is due.
    private var waitBegin: Int64?
    private var lastCollection: Int64?
    private var meanTimeToFix: Int64 = 8_000_000
    private var onBefore: Int64 = 0
    private(set) var failuresInRow = 0
    private(set) var searches = 0
    private(set) var failures = 0
    private(set) var timeToFix: Int64?

    var isOn: Bool { stay != nil }
    var isOff: Bool { stay == nil && !isBackup }
    var isEndless: Bool { stay?.isEndless ?? false }
    var begin: Int64? { stay?.begin }
    var isCold: Bool { stay?.isCold ?? false }
    /// The code of the supply in a power report.
    var code: UInt8 {
        guard let stay else { return isBackup ? 1 : 0 }
        return stay.isEndless ? 5 : stay.isChosen ? 4 : stay.best != nil ? 3 : 2
    }

    func onMicroseconds(at now: Int64) -> Int64 { onBefore + (stay.map { now - $0.begin } ?? 0) }

    /// When the next search begins; nil if none is planned.
    func nextSearch(_ demand: Demand) -> Int64? {
        guard case .every(let interval) = demand else { return nil }
        return waitBegin.map { $0 + wait(interval) } ?? 0
    }

    private func wait(_ interval: Int64) -> Int64 {
        let limit = max(interval, rules.longestWait)
        var wait = interval
        for _ in 1..<max(2, min(failuresInRow, 40)) where failuresInRow > 1 { wait = min(2 * wait, limit) }
        return wait
    }

    /// A collar at rest begins to move.
    mutating func moves() { if stay == nil { waitBegin = nil } }

    mutating func hears(satellites: Int) { if stay?.best == nil { stay?.satellites = satellites } }

    /// The receiver makes a position.
    /// - Returns: the position that the schedule chooses.
    mutating func takes(_ position: Position, at now: Int64, _ demand: Demand) -> Position? {
        guard var stay, !stay.isChosen else { return nil }
        if stay.isEndless {
            if stay.last == nil { timeToFix = now - stay.begin }
            stay.last = now
            self.stay = stay
            failuresInRow = 0
            return position
        }
        if stay.best == nil {
            timeToFix = now - stay.begin
            failuresInRow = 0
            if !stay.isCold { meanTimeToFix += (now - stay.begin - meanTimeToFix) / 4 }
            stay.settlingEnd = now + rules.settling
        }
        if stay.best.map({ position.accuracyMillimeters <= $0.accuracyMillimeters }) ?? true { stay.best = position }
        self.stay = stay
        let isEnough = rules.enoughMillimeters == 0 || position.accuracyMillimeters <= rules.enoughMillimeters
        return isEnough ? choose(at: now) : nil
    }

    /// The time passes, or the demand has changed. Call it until it returns nil.
    /// - Returns: the position that the schedule chooses.
    mutating func advance(to now: Int64, _ demand: Demand) -> Position? {
        // A stay may end when the next one is due.
        for _ in 0..<4 {
            guard let stay else {
                if !begins(at: now, demand) { return nil }
                continue
            }
            switch demand {
            case .nothing: end(at: now, demand)
            case .always:
                guard !stay.isEndless else { return nil }
                self.stay?.isEndless = true
                self.stay?.isChosen = false
                self.stay?.best = nil
                return stay.isChosen ? nil : stay.best
            case .every(let interval):
                if stay.isEndless {
                    if now - stay.begin >= 35_000_000, stay.last != nil { lastCollection = now }
                    if 10 * interval >= 34 * meanTimeToFix {
                        waitBegin = stay.last ?? stay.begin
                        end(at: now, demand)
                    } else if now >= (stay.last ?? stay.begin) + rules.timeout {
                        fails(from: stay.last ?? stay.begin, at: now, demand)
                    } else {
                        return nil
                    }
                } else if stay.isChosen {
                    guard now >= stay.begin + 35_000_000 else { return nil }
                    lastCollection = stay.begin
                    end(at: now, demand)
                } else if let settlingEnd = stay.settlingEnd {
                    return now >= settlingEnd ? choose(at: now) : nil
                } else {
                    var end = stay.timeoutEnd
                    if let satellites = stay.satellites, satellites < 3 {
                        end = min(end, stay.begin + (stay.isCold ? 100_000_000 : 20_000_000))
                    }
                    guard now >= end else { return nil }
                    fails(from: stay.begin, at: now, demand)
                }
            }
        }
        return nil
    }

    /// The fix of a stay is made. The receiver stays on until it has the orbits, if they are two hours old.
    private mutating func choose(at now: Int64) -> Position? {
        guard let stay, let best = stay.best else { return nil }
        self.stay?.isChosen = true
        let isDue = lastCollection.map { stay.begin - $0 >= 7_200_000_000 } ?? true
        if now >= stay.begin + 35_000_000 { lastCollection = stay.begin }
        if !isDue || now >= stay.begin + 35_000_000 { leave(at: now) }
        return best
    }

    private mutating func fails(from begin: Int64, at now: Int64, _ demand: Demand) {
        failures += 1
        failuresInRow += 1
        waitBegin = begin
        end(at: now, demand)
    }

    private mutating func leave(at now: Int64) {
        guard let stay else { return }
        onBefore += now - stay.begin
        self.stay = nil
        isBackup = true
    }

    private mutating func end(at now: Int64, _ demand: Demand) {
        leave(at: now)
        chooseSupply(demand)
    }

    /// A pause of more than three hours is one without a backup supply, and the receiver forgets the orbits.
    private mutating func chooseSupply(_ demand: Demand) {
        switch demand {
        case .nothing: isBackup = false
        case .always: break
        case .every(let interval): if wait(interval) > 10_800_000_000 { isBackup = false }
        }
        if !isBackup { lastCollection = nil }
    }

    /// - Returns: whether the receiver is switched on.
    private mutating func begins(at now: Int64, _ demand: Demand) -> Bool {
        var interval: Int64 = 0
        switch demand {
        case .nothing:
            chooseSupply(demand)
            return false
        case .always: break
        case .every(let wanted):
            interval = wanted
            if let waitBegin, now < waitBegin + wait(interval) {
                chooseSupply(demand)
                return false
            }
        }
        searches += 1
        waitBegin = now
        let isCold = !isBackup
        let timeout = isCold ? max(rules.timeout, min(5 * rules.timeout, 300_000_000)) : rules.timeout
        stay = Stay(
            begin: now, isCold: isCold, timeoutEnd: now + timeout, isEndless: demand == .always || 10 * interval < 17 * meanTimeToFix)
        return true
    }
}
