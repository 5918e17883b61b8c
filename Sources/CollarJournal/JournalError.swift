import Glibc

/// Why the journal cannot do what it was asked to.
public enum JournalError: Error, Equatable, Sendable {
    /// The operating system refused a file operation.
    case file(FileFailure)
    /// Another process has the journal open. Its process id, where its lock file names it.
    case heldBy(processID: Int32?, path: String)
    /// An earlier failure left it open what is on the disk; nothing is written until the journal is opened again.
    case stopped(after: FileFailure)
    /// A field that a record cannot carry.
    case unencodable(EncodingFailure)
    /// Too much waits for a commit: the disk has been full for long. Nothing of what was given is kept.
    case pendingLimitReached
    /// A further gap in a log would be more than the journal keeps track of, or the log is closed.
    case trackingLimitReached
    /// A further log would be more than the journal keeps track of, see ``Journal/closeLeastUsedLog()``.
    case logLimitReached
    /// The journal has as many bytes as it may have.
    case sizeLimitReached(Int, path: String)
    /// A segment written by a later version of this program.
    case laterFormat(version: UInt8, path: String)
    /// A segment of another collar lies in this collar's directory.
    case foreignSegment(path: String)
    /// Others than the user of this process could change what is in the state directory.
    case openToStrangers(Strangers, path: String)
    /// The file that says who this receiver is holds something else.
    case unreadableReceiver(path: String)
    /// The receiver has moved to another state directory.
    case retired(receiverID: UInt32, path: String)
    /// No receiver has ever been in the state directory.
    case noReceiver(path: String)
    /// Another receiver has stored something in the state directory.
    case otherReceiver(path: String)
}

extension JournalError {
    /// Does file operations; what fails is ``file(_:)``.
    static func wrapping<Result>(_ body: () throws(FileFailure) -> Result) throws(JournalError) -> Result {
        do throws(FileFailure) { return try body() } catch { throw .file(error) }
    }
}

/// Which value a record cannot carry.
public enum EncodingFailure: Equatable, Sendable {
    /// A field of a fix is out of its range.
    case fix(sequence: UInt32)
    /// A log id above 26 bits.
    case logID(UInt32)
    /// A receive time beyond 48 bits.
    case receiveTime(Int64)
    /// A range that ends beyond the highest sequence.
    case sequence(UInt32)
}

extension JournalError {
    /// Whether the reason lies in a collar's own folder, or passes: other collars can be served.
    package var isOfOneFolder: Bool {
        switch self {
        case .file(let failure): failure.isInTheWay || failure.isDenial || failure.isLackOfRoom
        case .heldBy, .foreignSegment: true
        case .stopped, .unencodable, .pendingLimitReached, .trackingLimitReached, .logLimitReached, .sizeLimitReached,
            .laterFormat, .openToStrangers, .unreadableReceiver, .retired, .noReceiver, .otherReceiver:
            false
        }
    }
}

extension JournalError: CustomStringConvertible {
    /// What happened, in one sentence for a person.
    public var description: String {
        switch self {
        case .file(let failure): failure.description
        case .heldBy(.some(let processID), let path): "\(path) is in use by process \(processID)"
        case .heldBy(nil, let path): "\(path) is in use by another process"
        case .stopped(let failure): "the journal has stopped: \(failure.description)"
        case .unencodable(.fix(let sequence)): "fix \(sequence) has a field out of range"
        case .unencodable(.logID(let logID)): "\(logID) is no log id"
        case .unencodable(.receiveTime(let time)): "\(time) ms is no receive time"
        case .unencodable(.sequence(let sequence)): "\(sequence) is beyond the highest sequence"
        case .pendingLimitReached: "the journal cannot take more until the disk does"
        case .trackingLimitReached: "the collar's logs have more gaps than the journal keeps track of"
        case .logLimitReached: "the collar has more logs than the journal keeps track of"
        case .sizeLimitReached(let limit, let path): "the journal in \(path) has the \(limit) bytes that it may have"
        case .laterFormat(let version, let path): "\(path) has format \(version), which this version cannot read"
        case .foreignSegment(let path): "\(path) belongs to another collar"
        case .openToStrangers(.owner(let userID), let path):
            "\(path) belongs to another user (\(userID)), who could change what is stored in it"
        case .openToStrangers(.others, let path): "other users may write to \(path), and could change what is stored in it"
        case .unreadableReceiver(let path): "\(path) does not hold a receiver's identity"
        case .retired(let receiverID, let path): "receiver \(String(receiverID, radix: 16)) has moved away from \(path)"
        case .noReceiver(let path): "there is no receiver in \(path)"
        case .otherReceiver(let path): "another receiver has stored something in \(path)"
        }
    }

