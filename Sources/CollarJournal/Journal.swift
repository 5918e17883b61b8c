import CollarARQ
import CollarWire

/// The durable log of one collar: append-only segments of checked records.
///
/// The order that keeps every promise is: ``append(_:)``, hand the line over, ``setEmissionCursor(_:)``, ``commit()``
/// (one for many), acknowledge what ``durable(logID:)`` names.
///
/// A journal belongs to one thread. It closes its files and gives up its lock when it is released.
public final class Journal {
    /// Whether the journal takes records.
    public enum State: Equatable, Sendable {
        /// All is well.
        case open
        /// The disk is full. What was appended waits in memory; ``commit()`` may be tried again.
        case full(FileFailure)
        /// It is not known what is on the disk. Nothing more becomes durable until the journal is opened again.
        case failed(FileFailure)
    }

    /// Where its files lie.
    public let directory: JournalDirectory
    /// The collar.
    public let deviceID: UInt64
    /// The receiver that writes, see ``ReceiverIdentity``.
    public let receiverID: UInt32
    /// The receiver that wrote before, where it is another one: the journal was copied here from another machine.
    public let previousReceiverID: UInt32?
    /// What was stepped over when the journal was opened, unless that was dealt with before.
    public let damage: [DamageReport]
    /// Whether it takes records.
    public internal(set) var state: State = .open
    /// Up to where lines were handed to the consumer.
    public internal(set) var emissionCursor: JournalPosition

    /// Bytes after which a segment is followed by the next.
    public static let defaultSegmentByteLimit = 1 << 20
    /// Bytes of records that may wait for a commit.
    static let pendingByteLimit = 1 << 20
    let fileSystem: any FileSystem
    let lockFile: FileReference
    let segmentByteLimit: Int
    let byteLimit: Int?
    /// Bytes of the segments before the one that grows, counted where there is a limit.
    var earlierByteCount = 0
    /// Numbers of the segments that exist, ascending; the last is that of `writer`.
    var segments: [UInt32]
    var writer: SegmentWriter
    /// What is covered, and what of it is durable.
    var ledger: CoverageLedger
    /// Where the newest cursor on its way to the disk points.
    var stagedCursor: JournalPosition
    /// The newest time seen, for the headers of segments. It never goes back when the clock does, so that a time can be
    /// searched for among them.
    var latestUnixMilliseconds: Int64
    /// Damage that was dealt with, by the first of its segments.
    var repaired: [UInt32: DamageExtent]
    /// The files of earlier segments, for reading back.
    var earlier: SegmentFiles
    var readBuffer: [UInt8] = []
    init(
        _ place: Opening, fileSystem: any FileSystem, recovery: JournalRecovery?, start: Start
    ) {
        directory = place.directory
        deviceID = place.deviceID
        receiverID = place.receiverID
        segmentByteLimit = place.segmentByteLimit
        byteLimit = place.byteLimit
        latestUnixMilliseconds = place.latestUnixMilliseconds
        self.fileSystem = fileSystem
        lockFile = start.lockFile
        earlier = SegmentFiles(place.directory, fileSystem)
        segments = start.segments
        writer = start.writer
        repaired = recovery?.repaired ?? [:]
        let writerBefore = recovery?.header?.receiverID
        previousReceiverID = writerBefore == place.receiverID ? nil : writerBefore
        emissionCursor = min(recovery?.cursor ?? .start, start.writer.end)
        stagedCursor = emissionCursor
        // Where the disk had no room for the progress that ends a commit cut short, nobody would miss its records if they
        // were damaged later: they are not announced before the next commit.
        let isConfirmed = start.writer.pending.bytes.isEmpty
        ledger = CoverageLedger(recovery, isConfirmed: isConfirmed, limits: place.limits)
        let extent = recovery?.damageExtent ?? DamageExtent()
        let isNew = recovery.map { $0.repaired[$0.firstSegment] != extent } ?? false
        damage = isNew ? recovery?.damage ?? [] : []
        if let recovery, isNew, extent != DamageExtent() {
            // What it took is missing from the coverage just found, and was announced.
            noteRepaired(recovery.firstSegment, extent)
        }
        countEarlierBytes()
    }

    deinit {
        fileSystem.close(writer.file)
        fileSystem.close(lockFile)
    }

    /// The ids of the logs that have records; that of the newest record comes last.
    public var logIDs: [UInt32] { ledger.logsInOrder.map(\.id) }

    /// What is known to be lost of a log, durable or not.
    public func lost(logID: UInt32) -> SequenceRanges { ledger.log(logID)?.known.lost ?? SequenceRanges() }

