/// The file operations of the journal. ``POSIXFileSystem`` is the real file system; a test supplies one that tears writes,
/// fills up and fails.
///
/// Written bytes are durable only after ``synchronize(_:)``, a new name in a directory only after
/// ``synchronizeDirectory(at:)``. Implementations repeat an open, read, write, truncation or lock that a signal interrupts.
package protocol FileSystem: AnyObject {
    /// Makes one directory, readable by its owner alone.
    /// - Returns: whether it was made; false if it exists.
    func makeDirectory(at path: String) throws(FileFailure) -> Bool

    /// Names in a directory, in no particular order, without "." and "..".
    func names(in directory: String) throws(FileFailure) -> [String]

    /// Whether a name exists.
    /// - Throws: a failure of ``FileOperation/find`` if that cannot be found out.
    func exists(_ path: String) throws(FileFailure) -> Bool

    func open(_ path: String, _ mode: FileMode) throws(FileFailure) -> FileReference

    /// Makes sure that the name by which a file was opened still leads to it.
    /// - Throws: a failure of ``FileOperation/find`` if the file was removed, moved away or replaced: bytes written to it are
    ///   lost.
    func checkName(of file: FileReference) throws(FileFailure)

    /// The users, other than the user of this process and root, that have permission to change the names in an open directory;
    /// nil if there are none. Root may use a directory of any user: for root the owner is no stranger.
    func strangers(in directory: FileReference) throws(FileFailure) -> Strangers?

    /// Closes a file and gives up its lock.
    func close(_ file: FileReference)

    func byteCount(of file: FileReference) throws(FileFailure) -> Int

    /// The device on which a file is stored, and when the file was made.
    func origin(of file: FileReference) throws(FileFailure) -> FileOrigin

    /// Replaces the content of `buffer` with `count` bytes of the file from `offset` on, or fewer if the file ends earlier.
    func read(from file: FileReference, at offset: Int, count: Int, into buffer: inout [UInt8]) throws(FileFailure)

    /// Writes `bytes`, from index `start` on, to the file at `offset`.
    /// - Returns: how many bytes were written: at least one, perhaps not all.
    func write(_ bytes: [UInt8], from start: Int, to file: FileReference, at offset: Int) throws(FileFailure) -> Int

    func truncate(_ file: FileReference, to byteCount: Int) throws(FileFailure)

    /// Makes the bytes written to a file, and its length, durable.
    func synchronize(_ file: FileReference) throws(FileFailure)

    func synchronizeDirectory(at path: String) throws(FileFailure)

    func remove(_ path: String) throws(FileFailure)

    /// Renames a file within its directory, in one step. A file that has the new name is replaced.
    func rename(_ path: String, to newPath: String) throws(FileFailure)

    /// Takes, without waiting, an exclusive lock that ends with the process. Some network file systems cannot lock
    /// directories. On these, no lock is taken and the result is true.
    /// - Returns: false if another process holds the lock.
    func lock(_ file: FileReference) throws(FileFailure) -> Bool

    /// Gives the members of the group `collar-link` access to a file or directory of that group, as on a machine where a service
    /// with this group receives. A file of any other group stays as it is.
    /// - Returns: whether the permissions were changed.
    func share(_ path: String, as access: SharedAccess) throws(FileFailure) -> Bool

    /// The id of the user to whom a file or directory belongs, or a link itself; nil if there is none, or without users.
    func owner(of path: String) throws(FileFailure) -> UInt32?

    /// The id of this process, for the lock files.
    var processID: Int32 { get }
}

/// What the members of the group `collar-link` may do with a file or directory.
package enum SharedAccess: Equatable, Sendable {
    /// Read a file: mode 0640.
    case readableFile
    /// List and enter a directory: mode 0750.
    case readableDirectory
    /// Add names to a directory, and remove their own: mode 3770. New files in it belong to the group.
    case writableDirectory
}

/// The device and the birth time of a file. A copy of the file usually differs in at least one of them; it does not if it is on
/// a cloned disk, or on the same device and the file system keeps no birth times.
package struct FileOrigin: Equatable, Sendable {
    /// Major number of the block device; 0 if none is known.
    package var deviceMajor: UInt32
    package var deviceMinor: UInt32
    /// When the file was made, in whole seconds since 1970; 0 if the file system does not keep it.
    package var birthUnixSeconds: Int64

    package init(deviceMajor: UInt32 = 0, deviceMinor: UInt32 = 0, birthUnixSeconds: Int64 = 0) {
        self.deviceMajor = deviceMajor
        self.deviceMinor = deviceMinor
        self.birthUnixSeconds = birthUnixSeconds
    }
}

/// Users, other than the user of this process and root, that have permission to change the names in a directory.
package enum Strangers: Equatable, Sendable {
    /// The owner of the directory, by the user id.
    case owner(UInt32)
    /// The users of the directory's group, or all users.
    case others
}

extension FileSystem {
    /// Writes all bytes to the file at `offset`.
    func writeAll(_ bytes: [UInt8], to file: FileReference, at offset: Int) throws(FileFailure) {
        var done = 0
        while done < bytes.count { done += try write(bytes, from: done, to: file, at: offset + done) }
    }

    /// Uses an open file, and closes it if that fails.
    func closingOnFailure<Result, Failure>(
        _ file: FileReference, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        do { return try body() } catch {
            close(file)
            throw error
        }
    }
}

package enum FileMode: Equatable, Sendable {
    /// For reading. The file must exist.
    case reading
    /// For locking a directory. The directory must exist.
    case directory
    /// For reading and writing. The file must exist, and must not be a symbolic link, which another user may have put there.
    case writing
    /// For reading and writing. The file is made if it is missing, readable by its owner alone.
    case creatingIfMissing
    /// For reading and writing. The file must not exist yet; it is made.
    case creating
}

package struct FileReference: Equatable, Sendable {
    package let descriptor: Int32
    package let path: String

    package init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }
}

package enum FileOperation: String, Equatable, Sendable {
    case makeDirectory = "make the directory"
    /// ``FileSystem/names(in:)``.
    case list = "list the directory"
    /// ``FileSystem/open(_:_:)`` of a file that exists.
    case open = "open"
    /// ``FileSystem/open(_:_:)`` of a file that does not exist yet.
    case create = "create"
    /// ``FileSystem/checkName(of:)``.
    case find = "find"
    /// ``FileSystem/read(from:at:count:into:)``, or a question about an open file: its size, its origin, its users.
    case read = "read"
    case write = "write to"
    case truncate = "shorten"
    /// ``FileSystem/synchronize(_:)`` or ``FileSystem/synchronizeDirectory(at:)``.
    case synchronize = "bring to the disk"
    case remove = "remove"
    case rename = "rename"
    case lock = "lock"
    case share = "change the permissions of"
}

/// A file operation that the operating system refused.
package struct FileFailure: Error, Equatable, Sendable {
    package let operation: FileOperation
    package let path: String
    /// The `errno`.
    package let errorNumber: Int32
    /// The owner of the directory ``path``, by the user id, if that is the cause: root uses a directory below the state directory only
    /// if it belongs to the owner of the state directory. Else nil.
    package let foreignOwner: UInt32?

    package init(_ operation: FileOperation, _ path: String, errorNumber: Int32, foreignOwner: UInt32? = nil) {
        self.foreignOwner = foreignOwner
        self.operation = operation
        self.path = path
        self.errorNumber = errorNumber
    }
}
