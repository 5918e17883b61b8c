import CollarWire

/// Holds fixes back until everything before them in their log has come or is known never to come. The fixes stay in the
/// journal; only their positions are kept here.
package struct SequenceOrder {
    /// Fixes with consecutive sequences that were appended in ascending order, perhaps with other fixes between them.
    package struct Run: Equatable {
        package let logID: LogID
        package var range: SequenceRange
        /// A position at or before the run's first fix. All fixes of the run follow this position, in order.
        package let start: JournalPosition
    }

    /// What to do next for a log.
    package enum Next: Equatable {
        /// Nothing is held, or the missing fixes may still come.
        case nothing
        /// This run is due now.
        case run(Run)
        /// The collar has another log now, and these fixes will not come.
        case gone(SequenceRange)
        /// The positions of the due fixes are not in memory: all entries after this position must be taken again.
        case rescan(from: JournalPosition)
    }

    private struct Log {
        package let id: LogID
        /// Every fix below this sequence was handed out, or will not come.
        package var next: UInt32
        /// The held runs in memory, in the order of their sequences.
        package var runs: [Run] = []
        /// The lowest held sequence that is not in ``runs``, or the maximum if there is none. The sequences in ``runs`` are
        /// below it.
        package var firstForgotten: UInt32 = .max
        /// A position at or before the held fixes that are not in ``runs``.
        package var forgottenPlace: JournalPosition?
        /// Sequences below `next` whose fixes were reported as lost. A fix with such a sequence is late, not a repetition.
        package var givenUp = SequenceRanges()

        package var firstHeld: UInt32? { runs.first?.range.first ?? (forgottenPlace == nil ? nil : firstForgotten) }

        /// Holds back a fix below ``firstForgotten``.
        package mutating func hold(_ sequence: UInt32, at start: JournalPosition) {
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
            forgottenPlace = min(forgottenPlace ?? last.start, last.start)
        }
    }

    /// The most runs of a log in memory. The journal is read again for further runs when they are due.
    package static let runLimit = 1024

    private var logs: [Log] = []
    /// A position at or before all held fixes; nil if none is held.
    package private(set) var earliestHeld: JournalPosition?

    /// An order that begins after the entries that cover these sequences; these entries were handed out.
    package init(_ covered: [LogID: CoveredSequences]) {
        logs = covered.sorted { $0.key < $1.key }.map { Log(id: $0.key, next: $0.value.firstMissing) }
    }

    package var logIDs: [LogID] { logs.map(\.id) }

    package var waitingLogIDs: [LogID] { logs.filter { !$0.runs.isEmpty || $0.forgottenPlace != nil }.map(\.id) }

    /// Takes a fix from the journal.
    /// - Parameters:
    ///   - start: the position of its record.
    ///   - isRepeated: whether the record was taken before, see ``Next/rescan(from:)``.
    /// - Returns: whether the fix is due now; if not, it is held or was handed out before.
    package mutating func take(_ sequence: UInt32, logID: LogID, at start: JournalPosition, isRepeated: Bool) -> Bool {
        let log = index(of: logID)
        if sequence == logs[log].next {
            logs[log].next = sequence + 1
            return true
        }
        guard sequence > logs[log].next else {
            // The fix comes late: it was given up, or damage destroyed its first record before the fix was handed out.
            return logs[log].givenUp.remove(SequenceRange(sequence)) || !isRepeated
        }
        guard sequence < logs[log].firstForgotten else { return false }
        earliestHeld = min(earliestHeld ?? start, start)
        logs[log].hold(sequence, at: start)
        return false
    }

    /// What to do next for a log.
    /// - Parameters:
    ///   - covered: the sequences of the log that the entries so far cover.
    ///   - isGone: whether the collar has another log now, so that missing fixes of this log will not come.
    package mutating func next(of logID: LogID, covered: CoveredSequences, isGone: Bool) -> Next {
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
            if let range = covered.covered.range(holding: next) {
                // The sequences of the range were handed out before, or will not come.
                let held = min(logs[log].runs.first?.range.first ?? .max, logs[log].firstForgotten)
                logs[log].next = min(range.last + 1, held)
                continue
            }
            guard isGone, let held = logs[log].firstHeld, let range = SequenceRange(next, held - 1) else { return .nothing }
            logs[log].next = held
            logs[log].givenUp.insert(range)
            return .gone(range)
        }
    }

    package mutating func finishedRun(of logID: LogID) {
        let log = index(of: logID)
        guard let run = logs[log].runs.first else { return }
        logs[log].next = max(logs[log].next, run.range.last + 1)
        logs[log].runs.removeFirst()
        findEarliestHeld()
    }

    private mutating func findEarliestHeld() {
        earliestHeld = logs.flatMap { $0.runs.map(\.start) + [$0.forgottenPlace].compactMap(\.self) }.min()
    }

    private mutating func index(of logID: LogID) -> Int {
        if let index = logs.firstIndex(where: { $0.id == logID }) { return index }
        logs.append(Log(id: logID, next: 0))
        return logs.count - 1
    }
}
