import CollarJournal
import CollarWire

/// Where a simulated host keeps what it receives: append, commit, and only then is it durable.
public protocol HostStorage: AnyObject {
    /// The logs that have records.
    var logs: [LogIdentity] { get }
    /// Whether something was appended that is not durable.
    var isCommitDue: Bool { get }

    /// The highest sequence appended to a log; nil where there is none.
    func highestSequence(of log: LogIdentity) -> UInt32?

    /// A fix that was appended, durable or not.
    func fix(_ sequence: UInt32, of log: LogIdentity) -> Fix?

    /// Appends a fix. Returns false for one that is there already.
    func append(_ fix: Fix, of log: LogIdentity) throws(StorageFailure) -> Bool

    /// Appends that a range will never come. Returns false where all of it is covered already.
    func append(lost range: SequenceRange, of log: LogIdentity) throws(StorageFailure) -> Bool

    /// Makes everything appended durable.
    func commit() throws(StorageFailure)

    /// What may be acknowledged.
    func durable(of log: LogIdentity) -> CoveredSequences

    /// The process is gone, and a new one opens the storage.
    func reopen()

    /// What would be there if the host crashed now: the truth, for whoever checks promises.
    func kept(_ sequence: UInt32, of log: LogIdentity) -> KeptRecord
}

/// A storage that a ``World`` can make fail.
public protocol FaultyStorage: HostStorage {
    /// Whether the disk has no room.
    var isFull: Bool { get set }
    /// Whether the next sync fails.
    var isNextSyncFailing: Bool { get set }
    /// Records that wait for a sync; a storage bounds them by ``ModelStorage/waitingLimit``.
    var waitingCount: Int { get }

    /// Damage takes some of the durable fixes away; the process is gone.
    /// - Returns: what is gone.
    func loseSome(_ random: inout SeededRandom) -> [LostRecord]
}

/// A durable fix that damage took away.
public struct LostRecord: Equatable, Sendable {
    /// The log it belonged to.
    public let log: LogIdentity
    /// Its sequence.
    public let sequence: UInt32

    /// Names one.
    public init(log: LogIdentity, sequence: UInt32) {
        self.log = log
        self.sequence = sequence
    }
}

/// What a storage keeps of one sequence.
public enum KeptRecord: Equatable, Sendable {
    /// Nothing.
    case nothing
    /// That it is lost for ever.
    case loss
    /// The fix.
    case fix(Fix)
}

/// Why a storage does not take something.
public enum StorageFailure: Error, Equatable, Sendable {
    /// The disk is full; try again later.
    case full
    /// What is on the disk is not known; it must be opened again.
    case failed
}
