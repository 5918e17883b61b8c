import CollarARQ
import CollarWire

/// The durable log of one collar: append-only segments of checked records.
///
/// The guarantees hold for this order of calls: `append(_:)`, hand the line over, ``setEmissionCursor(_:)``, ``commit()``
/// (one for many records), acknowledge what ``durable(logID:)`` names.
///
/// A journal belongs to one thread. It closes its files and gives up its lock when it is released.
package final class Journal {
    /// Whether the journal accepts records.
    package enum State: Equatable, Sendable {
        /// No operation has failed, or writing succeeded again after the disk was full.
        case open
        /// The disk is full. The appended records wait in memory; ``commit()`` can be tried again.
        case full(FileFailure)
        /// It is not known what is on the disk. Nothing more becomes durable until the journal is opened again.
        case failed(FileFailure)
    }

    var place: Opening
    package var directory: JournalDirectory { place.directory }
    package var deviceID: DeviceID { place.deviceID }
    /// The receiver that writes, see ``ReceiverIdentity``.
    package var receiverID: UInt32 { place.receiverID }
    /// The receiver that wrote the journal before, if it is not ``receiverID``: the journal was copied from another machine.
    /// Nil otherwise.
    package let previousReceiverID: UInt32?
    /// The damage that was skipped when the journal was opened, unless it was dealt with before.
    package let damage: [DamageReport]
    package internal(set) var state: State = .open
    /// The position up to which lines were handed to the consumer.
    package internal(set) var emissionCursor: JournalPosition
    /// How far the sealed frames of the collar have come; nil before the first. A change becomes durable with the next
    /// ``commit()``.
    package var sealedProgress: SealedProgress?
    /// The address on the air at which the collar was heard last, 1 … 254; nil if that was not recorded. A change is written with
    /// the next ``commit()``.
    package var address: UInt8?
    /// The collar's condition as the receiver last told it to a person. A change is written with the next ``commit()``.
    package var memory: CollarMemory

    /// Size of a segment in bytes, after which the next one begins.
    package static let defaultSegmentByteLimit = 1 << 20
    /// Bytes of records that may wait for a commit.
    static let pendingByteLimit = 1 << 20
    let fileSystem: any FileSystem
    let lockFile: FileReference
    /// Bytes of the segments before the one that grows, counted if there is a limit.
    var earlierByteCount = 0
    /// Numbers of the segments that exist, ascending; the last is that of `writer`.
    var segments: [UInt32]
    var writer: SegmentWriter
    /// The covered sequences, and which of them are durable.
    var ledger: CoverageLedger
    /// The newest cursor in a record, written or pending.
    var stagedCursor: JournalPosition
    /// The newest ``sealedProgress`` in a record, written or pending.
    var stagedSealedProgress: SealedProgress?
    /// Whether that record is not known to be on the disk.
    var isSealedProgressPending = false
    /// The newest ``address`` in a record, written or pending.
    var stagedAddress: UInt8?
    /// The newest ``memory`` in a record, written or pending.
    var stagedMemory: CollarMemory
    /// The newest time in the journal when it was opened, in milliseconds since 1970 by the clock of the host that wrote it; nil if
    /// the journal was empty.
    package let openedUnixMilliseconds: Int64?
    /// The extent of damage that was dealt with; the key is the first segment of its ``DamagedStretch``.
    var repaired: [UInt32: DamageExtent]
    /// The files of earlier segments, for reading back.
    var earlier: SegmentFiles
    var readBuffer: [UInt8] = []

    /// - Parameter lockFile: the directory, which is locked.
    init(
        _ place: Opening, _ recovery: JournalRecovery?, _ lockFile: FileReference, _ segments: [UInt32], _ writer: SegmentWriter,
        _ fileSystem: any FileSystem
    ) {
        self.place = place
        openedUnixMilliseconds = recovery?.latestUnixMilliseconds
        self.fileSystem = fileSystem
        self.lockFile = lockFile
        earlier = SegmentFiles(place.directory, fileSystem)
        self.segments = segments
        self.writer = writer
        let found = recovery?.kept ?? Checkpoint()
        repaired = found.repaired
        let writerBefore = recovery?.header?.receiverID
        previousReceiverID = writerBefore == place.receiverID ? nil : writerBefore
        emissionCursor = min(found.cursor, writer.end)
        stagedCursor = emissionCursor
        sealedProgress = found.sealed
        stagedSealedProgress = sealedProgress
        address = found.address
        stagedAddress = address
        memory = found.memory
        stagedMemory = memory
        // If the disk had no room for the progress record that ends an interrupted commit, later damage to that commit's
        // records would go unnoticed. So these records are not announced before the next commit.
        ledger = CoverageLedger(recovery, isConfirmed: writer.pending.bytes.isEmpty, limits: place.limits)
        let extent = recovery?.damageExtent ?? DamageExtent()
        let isNew = recovery.map { found.repaired[$0.firstSegment] != extent } ?? false
        damage = isNew ? recovery?.damage ?? [] : []
        if let recovery, isNew, extent != DamageExtent() {
            // The collar is asked for the lost sequences: they count as announced and are missing from the recovered coverage.
            noteRepaired(recovery.firstSegment, extent)
        }
        countEarlierBytes()
    }

    deinit {
        fileSystem.close(writer.file)
        fileSystem.close(lockFile)
    }

    /// The ids of the logs that have records; the log of the newest record comes last.
    package var logIDs: [LogID] { ledger.logsInOrder.map(\.id) }

    /// The sequences of a log that are covered by what was appended, durable or not.
    package func known(logID: LogID) -> CoveredSequences { ledger.log(logID)?.known ?? CoveredSequences() }

    /// The durable sequences of a log: those that may be acknowledged.
    package func durable(logID: LogID) -> CoveredSequences { ledger.log(logID)?.durable ?? CoveredSequences() }

    /// Whether a fix was appended, durable or not: another one with its sequence is a duplicate.
    package func contains(_ sequence: UInt32, logID: LogID) -> Bool { ledger.isStored(sequence, logID: logID) }

    /// The lowest sequence of a log that is not covered by what was appended, durable or not.
    package func firstMissing(logID: LogID) -> UInt32 { ledger.log(logID)?.known.firstMissing ?? 0 }

    /// The position after all appended records. Right after an `append(_:)` it is the position after that record.
    package var end: JournalPosition { writer.end }

    /// Appends a fix, which is durable after the next ``commit()``. It may be one that the collar reported lost.
    /// - Returns: false for a duplicate. Nothing changes then, nor when an error is thrown.
    ///
    /// Complexity: no system call. Constant if the fix is the newest of its log, else linear in the gaps above the fix.
    package func append(_ record: JournaledFix) throws(JournalError) -> Bool {
        try append(record.fix.sequence, logID: record.logID, at: record.receivedUnixMilliseconds) {
            (pending) throws(JournalError) in try pending.append(record)
        }
    }

    /// Appends a message, which is durable after the next ``commit()``. Its sequence counts as that of a fix.
    /// - Returns: false for a duplicate. Nothing changes then, nor when an error is thrown.
    ///
    /// Complexity: as for a fix.
    package func append(_ record: JournaledMessage) throws(JournalError) -> Bool {
        try append(record.message.sequence, logID: record.logID, at: record.receivedUnixMilliseconds) {
            (pending) throws(JournalError) in try pending.append(record)
        }
    }

    private func append(
        _ sequence: UInt32, logID: LogID, at unixMilliseconds: Int64,
        _ addRecord: (inout RecordBuffer) throws(JournalError) -> Void
    ) throws(JournalError) -> Bool {
        try checkAccepting()
        guard !contains(sequence, logID: logID) else { return false }
        let before = writer.pending.bytes.count
        try addRecord(&writer.pending)
        place.latestUnixMilliseconds = max(place.latestUnixMilliseconds, unixMilliseconds)
        return try keepAppended(ledger.store(sequence, logID: logID), logID: logID, pendingBefore: before)
    }

    /// Appends a range of fixes that are no longer expected. It counts as covered after the next ``commit()``.
    /// - Returns: false if all of it was already covered. Nothing changes then, nor when an error is thrown.
    package func append(_ loss: JournaledLoss) throws(JournalError) -> Bool {
        try checkAccepting()
        guard loss.range.last <= Fix.maximumSequence else { throw .unencodable(.sequence(loss.range.last)) }
        let before = writer.pending.bytes.count
        try writer.pending.append(loss)
        place.latestUnixMilliseconds = max(place.latestUnixMilliseconds, loss.receivedUnixMilliseconds)
        var result = ledger.lose(loss)
        if result == .refused, ledger.giveUp(loss.range, logID: loss.logID) == .inserted {
            // The loss would exceed the tracking limits, so the range is given up. A log without progress would be worse.
            writer.pending.removeAll(behind: before)
            var given = loss
            given.reason = .givenUp
            try writer.pending.append(given)
            result = .inserted
        }
        return try keepAppended(result, logID: loss.logID, pendingBefore: before)
    }

    /// Remembers that all entries before `position` were handed to the consumer. The next ``commit()`` writes the position.
    package func setEmissionCursor(_ position: JournalPosition) { emissionCursor = min(position, end) }

    func checkAccepting() throws(JournalError) {
        if case .failed(let failure) = state { throw .stopped(after: failure) }
        guard writer.pending.bytes.count < Journal.pendingByteLimit else { throw .pendingLimitReached }
        try checkSize()
    }

    /// Removes the record that was added to the pending records last, unless `result` says that it is new.
    private func keepAppended(_ result: SequenceRanges.Insertion, logID: LogID, pendingBefore: Int) throws(JournalError) -> Bool {
        if result == .inserted { return true }
        writer.pending.removeAll(behind: pendingBefore)
        if result == .refused { throw ledger.isOneTooMany(logID) ? .logLimitReached : .trackingLimitReached }
        return false
    }

    /// Allows one more log after ``JournalError/logLimitReached``: the next record of a new log is accepted.
    /// - Returns: false if the limit is reached, see ``TrackingLimits/logCount``.
    package func admitLog() -> Bool { ledger.admitLog() }
}
