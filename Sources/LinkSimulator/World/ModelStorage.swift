import CollarJournal
import CollarWire

/// A model of a log on disk: what is appended waits in memory, a sync makes it durable, a crash loses the rest except
/// for what happened to reach the disk.
public final class ModelStorage: FaultyStorage {
    private enum Record {
        case fix(Fix)
        case loss(SequenceRange)
    }

    private struct LogStore {
        let log: LogIdentity
        var fixes: [UInt32: Fix] = [:]
        var losses: [SequenceRange] = []
        var known = CoveredSequences()
        var durable = CoveredSequences()
        /// Durable fixes; those in ``fixes`` that are not here wait.
        var kept: [UInt32: Fix] = [:]
    }

    private var stores: [LogStore] = []
    private var waiting: [(log: LogIdentity, record: Record)] = []
    private var hasFailed = false
    private var random: SeededRandom

    /// Whether the disk has no room.
    public var isFull = false
    /// Whether the next sync fails.
    public var isNextSyncFailing = false

    /// Records that may wait in memory.
    public static let waitingLimit = 512

    /// An empty disk; what a crash leaves comes from the seed.
    public init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// The logs that have records.
    public var logs: [LogIdentity] { stores.map(\.log) }

    /// Whether something waits.
    public var isCommitDue: Bool { !waiting.isEmpty }

    /// Records that wait.
    public var waitingCount: Int { waiting.count }

    private func index(of log: LogIdentity) -> Int? { stores.firstIndex { $0.log == log } }

    /// The highest sequence appended; nil where there is none.
    public func highestSequence(of log: LogIdentity) -> UInt32? { index(of: log).flatMap { stores[$0].known.highest } }

    /// A fix that was appended.
    public func fix(_ sequence: UInt32, of log: LogIdentity) -> Fix? {
        index(of: log).flatMap { stores[$0].fixes[sequence] }
    }

    /// Appends a fix.
    public func append(_ fix: Fix, of log: LogIdentity) throws(StorageFailure) -> Bool {
        let store = try storeForAppending(to: log)
        guard stores[store].known.insert(fix.sequence) == .inserted else { return false }
        stores[store].fixes[fix.sequence] = fix
        waiting.append((log, .fix(fix)))
        return true
    }

    /// Appends a loss.
    public func append(lost range: SequenceRange, of log: LogIdentity) throws(StorageFailure) -> Bool {
        let store = try storeForAppending(to: log)
        guard stores[store].known.insert(range) == .inserted else { return false }
        waiting.append((log, .loss(range)))
        return true
    }

    private func storeForAppending(to log: LogIdentity) throws(StorageFailure) -> Int {
        guard !hasFailed else { throw .failed }
        guard waiting.count < ModelStorage.waitingLimit else { throw .full }
        if let index = index(of: log) { return index }
        stores.append(LogStore(log: log))
        return stores.count - 1
    }

    /// Syncs.
    public func commit() throws(StorageFailure) {
        guard !hasFailed else { throw .failed }
        guard !isFull else { throw .full }
        if isNextSyncFailing {
            isNextSyncFailing = false
            hasFailed = true
            throw .failed
        }
        settle(waiting.count)
    }

    private func settle(_ count: Int) {
        for (log, record) in waiting.prefix(count) {
            guard let store = index(of: log) else { continue }
            switch record {
            case .fix(let fix):
                stores[store].kept[fix.sequence] = fix
                stores[store].durable.insert(fix.sequence)
            case .loss(let range):
                stores[store].losses.append(range)
                stores[store].durable.insert(range)
            }
        }
        for index in stores.indices { stores[index].durable.announce() }
        waiting.removeFirst(count)
    }

    /// What may be acknowledged.
    public func durable(of log: LogIdentity) -> CoveredSequences {
        index(of: log).map { stores[$0].durable } ?? CoveredSequences()
    }

    /// A crash: of what waited a prefix survives, for some of it was written without being synced.
    public func reopen() {
        settle(isFull ? 0 : random.below(waiting.count + 1))
        waiting = []
        hasFailed = false
        isNextSyncFailing = false
        for index in stores.indices {
            stores[index].fixes = stores[index].kept
            stores[index].known = stores[index].durable
        }
    }

    /// What would be there after a crash.
    public func kept(_ sequence: UInt32, of log: LogIdentity) -> KeptRecord {
        guard let index = index(of: log) else { return .nothing }
        if let fix = stores[index].kept[sequence] { return .fix(fix) }
        return stores[index].losses.contains { $0.contains(sequence) } ? .loss : .nothing
    }

    /// Damage takes some of the durable fixes away; the process is gone.
    /// - Returns: what is gone.
    public func loseSome(_ random: inout SeededRandom) -> [LostRecord] {
        var lost: [LostRecord] = []
        let period = UInt32(2 + random.below(9))
        for index in stores.indices {
            let gone = stores[index].kept.keys.filter { $0 % period == 1 }.sorted()
            guard !gone.isEmpty else { continue }
            // What was named above the first missing one counts as announced too once some of it is gone, as in the
            // journal: an acknowledgement that comes late may have made the collar count it as delivered.
            let announced = max(stores[index].durable.announcedEnd, (stores[index].durable.highest ?? 0) + 1)
            for sequence in gone {
                stores[index].kept[sequence] = nil
                stores[index].fixes[sequence] = nil
                lost.append(LostRecord(log: stores[index].log, sequence: sequence))
            }
            var covered = CoveredSequences()
            for sequence in stores[index].kept.keys { covered.insert(sequence) }
            for range in stores[index].losses { covered.insert(range) }
            covered.announce(below: announced)
            stores[index].durable = covered
            stores[index].known = covered
        }
        return lost
    }
}
