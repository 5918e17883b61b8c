import CollarWire

/// Derives from the entries of one collar's journal, in their order, which fixes are missing, fill a gap, or will not come.
/// The changes depend on the entries alone, so a restart gives the same changes again.
package struct GapTracker: Sendable {
    /// The most fixes in one ``GapChange/Event/filled`` change. A longer fill is split, so that no change is delayed for long.
    private static let longestFilling: UInt64 = 4096

    private var covered: [LogID: CoveredSequences]
    private var filling: GapChange?

    /// A tracker that begins after the entries that cover these sequences.
    package init(_ covered: [LogID: CoveredSequences] = [:]) { self.covered = covered }

    /// The sequences of a log that the entries so far cover: fixes, and ranges that will not come.
    package func covered(_ logID: LogID) -> CoveredSequences { covered[logID] ?? CoveredSequences() }

    /// Whether fixes have filled a gap and no change has reported that yet.
    package var isFilling: Bool { filling != nil }

    /// Takes the next entry.
    /// - Returns: the changes to emit before the entry: the open ``GapChange/Event/filled`` change, if the entry ends it, and
    ///   the changes that the entry itself makes known.
    package mutating func take(_ entry: JournalEntry) -> [GapChange] {
        switch entry {
        case .fix(let record): take(record.fix.sequence, logID: record.logID, at: record.receivedUnixMilliseconds)
        case .message(let record): take(record.message.sequence, logID: record.logID, at: record.receivedUnixMilliseconds)
        case .loss(let loss): take(loss)
        case .uncovered(let uncovered): take(uncovered)
        }
    }

    /// Ends the open ``GapChange/Event/filled`` change, because there are no more entries now.
    package mutating func flush() -> GapChange? {
        defer { filling = nil }
        return filling
    }

    private mutating func take(_ sequence: UInt32, logID: LogID, at time: Int64) -> [GapChange] {
        let next = covered[logID]?.highest.map { $0 + 1 } ?? 0
        guard covered[logID, default: CoveredSequences()].insert(sequence) == .inserted else { return [] }
        if sequence >= next {
            guard filling != nil || sequence > next else { return [] }
            return endFilling() + missing(from: next, before: sequence, logID: logID, at: time)
        }
        if let open = filling, open.logID == logID, open.range.last &+ 1 == sequence,
            open.range.count < GapTracker.longestFilling
        {
            filling?.range.last = sequence
            filling?.unixMilliseconds = time
            return []
        }
        let ended = endFilling()
        filling = GapChange(event: .filled, logID: logID, range: SequenceRange(sequence), unixMilliseconds: time)
        return ended
    }

    private mutating func take(_ loss: JournaledLoss) -> [GapChange] {
        var changes = endFilling()
        let before = covered(loss.logID)
        let time = loss.receivedUnixMilliseconds
        changes += missing(from: before.highest.map { $0 + 1 } ?? 0, before: loss.range.first, logID: loss.logID, at: time)
        for range in before.covered.missingRanges(in: loss.range) {
            var change = GapChange(loss)
            change.range = range
            changes.append(change)
        }
        covered[loss.logID, default: CoveredSequences()].insert(lost: loss.range)
        return changes
    }

    /// Forgets a range, so that the next fix or loss in it is reported again.
    private mutating func take(_ uncovered: UncoveredRange) -> [GapChange] {
        covered[uncovered.logID]?.remove(uncovered.range)
        return endFilling()
    }

    private func missing(from first: UInt32, before end: UInt32, logID: LogID, at time: Int64) -> [GapChange] {
        guard first < end, let range = SequenceRange(first, end - 1) else { return [] }
        return [GapChange(event: .missing, logID: logID, range: range, unixMilliseconds: time)]
    }

    private mutating func endFilling() -> [GapChange] { flush().map { [$0] } ?? [] }
}

/// A change in what is known about missing fixes.
///
/// A consumer that records the sequences of the fixes and the ranges of these changes can prove that it has everything: each
/// missing range is later filled, lost, or delivered elsewhere.
package struct GapChange: Equatable, Sendable {
    package enum Event: String, Sendable, CaseIterable {
        /// The fixes are not stored, but later ones are stored or will not come. The host asks for the missing ones until
        /// another event is known.
        case missing
        /// All missing fixes of the range came. If fixes are ordered by sequence, they may be emitted after this change.
        case filled
        /// The fixes will never come: the collar does not have them any more.
        case lost
        /// The fixes will not come here: another receiver of the collar has them.
        case elsewhere
    }

    package var event: Event
    package var logID: LogID
    package var range: SequenceRange
    /// When it became known, in milliseconds since 1970 by the host's clock.
    package var unixMilliseconds: Int64

    package init(event: Event, logID: LogID, range: SequenceRange, unixMilliseconds: Int64) {
        self.event = event
        self.logID = logID
        self.range = range
        self.unixMilliseconds = unixMilliseconds
    }

    package init(_ loss: JournaledLoss) {
        self.init(
            event: loss.reason.isElsewhere ? .elsewhere : .lost, logID: loss.logID, range: loss.range,
            unixMilliseconds: loss.receivedUnixMilliseconds)
    }
}
