import CollarFirmware
import CollarHost
import CollarJournal
import CollarWire

/// The consumer of a host's lines. It is slow, sometimes away, and keeps its memory when the host stops.
final class LineConsumer {
    /// The time until which it takes nothing.
    var awayUntil: Int64 = 0
    /// The most lines it takes at once.
    var appetite = Int.max
    let isOrdered: Bool
    let hasGaps: Bool
    /// The fixes and gaps that it was given, by collar and log.
    var accounts: [LogKey: LogAccount] = [:]
    /// The position up to which it took the lines of each collar.
    private var positions: [DeviceID: JournalPosition] = [:]
    /// Whether a collar without an entry in `positions` may have any position, because the state directory was replaced by one
    /// with positions of its own.
    private var isUnsure = false
    /// Lines that the host has handed out and the consumer has not taken.
    private var queue: [EmittedEntry] = []

    private static let queueLimit = 12

    init(isOrdered: Bool, hasGaps: Bool) {
        self.isOrdered = isOrdered
        self.hasGaps = hasGaps
    }

    /// How many different fixes and messages it has taken.
    var entryCount: Int { accounts.values.reduce(0) { $0 + $1.entries.count } }
    var hasRoom: Bool { queue.count < LineConsumer.queueLimit }

    func handedOver(of deviceID: DeviceID) -> JournalPosition {
        positions[deviceID] ?? (isUnsure ? JournalPosition(segment: .max, offset: .max) : .start)
    }

    /// The process of the host has ended.
    func hostStopped() {
        queue = []
        for key in accounts.keys { accounts[key]?.lastInOrder = nil }
    }

    /// A new process continues with a collar at a position.
    func restarted(_ deviceID: DeviceID, at position: JournalPosition) { positions[deviceID] = position }

    /// The journals were replaced by others, whose positions it does not know.
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
    let deviceID: DeviceID
    let logID: LogID

    init(deviceID: DeviceID, logID: LogID) { (self.deviceID, self.logID) = (deviceID, logID) }
    init(_ log: LogIdentity) { self.init(deviceID: log.deviceID, logID: log.logID) }
}

/// A consumer's account of one log: the sum of its fix, message and gap lines.
struct LogAccount {
    private(set) var entries: [UInt32: LogEntry] = [:]
    /// Sequences that gap lines report as missing.
    private(set) var missing: Set<UInt32> = []
    /// Sequences that gap lines report as never to come.
    private(set) var lost: Set<UInt32> = []
    /// The highest sequence that the current process has emitted in order.
    var lastInOrder: UInt32?

    /// Notes a fix or a message.
    /// - Parameter isOrdered: whether it must not come after later ones.
    /// - Returns: the violation; nil if there is none.
    mutating func note(_ entry: LogEntry, _ sequence: UInt32, isOrdered: Bool) -> Violation? {
        if let before = entries[sequence], before != entry {
            return Violation(invariant: .oneContentPerID, text: "\(sequence) is emitted with two contents", microseconds: 0)
        }
        entries[sequence] = entry
        if isOrdered {
            // A fix that was reported as lost may come late.
            if let last = lastInOrder, sequence <= last {
                if lost.contains(sequence) { return nil }
                return Violation(invariant: .emissionIsInOrder, text: "\(sequence) is emitted after \(last)", microseconds: 0)
            }
            lastInOrder = sequence
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

    /// The first sequence below `end` about which the consumer knows nothing; nil if there is none. It knows about a sequence
    /// if it has the fix, or was told that the fix will never come; with `mayBeMissing` also if it was told that the fix is
    /// missing.
    func firstUnexplained(below end: UInt32, mayBeMissing: Bool) -> UInt32? {
        (0..<end).first { entries[$0] == nil && !lost.contains($0) && !(mayBeMissing && missing.contains($0)) }
    }
}
