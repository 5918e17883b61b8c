import CollarJournal
import CollarWire

/// Who takes the lines of a host: slow, away for a while, and with a memory that outlives the host.
final class LineConsumer {
    /// A line that the process holds ready.
    private struct Line {
        let deviceID: UInt64
        let entry: JournalEntry
        let end: JournalPosition
    }

    /// Until when it takes nothing.
    var awayUntil: Int64 = 0
    /// The most lines it takes at once.
    var appetite = Int.max
    /// What it was given, by collar, log and sequence.
    private var taken: [UInt64: [UInt32: [UInt32: Fix]]] = [:]
    /// Up to where it was given lines of each collar.
    private(set) var handedOver: [UInt64: JournalPosition] = [:]
    /// What follows belongs to the process of the host.
    private var queue: [Line] = []
    private var queued: [UInt64: JournalPosition] = [:]
    /// Whether the last look at the journals found their end.
    private(set) var isAtEnd = false

    /// Lines that the process holds ready.
    private static let queueLimit = 12

    /// How many fixes it was given, each counted once.
    var fixCount: Int { taken.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } } }

    func has(_ sequence: UInt32, of log: LogIdentity) -> Bool { taken[log.deviceID]?[log.logID]?[sequence] != nil }

    /// The process of the host has ended.
    func hostStopped() {
        queue = []
        queued = [:]
        isAtEnd = false
    }

    /// A new process goes on.
    /// - Returns: what is wrong with where it does.
    func hostStarted(_ storage: some FaultyStorage) -> String? {
        for deviceID in storage.collars {
            let cursor = storage.emissionCursor(of: deviceID)
            let least = storage.promisedCursor(of: deviceID)
            let most = handedOver[deviceID] ?? .start
            handedOver[deviceID] = cursor
            if cursor < least { return "emission goes on at \(cursor), although a commit kept \(least)" }
            if cursor > most { return "emission goes on at \(cursor), although lines were taken up to \(most) only" }
        }
        return nil
    }

    /// The process reads what is new, and hands over what is taken.
    /// - Parameter isOther: whether a fix may not stand for its sequence.
    /// - Returns: the first fix that was given with two contents, or that was never logged.
    func takeLines(
        from storage: some FaultyStorage, now: Int64, isOther: (Fix, LogIdentity) -> Bool
    ) throws(StorageFailure) -> Fix? {
        isAtEnd = true
        for deviceID in storage.collars { try fill(deviceID, storage) }
        guard now >= awayUntil else {
            isAtEnd = isAtEnd && queue.isEmpty
            return nil
        }
        let count = min(appetite, queue.count)
        for line in queue.prefix(count) {
            handedOver[line.deviceID] = line.end
            storage.setEmissionCursor(line.end, of: line.deviceID)
            guard case .fix(let record) = line.entry,
                let log = LogIdentity(deviceID: line.deviceID, logID: record.logID)
            else { continue }
            let before = taken[log.deviceID]?[log.logID]?[record.fix.sequence]
            if isOther(record.fix, log) || before ?? record.fix != record.fix { return record.fix }
            taken[log.deviceID, default: [:]][log.logID, default: [:]][record.fix.sequence] = record.fix
        }
        queue.removeFirst(count)
        isAtEnd = isAtEnd && queue.isEmpty
        return nil
    }

    private func fill(_ deviceID: UInt64, _ storage: some FaultyStorage) throws(StorageFailure) {
        var position = queued[deviceID] ?? storage.emissionCursor(of: deviceID)
        while true {
            guard queue.count < LineConsumer.queueLimit else {
                isAtEnd = false
                break
            }
            let batch = try storage.entries(of: deviceID, from: position, limit: LineConsumer.queueLimit)
            for element in batch.elements {
                queue.append(Line(deviceID: deviceID, entry: element.entry, end: element.end))
            }
            position = batch.end
            if batch.isAtEnd { break }
        }
        queued[deviceID] = position
    }
}
