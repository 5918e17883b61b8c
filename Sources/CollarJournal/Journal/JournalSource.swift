import CollarWire

/// A journal from which entries are taken: the ``Journal`` that is written, or a ``JournalReader``.
package protocol JournalSource: AnyObject {
    /// The collar.
    var deviceID: UInt64 { get }

    /// The damage that was reported before; reading meets it again.
    var knownDamage: [DamageReport] { get }

    /// The oldest segment that is known to exist; nil if there is none.
    var oldestSegment: UInt32? { get }

    /// Reads entries, see ``Journal/entries(from:limit:)``.
    func entries(from position: JournalPosition, limit: Int) throws(JournalError) -> JournalBatch

    /// The coverage of each log at a position, see ``Journal/coverage(at:)``.
    func coverage(at position: JournalPosition) throws(JournalError) -> [UInt32: CoveredSequences]

    /// A position at or before the first entry received since a time, see ``Journal/position(receivedSince:)``.
    func position(receivedSince unixMilliseconds: Int64) throws(JournalError) -> JournalPosition

    /// The position after the record of a fix, see ``Journal/position(behind:logID:)``.
    func position(behind sequence: UInt32, logID: UInt32) throws(JournalError) -> JournalPosition?
}

extension Journal: JournalSource {
    /// ``damage``.
    package var knownDamage: [DamageReport] { damage }
    /// The oldest segment.
    package var oldestSegment: UInt32? { segments.first }
}

extension JournalReader: JournalSource {
    /// None: a reader has not opened the journal.
    package var knownDamage: [DamageReport] { [] }
    /// The oldest segment at the last search.
    package var oldestSegment: UInt32? { segments.first }
}
