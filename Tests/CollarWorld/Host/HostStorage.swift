import CollarJournal
import CollarSimulator
import CollarWire

/// Where a simulated host keeps what it receives: append, commit, and only then is it durable. What was appended is read
/// back for the consumer, in the same order.
package protocol HostStorage: AnyObject {
    /// The logs that have records.
    var logs: [LogIdentity] { get }
    /// Whether something was appended that is not durable, or lines were handed over since the last commit.
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

    /// Whether a collar is answered: not where its journal cannot be opened, and perhaps not while it does not commit.
    func isServed(_ deviceID: UInt64) -> Bool

    /// The collars that have a journal.
    var collars: [UInt64] { get }

    /// Where the consumer of a collar's lines is, as the storage remembers it.
    func emissionCursor(of deviceID: UInt64) -> JournalPosition

    /// Entries of a collar from a position on.
    func entries(
        of deviceID: UInt64, from position: JournalPosition, limit: Int
    ) throws(StorageFailure) -> JournalBatch

    /// Lines of a collar were handed over up to a position.
    func setEmissionCursor(_ position: JournalPosition, of deviceID: UInt64)
}

/// A storage that a ``World`` can make fail.
package protocol FaultyStorage: HostStorage {
    /// The disk that everything is on.
    var disk: SimulatedDisk { get }
    /// Whether something failed so that only another process can go on.
    var needsRestart: Bool { get }

    /// The process is gone, or the whole machine.
    func stop(losesPower: Bool)

    /// A new process opens what is there. It cannot run where this fails.
    func reopen() throws(StorageFailure)

    /// What would be there if the machine lost its power now: the truth, for whoever checks promises.
    func kept(_ sequence: UInt32, of log: LogIdentity) -> KeptRecord

    /// What would be there of a log, for whoever checks that the consumer got it.
    func keptFixes(of log: LogIdentity) -> [UInt32: Fix]

    /// A fix of a log that is stored more than once; nil where there is none.
    func repeatedFix(of log: LogIdentity) -> UInt32?

    /// Where emission of a collar must go on at the earliest after a crash.
    func promisedCursor(of deviceID: UInt64) -> JournalPosition

    /// Damages what is on the disk while no process runs.
    /// - Returns: what is gone.
    func damage(_ random: inout SeededRandom) -> [LostRecord]
}

/// A durable record that damage took away.
package struct LostRecord: Equatable, Sendable {
    /// The log it belonged to.
    package let log: LogIdentity
    /// Its sequence.
    package let sequence: UInt32

    /// Names one.
    package init(log: LogIdentity, sequence: UInt32) {
        self.log = log
        self.sequence = sequence
    }
}

/// What a storage keeps of one sequence.
package enum KeptRecord: Equatable, Sendable {
    /// Nothing.
    case nothing
    /// That it is lost for ever.
    case loss
    /// The fix.
    case fix(Fix)
}

/// Why a storage does not take something.
package enum StorageFailure: Error, Equatable, Sendable {
    /// The disk is full; try again later.
    case full
    /// What is on the disk is not known; it must be opened again.
    case failed
    /// The receiver is another one than before.
    case otherReceiver
}
