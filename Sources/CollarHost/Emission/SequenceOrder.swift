import CollarJournal
import CollarWire

/// Holds fixes back until everything before them in their log has come or is known never to come. The fixes stay in the
/// journal; this only knows where.
struct SequenceOrder {
    /// Fixes with consecutive sequences that were appended in ascending order, perhaps with others between them.
    struct Run: Equatable {
        let logID: UInt32
        /// The sequences.
        var range: SequenceRange
        /// A place at or before the first of them, behind which all of them are found in order.
        let start: JournalPosition
    }

    /// What becomes of the next fixes of a log.
    enum Next: Equatable {
        /// Nothing is held, or what is missing may still come.
        case nothing
        /// These are due now.
        case run(Run)
        /// The log has gone, and these will not come.
        case gone(SequenceRange)
        /// What is due was not kept in mind: everything behind this place must be taken again.
        case rescan(from: JournalPosition)
    }

    private struct Log {
        let id: UInt32
        /// Everything below was handed out, or will not come.
        var next: UInt32
        /// What is held and kept in mind, in order of the sequences.
        var runs: [Run] = []
        /// The lowest sequence that is held and not kept in mind, nor anything above it.
        var firstForgotten: UInt32 = .max
        /// A place at or before those.
        var forgottenPlace: JournalPosition?
        /// Sequences below `next` that were said not to come: should one come all the same it is late, and not a repetition.
        var givenUp = SequenceRanges()

        /// Holds a fix back that is below ``firstForgotten``.
        mutating func hold(_ sequence: UInt32, at start: JournalPosition) {
            let position = runs.firstIndex { $0.range.first > sequence } ?? runs.count
            if position > 0 {
                let before = runs[position - 1].range
                if before.contains(sequence) { return }
                if before.last == sequence - 1 {
                    runs[position - 1].range.last = sequence
                    return
                }
            }
            runs.insert(Run(logID: id, range: SequenceRange(sequence), start: start), at: position)
            guard runs.count > SequenceOrder.runLimit, let last = runs.popLast() else { return }
            firstForgotten = last.range.first
            forgottenPlace = forgottenPlace.map { min($0, last.start) } ?? last.start
        }
    }

    /// Runs of a log that are kept in mind. A log in more pieces is gone through again when it is their turn.
    static let runLimit = 1024

    private var logs: [Log] = []
    /// A place at or before everything that is held; nil where nothing is.
    private(set) var earliestHeld: JournalPosition?

    /// Begins behind entries that cover this of each log; all of it was handed out.
    init(_ covered: [UInt32: CoveredSequences]) {
        for (id, covered) in covered.sorted(by: { $0.key < $1.key }) { logs.append(Log(id: id, next: covered.firstMissing)) }
    }

    /// The logs that hold something back.
    var waitingLogIDs: [UInt32] { logs.filter { !$0.runs.isEmpty || $0.forgottenPlace != nil }.map(\.id) }

    /// A fix is taken from the journal.
    /// - Parameters:
    ///   - start: the place of its record.
    ///   - isRepeated: whether the record was taken before, see ``Next/rescan(from:)``.
    /// - Returns: whether it is due; else it is held, or was handed out.
    mutating func take(_ sequence: UInt32, logID: UInt32, at start: JournalPosition, isRepeated: Bool) -> Bool {
        let log = index(of: logID)
        if sequence == logs[log].next {
            logs[log].next = sequence + 1
            return true
        }
        guard sequence > logs[log].next else {
            // It comes late: it was given up, or its first record was damaged before it was handed out.
            return logs[log].givenUp.remove(SequenceRange(sequence)) || !isRepeated
        }
        guard sequence < logs[log].firstForgotten else { return false }
        earliestHeld = earliestHeld.map { min($0, start) } ?? start
        logs[log].hold(sequence, at: start)
        return false
    }

    /// What is due of a log.
    /// - Parameters:
    ///   - covered: what the entries so far cover of it.
    ///   - isGone: whether the collar has another log now, so that what is missing of this one will not come.
    mutating func next(of logID: UInt32, covered: CoveredSequences, isGone: Bool) -> Next {
        let log = index(of: logID)
        while true {
            let next = logs[log].next
            if let run = logs[log].runs.first, run.range.first <= next { return .run(run) }
            if next == logs[log].firstForgotten, let place = logs[log].forgottenPlace {
                logs[log].firstForgotten = .max
                logs[log].forgottenPlace = nil
                findEarliestHeld()
                return .rescan(from: place)
            }
            if let range = covered.range(holding: next) {
                // It was handed out before, or it will not come.
                let held = min(logs[log].runs.first?.range.first ?? .max, logs[log].firstForgotten)
                logs[log].next = min(range.last + 1, held)
                continue
            }
            guard isGone, let held = logs[log].runs.first, let range = SequenceRange(next, held.range.first - 1) else {
                return .nothing
            }
            logs[log].next = held.range.first
            logs[log].givenUp.insert(range)
            return .gone(range)
        }
    }

    /// The run of a log that was due has been gone through.
    mutating func finishedRun(of logID: UInt32) {
        let log = index(of: logID)
        guard let run = logs[log].runs.first else { return }
        logs[log].next = max(logs[log].next, run.range.last + 1)
        logs[log].runs.removeFirst()
        findEarliestHeld()
    }

    private mutating func findEarliestHeld() {
        var earliest: JournalPosition?
        for log in logs {
            for place in log.runs.map(\.start) + [log.forgottenPlace].compactMap({ $0 }) {
                earliest = earliest.map { min($0, place) } ?? place
            }
        }
        earliestHeld = earliest
    }

    private mutating func index(of logID: UInt32) -> Int {
        if let index = logs.firstIndex(where: { $0.id == logID }) { return index }
        logs.append(Log(id: logID, next: 0))
        return logs.count - 1
    }
}
