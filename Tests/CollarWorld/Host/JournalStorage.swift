import CollarJournal
import CollarSimulator
import CollarWire

/// The journals of the program on a disk that fails: one a collar, with segments so small that the next begins all the
/// time.
package final class JournalStorage: FaultyStorage {
    /// The disk.
    package let disk: SimulatedDisk
    private let segmentByteLimit: Int
    /// Whether this host answers with what is durable also while commits fail. The program does not, but might.
    private let isAnsweringAmidFailures: Bool
    private var random: SeededRandom
    private var receiverID: UInt32?
    private var isOpen = false
    private var shelves: [JournalShelf] = []
    /// Collars whose journal could not be opened by this process.
    private var unavailable: Set<UInt64> = []
    private var records: [UInt64: DurableRecords] = [:]
    /// The cursor that was handed to the last commit that succeeded.
    private var promisedCursors: [UInt64: JournalPosition] = [:]

    private static let stateDirectory = "/var/state"
    private static let unixMilliseconds: Int64 = 1_700_000_000_000

    /// An empty disk; what goes wrong on it, and how large segments are, comes from the seed.
    package init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        disk = SimulatedDisk(seed: random.next())
        isAnsweringAmidFailures = random.chance(0.5)
        segmentByteLimit = random.chance(0.5) ? 600 + random.below(1000) : 2048 + random.below(6144)
    }

    /// The logs that have records.
    package var logs: [LogIdentity] {
        shelves.flatMap { shelf in
            shelf.journal.logIDs.compactMap { LogIdentity(deviceID: shelf.deviceID, logID: $0) }
        }
    }

    /// Whether something waits.
    package var isCommitDue: Bool { shelves.contains(where: \.isCommitDue) }

    /// Whether a journal has stopped or could not be opened.
    package var needsRestart: Bool {
        guard isOpen, unavailable.isEmpty else { return true }
        return shelves.contains { if case .failed = $0.journal.state { true } else { false } }
    }

    private func shelf(_ deviceID: UInt64) -> JournalShelf? { shelves.first { $0.deviceID == deviceID } }

    private func open(_ deviceID: UInt64) throws(JournalError) -> JournalShelf {
        let journal = try Journal.open(
            stateDirectory: JournalStorage.stateDirectory, deviceID: deviceID, receiverID: receiverID ?? 1,
            nowUnixMilliseconds: JournalStorage.unixMilliseconds, segmentByteLimit: segmentByteLimit, fileSystem: disk)
        let shelf = JournalShelf(deviceID: deviceID, journal: journal)
        shelves.append(shelf)
        return shelf
    }

    /// A new process: who it is, and the journals of all collars known.
    package func reopen() throws(StorageFailure) {
        let former = receiverID
        do throws(JournalError) {
            let identity = try ReceiverIdentity.load(
                stateDirectory: JournalStorage.stateDirectory, fileSystem: disk,
                random: &random)
            receiverID = identity.receiverID
            for deviceID in try JournalDirectory.knownCollars(
                stateDirectory: JournalStorage.stateDirectory, fileSystem: disk)
            { _ = try open(deviceID) }
            isOpen = true
        } catch {
            shelves = []
            throw .failed
        }
        if let former, former != receiverID { throw .otherReceiver }
    }

    /// The process is gone.
    package func stop(losesPower: Bool) {
        if losesPower { disk.losePower() } else { disk.endProcess() }
        shelves = []
        unavailable = []
        isOpen = false
    }

    /// The highest sequence appended; nil where there is none.
    package func highestSequence(of log: LogIdentity) -> UInt32? {
        shelf(log.deviceID)?.journal.highestSequence(logID: log.logID)
    }

    /// A fix that was appended; those of earlier processes are read back when the first of them is asked for.
    package func fix(_ sequence: UInt32, of log: LogIdentity) -> Fix? {
        shelf(log.deviceID)?.fix(sequence, logID: log.logID)
    }

    /// Appends a fix.
    package func append(_ fix: Fix, of log: LogIdentity) throws(StorageFailure) -> Bool {
        let shelf = try shelfForAppending(to: log)
        let record = JournaledFix(
            logID: log.logID, receivedUnixMilliseconds: JournalStorage.unixMilliseconds + Int64(fix.sequence),
            signal: fix.sequence % 3 == 0 ? nil : JournaledSignal(strengthDBm: -80), fix: fix)
        return try appending { () throws(JournalError) in try shelf.append(record) }
    }

    /// Appends a loss.
    package func append(lost range: SequenceRange, of log: LogIdentity) throws(StorageFailure) -> Bool {
        let shelf = try shelfForAppending(to: log)
        let loss = JournaledLoss(
            logID: log.logID, range: range, reason: .overwritten,
            receivedUnixMilliseconds: JournalStorage.unixMilliseconds)
        return try appending { () throws(JournalError) in try shelf.append(loss) }
    }

    private func shelfForAppending(to log: LogIdentity) throws(StorageFailure) -> JournalShelf {
        if let shelf = shelf(log.deviceID) { return shelf }
        guard isOpen, !unavailable.contains(log.deviceID) else { throw .failed }
        do throws(JournalError) { return try open(log.deviceID) } catch {
            unavailable.insert(log.deviceID)
            throw .failed
        }
    }

    private func appending(_ body: () throws(JournalError) -> Bool) throws(StorageFailure) -> Bool {
        do throws(JournalError) { return try body() } catch {
            throw error == .pendingLimitReached ? .full : .failed
        }
    }

    /// Commits every journal; what fails of one does not keep the others from it.
    package func commit() throws(StorageFailure) {
        var failure: StorageFailure?
        for shelf in shelves {
            do throws(JournalError) {
                if let cursor = try shelf.commit() { promisedCursors[shelf.deviceID] = cursor }
            } catch {
                if case .full = shelf.journal.state { failure = failure ?? .full } else { failure = .failed }
            }
        }
        if let failure { throw failure }
    }

    /// What may be acknowledged.
    package func durable(of log: LogIdentity) -> CoveredSequences {
        shelf(log.deviceID)?.journal.durable(logID: log.logID) ?? CoveredSequences()
    }

    /// Whether a collar is answered.
    package func isServed(_ deviceID: UInt64) -> Bool {
        if unavailable.contains(deviceID) { return false }
        return isAnsweringAmidFailures || shelf(deviceID)?.hasCommitFailed != true
    }

    /// The collars that have a journal.
    package var collars: [UInt64] { shelves.map(\.deviceID) }

    /// Where the consumer is.
    package func emissionCursor(of deviceID: UInt64) -> JournalPosition {
        shelf(deviceID)?.journal.emissionCursor ?? .start
    }

    /// Entries from a position on.
    package func entries(
        of deviceID: UInt64, from position: JournalPosition, limit: Int
    ) throws(StorageFailure) -> JournalBatch {
        guard let shelf = shelf(deviceID) else { throw .failed }
        do throws(JournalError) { return try shelf.journal.entries(from: position, limit: limit) } catch {
            throw .failed
        }
    }

    /// Lines were handed over.
    package func setEmissionCursor(_ position: JournalPosition, of deviceID: UInt64) {
        shelf(deviceID)?.journal.setEmissionCursor(position)
    }

    /// The cursor that the last commit kept.
    package func promisedCursor(of deviceID: UInt64) -> JournalPosition { promisedCursors[deviceID] ?? .start }
}

