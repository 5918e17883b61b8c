import Glibc

package enum JournalError: Error, Equatable, Sendable {
    /// The operating system refused a file operation.
    case file(FileFailure)
    /// Another process has the journal open. The process id is nil if the lock file does not name it.
    case heldBy(processID: Int32?, path: String)
    /// Another process reads under the name of this named reader. The process id is nil if the lock file does not name it.
    case readerInUse(ReaderName, processID: Int32?)
    /// After an earlier failure it is unknown what is on the disk; nothing is written until the journal is opened again.
    case stopped(after: FileFailure)
    /// A field that a record cannot carry.
    case unencodable(EncodingFailure)
    /// Too many bytes wait for a commit, because the disk has been full for a long time. The new record is not kept.
    case pendingLimitReached
    /// The journal does not keep track of one more gap in this log.
    case trackingLimitReached
    /// The journal does not keep track of one more log, see ``Journal/admitLog()``.
    case logLimitReached
    /// The journal has reached its size limit, in bytes.
    case sizeLimitReached(Int, path: String)
    /// A segment written by a later version of this program.
    case laterFormat(version: UInt8, path: String)
    /// A segment of another collar lies in this collar's directory.
    case foreignSegment(path: String)
    /// Users other than root and the user of this process could change what is in the state directory.
    case openToStrangers(Strangers, path: String)
    /// The file with the receiver's identity does not hold a valid identity.
    case unreadableReceiver(path: String)
    /// The file of a named reader does not hold a reader's state.
    case unreadableReader(path: String)
    /// The lock of a named reader was removed or replaced while the reader held it.
    case readerReplaced(path: String)
    /// A file of a named reader belongs to another user, and this user has no permission to use it.
    case readerDenied(path: String, owner: UInt32)
    /// A key file does not hold a key.
    case unreadableKey(path: String)
    /// The name of a key file has capitals; `name` is the right one.
    case misnamedKey(path: String, name: String)
    /// The receiver has moved to another state directory.
    case retired(receiverID: UInt32, path: String)
    /// No receiver has ever been in the state directory.
    case noReceiver(path: String)
    /// Another receiver has stored something in the state directory.
    case otherReceiver(path: String)

    /// Runs a file operation, and throws its failure as ``file(_:)``.
    static func wrapping<Result>(_ operation: @autoclosure () throws(FileFailure) -> Result) throws(JournalError) -> Result {
        do { return try operation() } catch { throw .file(error) }
    }

    /// Runs several file operations, and throws their failure as ``file(_:)``.
    static func wrappingAll<Result>(_ body: () throws(FileFailure) -> Result) throws(JournalError) -> Result {
        do { return try body() } catch { throw .file(error) }
    }

    /// Whether the cause lies in the folder of one collar or may be temporary, so that other collars can still be served.
    package var isOfOneFolder: Bool {
        switch self {
        case .file(let failure): failure.isInTheWay || failure.isDenial || failure.isLackOfRoom
        case .heldBy, .foreignSegment: true
        case .stopped, .unencodable, .pendingLimitReached, .trackingLimitReached, .logLimitReached, .sizeLimitReached,
            .readerInUse, .readerReplaced, .laterFormat, .openToStrangers, .unreadableReceiver, .unreadableReader, .readerDenied,
            .unreadableKey, .misnamedKey, .retired, .noReceiver, .otherReceiver:
            false
        }
    }
}

/// Which value a record cannot carry.
package enum EncodingFailure: Equatable, Sendable {
    /// A field of a fix is out of its range.
    case fix(sequence: UInt32)
    /// A receive time beyond 48 bits.
    case receiveTime(Int64)
    /// A range that ends beyond the highest sequence.
    case sequence(UInt32)
    /// A request to a collar that has a field out of range.
    case request(id: UInt16)
}

extension FileFailure {
    /// Whether the name belongs to something of another kind, such as a directory instead of a file.
    package var isInTheWay: Bool { [ENOTDIR, EISDIR, ELOOP, ENXIO, ESPIPE].contains(errorNumber) }

    var isAbsence: Bool { errorNumber == ENOENT }

    /// The result of an operation; nil if the file or the directory is missing.
    static func unlessAbsent<Result>(_ operation: @autoclosure () throws(FileFailure) -> Result) throws(FileFailure) -> Result? {
        do { return try operation() } catch {
            guard error.isAbsence else { throw error }
            return nil
        }
    }

    package var isDenial: Bool { errorNumber == EACCES || errorNumber == EPERM }

    /// Whether there was no room for the bytes: nothing is lost, and the operation may succeed later.
    var isLackOfRoom: Bool { [ENOSPC, EDQUOT, EFBIG].contains(errorNumber) }
}