    /// What a person can do about it; nil where there is nothing but trying again.
    public var remedy: String? {
        switch self {
        case .file(let failure): failure.remedy
        case .heldBy: "Stop the other collar-link, or give this one its own --state-dir."
        case .stopped(let failure):
            "Nothing further is acknowledged; the collar keeps it. \(failure.remedy ?? "Check the disk (dmesg).") "
                + "Then restart collar-link."
        case .unencodable: nil
        case .pendingLimitReached: "Make room on the disk that holds the state directory."
        case .trackingLimitReached, .logLimitReached: "A collar that sends such logs is faulty or forged; restart it, or re-pair it."
        case .sizeLimitReached: "Give it more with --max-size, or have old fixes removed with --keep."
        case .laterFormat: "Use the collar-link that wrote it, or a later one."
        case .foreignSegment(let path): "Move \(path) to the directory of its collar."
        case .openToStrangers(.owner, _): "Run collar-link as that user, or choose another --state-dir."
        case .openToStrangers(.others, let path):
            "Run 'chmod go-w \(path)'; where others must write to it, choose another --state-dir."
        case .unreadableReceiver(let path):
            "Restore \(path) from a backup, or remove it to become a new receiver (collars must be paired again)."
        case .retired(_, let path):
            "Run collar-link where it was imported. 'collar-link receiver import' brings it back; to become a new receiver here "
                + "remove \(path) (collars must be paired again)."
        case .noReceiver: "Name the directory that 'collar-link run' uses: --state-dir DIR."
        case .otherReceiver: "Give a directory of its own: --state-dir DIR."
        }
    }
}

extension FileFailure: CustomStringConvertible {
    /// What happened, in one sentence for a person.
    public var description: String { "cannot \(operation.rawValue) \(path): \(errorText(errorNumber))" }

    /// What a person can do about it.
    public var remedy: String? {
        switch errorNumber {
        case ENOSPC: "Make room on the disk that holds \(path)."
        case EDQUOT: "Raise the disk quota, or make room."
        case EFBIG: "Raise the limit of file sizes (ulimit -f)."
        case EROFS: "Mount the disk that holds \(path) writable, or choose another --state-dir."
        case EACCES, EPERM: "Give this user write access to \(path), or choose another --state-dir."
        case ENOENT where operation == .find:
            "Was it removed or moved while it was in use? Bring it back, and keep away what did that."
        case EIO: "The disk fails: look at dmesg, and move the state directory to another disk."
        case EMFILE, ENFILE: "Raise the limit of open files (ulimit -n)."
        case _ where isInTheWay: "Remove what is in the way at \(path), or choose another --state-dir."
        default: nil
        }
    }

    /// Whether something of another kind has the name.
    var isInTheWay: Bool { [ENOTDIR, EISDIR, ELOOP, ENXIO, ESPIPE].contains(errorNumber) }

    /// Whether there is nothing of that name.
    var isAbsence: Bool { errorNumber == ENOENT }

    /// Whether this user may not do it.
    var isDenial: Bool { errorNumber == EACCES || errorNumber == EPERM }

    /// Whether the operation may succeed later without anything having been lost.
    var isLackOfRoom: Bool { [ENOSPC, EDQUOT, EFBIG].contains(errorNumber) }
}

/// The system's words for an error.
private func errorText(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
}