extension JournalStorage {
    private func durableRecords(of deviceID: UInt64) -> DurableRecords {
        if let known = records[deviceID] {
            known.update(from: disk)
            return known
        }
        let directory = JournalDirectory(stateDirectory: JournalStorage.stateDirectory, deviceID: deviceID)
        let new = DurableRecords(deviceID: deviceID, directory: directory.path)
        new.update(from: disk)
        records[deviceID] = new
        return new
    }

    /// What is on the disk for certain.
    package func kept(_ sequence: UInt32, of log: LogIdentity) -> KeptRecord {
        durableRecords(of: log.deviceID).kept(sequence, logID: log.logID)
    }

    /// All fixes of a log that are on the disk for certain.
    package func keptFixes(of log: LogIdentity) -> [UInt32: Fix] {
        durableRecords(of: log.deviceID).logs[log.logID]?.fixes ?? [:]
    }

    /// A fix that was stored although it was there.
    package func repeatedFix(of log: LogIdentity) -> UInt32? {
        guard let repeated = durableRecords(of: log.deviceID).repeated, repeated.logID == log.logID else { return nil }
        return repeated.sequence
    }

    /// Flips some bytes of the last segment of a collar, or makes a page of it zeros. What tells of the latest commits is
    /// spared: where nothing says that there was more, nothing can be missed.
    package func damage(_ random: inout SeededRandom) -> [LostRecord] {
        let known = records.keys.sorted()
        guard !known.isEmpty else { return [] }
        let deviceID = known[random.below(known.count)]
        let found = durableRecords(of: deviceID)
        let before = found.logs
        guard let file = found.lastFile, !file.durable.isEmpty else { return [] }
        let first = random.below(file.durable.count)
        let isPage = random.chance(0.3)
        let start = isPage ? first - first % DiskFile.blockByteCount : first
        let count = isPage ? DiskFile.blockByteCount : 1 + random.below(4)
        let flips = UInt8(1 + random.below(255))
        let spared = found.newestProgress.values.map { ($0.lowerBound - 1)..<($0.upperBound + 1) }
        for offset in start..<min(start + count, file.durable.count) where !spared.contains(where: { $0.contains(offset) })
        {
            disk.damage(file, at: offset..<(offset + 1)) { isPage ? 0 : $0 ^ flips }
        }
        promisedCursors[deviceID] = nil
        found.update(from: disk)
        var lost: [LostRecord] = []
        for (logID, log) in before.sorted(by: { $0.key < $1.key }) {
            guard let identity = LogIdentity(deviceID: deviceID, logID: logID) else { continue }
            let sequences = Array(log.fixes.keys) + log.losses.flatMap { Array($0.first...$0.last) }
            for sequence in Set(sequences).sorted() where found.kept(sequence, logID: logID) == .nothing {
                lost.append(LostRecord(log: identity, sequence: sequence))
            }
        }
        return lost
    }
}