    /// What of a log is durable: what may be acknowledged.
    public func durable(logID: UInt32) -> CoveredSequences {
        ledger.log(logID)?.durable ?? CoveredSequences()
    }

    /// Whether a fix was appended, durable or not: another one with its sequence is a duplicate.
    public func contains(_ sequence: UInt32, logID: UInt32) -> Bool {
        ledger.isStored(sequence, logID: logID)
    }

    /// The highest sequence appended to a log, durable or not; nil where there is none.
    public func highestSequence(logID: UInt32) -> UInt32? {
        ledger.log(logID)?.known.highest
    }

    /// The highest sequence of a fix appended to a log, durable or not; nil where there is none.
    ///
    /// Complexity: linear in the ranges where something is lost.
    public func highestStored(logID: UInt32) -> UInt32? {
        ledger.log(logID)?.known.stored.ranges.last?.last
    }

    /// The lowest sequence of a log that was not appended, durable or not.
    public func firstMissing(logID: UInt32) -> UInt32 {
        ledger.log(logID)?.known.firstMissing ?? 0
    }

    /// Behind everything appended. Right after an ``append(_:)`` it is the position behind that record.
    public var end: JournalPosition { writer.end }

    /// Appends a fix; it is durable after the next ``commit()``. It may be one that was lost.
    /// - Returns: false for a duplicate; nothing is changed then, nor when an error is thrown.
    ///
    /// Complexity: no system call. Constant at the end of a log, else linear in the gaps behind.
    public func append(_ record: JournaledFix) throws(JournalError) -> Bool {
        try checkAccepting()
        let sequence = record.fix.sequence
        guard !contains(sequence, logID: record.logID) else { return false }
        let before = writer.pending.bytes.count
        try writer.pending.append(record)
        latestUnixMilliseconds = max(latestUnixMilliseconds, record.receivedUnixMilliseconds)
        return try keepAppended(ledger.store(sequence, logID: record.logID), logID: record.logID, pendingBefore: before)
    }

    /// Appends a range that will never come; it counts as covered after the next ``commit()``.
    /// - Returns: false where all of it was covered already; nothing is changed then, nor when an error is thrown.
    public func append(_ loss: JournaledLoss) throws(JournalError) -> Bool {
        try checkAccepting()
        guard loss.range.last <= Fix.maximumSequence else { throw .unencodable(.sequence(loss.range.last)) }
        let before = writer.pending.bytes.count
        try writer.pending.append(loss)
        latestUnixMilliseconds = max(latestUnixMilliseconds, loss.receivedUnixMilliseconds)
        var result = ledger.lose(loss)
        if result == .refused, ledger.giveUp(loss.range, logID: loss.logID) == .inserted {
            // There is no room to remember that it is lost. A log that did not go on would be worse.
            writer.pending.removeAll(behind: before)
            var given = loss
            given.reason = .givenUp
            try writer.pending.append(given)
            result = .inserted
        }
        return try keepAppended(result, logID: loss.logID, pendingBefore: before)
    }

    /// Remembers that all entries before `position` were handed to the consumer. It is written by the next
    /// ``commit()``.
    public func setEmissionCursor(_ position: JournalPosition) {
        emissionCursor = min(position, end)
    }

    func checkAccepting() throws(JournalError) {
        if case .failed(let failure) = state { throw .stopped(after: failure) }
        guard writer.pending.bytes.count < Journal.pendingByteLimit else { throw .pendingLimitReached }
        try checkSize()
    }

    /// Takes back what was just added to the pending records where it is not new.
    private func keepAppended(
        _ result: SequenceRanges.Insertion, logID: UInt32, pendingBefore: Int
    ) throws(JournalError) -> Bool {
        if result == .inserted { return true }
        writer.pending.removeAll(behind: pendingBefore)
        if result == .refused { throw ledger.isOneTooMany(logID) ? .logLimitReached : .trackingLimitReached }
        return false
    }

    /// Makes room for one more log after ``JournalError/logLimitReached``: nothing more is stored of the one that is least in use.
    /// - Returns: whether there is room now.
    public func closeLeastUsedLog() throws(JournalError) -> Bool {
        try checkAccepting()
        let (closed, hasRoom) = ledger.makeRoom()
        if let closed { writer.pending.appendClosed([closed]) }
        return hasRoom
    }

    /// Whether nothing more of a log is stored, see ``closeLeastUsedLog()``.
    public func isClosed(logID: UInt32) -> Bool { ledger.closedLogIDs.contains(logID) }

    /// How many fixes of a log were appended, durable or not.
    public func storedCount(logID: UInt32) -> UInt64 { ledger.log(logID)?.known.storedCount ?? 0 }
}
