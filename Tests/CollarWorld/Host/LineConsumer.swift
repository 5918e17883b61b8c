import CollarHost
import CollarJournal
import CollarWire

/// The consumer of a host's lines: slow, away for a while, and with a memory that outlives the host.
final class LineConsumer {
    /// Until when it takes nothing.
    var awayUntil: Int64 = 0
    /// The most lines it takes at once.
    var appetite = Int.max
    let isOrdered: Bool
    let hasGaps: Bool
    /// What it was given, by collar and log.
    var accounts: [LogKey: LogAccount] = [:]
    /// Up to where it was given lines of each collar.
    private var positions: [UInt64: JournalPosition] = [:]
    /// Whether positions of collars that are not named may be anything: a copy of the state directory brought its own.
    private var isUnsure = false
    /// Lines that the process holds ready.
    private var queue: [EmittedEntry] = []

    private static let queueLimit = 12

    init(isOrdered: Bool, hasGaps: Bool) {
        self.isOrdered = isOrdered
        self.hasGaps = hasGaps
    }

    /// How many fixes it was given, each counted once.
    var fixCount: Int { accounts.values.reduce(0) { $0 + $1.fixes.count } }
    var hasRoom: Bool { queue.count < LineConsumer.queueLimit }

    func handedOver(of deviceID: UInt64) -> JournalPosition {
        positions[deviceID] ?? (isUnsure ? JournalPosition(segment: .max, offset: .max) : .start)
    }

    /// The process of the host has ended.
    func hostStopped() {
        queue = []
        for key in accounts.keys { accounts[key]?.lastInOrder = nil }
    }

    /// A new process goes on with a collar.
    func restarted(_ deviceID: UInt64, at position: JournalPosition) { positions[deviceID] = position }

    /// The journals are not those that it knew.
    func forgetPositions() {
        positions = [:]
        isUnsure = true
    }

    func queue(_ entry: EmittedEntry) { queue.append(entry) }

    /// Takes lines, as many as it wants now.
    func take(at now: Int64, isTaken: (EmittedEntry) -> Void) {
        guard now >= awayUntil else { return }
        let count = min(appetite, queue.count)
        for entry in queue.prefix(count) {
            if let position = entry.receipt.through {
                positions[entry.deviceID] = max(positions[entry.deviceID] ?? .start, position)
            }
            isTaken(entry)
        }
        queue.removeFirst(count)
    }
}

/// A log of a collar.
struct LogKey: Hashable {
    let deviceID: UInt64
    let logID: UInt32

    init(_ log: LogIdentity) { (deviceID, logID) = (log.deviceID, log.logID) }
}

/// What a consumer knows of one log: it adds up fixes and gaps.
struct LogAccount {
    private(set) var fixes: [UInt32: Fix] = [:]
    /// Sequences that are said to be missing.
    private(set) var missing: Set<UInt32> = []
    /// Sequences that are said never to come.
    private(set) var lost: Set<UInt32> = []
    /// The highest sequence that came in order from this process.
    var lastInOrder: UInt32?

    /// Notes a fix.
    /// - Parameter isOrdered: whether it may not come after later ones.
    /// - Returns: what is wrong with it.
    mutating func note(_ fix: Fix, isOrdered: Bool) -> Violation? {
        if let before = fixes[fix.sequence], before != fix {
            return Violation(invariant: .oneContentPerID, text: "\(fix.sequence) is emitted with two contents", microseconds: 0)
        }
        fixes[fix.sequence] = fix
        if isOrdered {
            // A fix that was said not to come may come late.
            if let last = lastInOrder, fix.sequence <= last {
                if lost.contains(fix.sequence) { return nil }
                return Violation(invariant: .emissionIsInOrder, text: "\(fix.sequence) is emitted after \(last)", microseconds: 0)
            }
            lastInOrder = fix.sequence
        }
        return nil
    }

    /// Notes a change of a gap.
    mutating func note(_ change: GapChange) {
        let range = change.range.first...change.range.last
        switch change.event {
        case .missing: missing.formUnion(range)
        case .filled: missing.subtract(range)
        case .lost, .elsewhere:
            missing.subtract(range)
            lost.formUnion(range)
        }
    }

    /// The first sequence below `end` of which the consumer cannot tell what became of it: that it is there, or will never come,
    /// or is missing where that is possible; nil where it can tell of all.
    func firstUnexplained(below end: UInt32, mayBeMissing: Bool) -> UInt32? {
        (0..<end).first { fixes[$0] == nil && !lost.contains($0) && !(mayBeMissing && missing.contains($0)) }
    }
}
