import CollarARQ
import CollarSimulator
import CollarWire

/// Everything about a ``CompanyTrial`` that is decided before it starts.
struct CompanyPlan {
    /// A collar of the trial.
    struct Member {
        /// When its power comes on, in microseconds.
        let start: Int64
        /// When it leaves for good; nil for never.
        var departure: Int64?
        /// The time from each whole interval to its fix, in microseconds.
        let phase: Int64
        /// By how much its clock is fast, in millionths.
        let clockPartsPerMillion: Int64
        let sensesChannel: Bool
        let key: CollarKey?
        let seed: UInt64
    }

    enum Disturbance {
        case hostRestart
        /// The power of all collars fails for a moment.
        case powerCut
    }

    let modem: ModemProfile
    let interval: Int64
    let heartbeat: Int64
    private(set) var members: [Member] = []
    private(set) var disturbances: [(time: Int64, kind: Disturbance)] = []
    /// When the last fault is over, in microseconds.
    private(set) var lastFault: Int64
    /// Until when fixes are made, in microseconds.
    private(set) var fixesEnd: Int64
    /// The probability that a packet is lost apart from collisions.
    let loss: Double
    /// Whether packets are lost, or collide because collars do not hear each other.
    let hasLosses: Bool
    let hearing: CollarHearing
    let seed: UInt64

    /// The most that the exchanges of all collars take of the channel: if all hear each other and nothing is lost, and otherwise. Above
    /// that, a collar that has found no turn for long has small chances with each repeat, and repeats come only every half minute.
    private static let (mostLoad, mostLoadWithLosses) = (0.2, 0.12)
    /// The fixes of all collars together, about.
    private static let fixCount = 200

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed ^ 0x434F_4D50_414E_5901)
        modem = SimulatedModem.lora(spreadingFactor: UInt8(7 + random.below(3))).profile
        let count = 2 + random.below(15)
        loss = [0, 0, 0.1, 0.2][random.below(4)]
        let hidden = [0, 0.3, 0.6][random.below(3)]
        hearing = CollarHearing(collarCount: count, hiddenProbability: hidden, seed: random.next())
        hasLosses = loss > 0 || hidden > 0
        let mostLoad = hasLosses ? CompanyPlan.mostLoadWithLosses : CompanyPlan.mostLoad
        let intervals: [Int64] = [10, 20, 30, 60, 120, 180]
        let exchanges = Double(Int64(count) * modem.exchangeMicroseconds)
        let possible = intervals.filter { exchanges <= mostLoad * Double($0 * 1_000_000) }
        interval = possible[random.below(possible.count)] * 1_000_000
        heartbeat = max(60_000_000, interval * 3 / 2)

        let isAligned = random.chance(0.6)
        let isSealed = random.chance(0.3)
        let sensing = [0, 0.5, 1][random.below(3)]
        let rounds = Int64(min(40, max(12, CompanyPlan.fixCount / count)))
        fixesEnd = rounds * interval
        lastFault = 0
        let latecomer = random.chance(0.3) ? random.below(count) : nil
        for index in 0..<count {
            let start = index == latecomer ? random.between(interval, fixesEnd / 3) : 0
            lastFault = max(lastFault, start)
            members.append(
                Member(
                    start: start, phase: isAligned ? 0 : random.between(0, interval - 1),
                    clockPartsPerMillion: random.between(-100, 100), sensesChannel: random.chance(sensing),
                    key: isSealed ? CompanyPlan.key(&random) : nil, seed: random.next()))
        }
        for _ in 0..<random.below(3) {
            let time = random.between(interval, fixesEnd / 2)
            disturbances.append((time, random.chance(0.6) ? .hostRestart : .powerCut))
            lastFault = max(lastFault, time)
        }
        if random.chance(0.15) { leave(1 + random.below(3)) }
    }

    /// After a while only `rest` collars are left, for so long that the host forgets the others.
    private mutating func leave(_ rest: Int) {
        guard members.count > 4, interval >= 60_000_000 else { return }
        let departure = fixesEnd * 2 / 3
        for index in rest..<members.count { members[index].departure = departure }
        lastFault = max(lastFault, departure)
        fixesEnd = departure + CompanyCount.longestMicroseconds(heartbeat: heartbeat) + 4 * interval
    }

    private static func key(_ random: inout SeededRandom) -> CollarKey {
        let bytes = (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        return CollarKey(bytes.span)
    }
}
