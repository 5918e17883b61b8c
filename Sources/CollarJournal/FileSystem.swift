/// Every file operation of the journal. ``POSIXFileSystem`` is the real one; a test supplies one that tears, fills up
/// and fails.
///
/// What is written is durable only after ``synchronize(_:)``; a new name in a directory only after
/// ``synchronizeDirectory(at:)``. Operations interrupted by a signal are repeated below this seam.
public protocol FileSystem: AnyObject {
    /// Makes one directory, readable by its owner alone.
    /// - Returns: whether it was made; false where it exists.
    func makeDirectory(at path: String) throws(FileFailure) -> Bool

    /// Names in a directory, in no order, without "." and "..".
    func names(in directory: String) throws(FileFailure) -> [String]

    /// Opens a file.
    func open(_ path: String, _ mode: FileMode) throws(FileFailure) -> FileReference

    /// Makes sure that the name by which a file was opened still leads to it.
    /// - Throws: ``FileOperation/find`` where the file was removed, moved away or replaced: what is written to it is lost.
    func checkName(of file: FileReference) throws(FileFailure)

    /// The users other than this one and root that may change the names in an open directory; nil if there are none.
    func strangers(in directory: FileReference) throws(FileFailure) -> Strangers?

    /// Closes a file and gives up its lock.
    func close(_ file: FileReference)

    /// Bytes in a file.
    func byteCount(of file: FileReference) throws(FileFailure) -> Int

    /// On which device a file lies, and since when it exists.
    func origin(of file: FileReference) throws(FileFailure) -> FileOrigin

    /// Replaces `buffer` by up to `count` bytes from `offset` on; fewer only where the file ends.
    func read(
        from file: FileReference, at offset: Int, count: Int, into buffer: inout [UInt8]
    ) throws(FileFailure)

    /// Writes the bytes from index `start` on at `offset`.
    /// - Returns: how many were written, at least one; may be fewer than there are.
    func write(
        _ bytes: [UInt8], from start: Int, to file: FileReference, at offset: Int
    ) throws(FileFailure) -> Int

    /// Cuts a file to a length.
    func truncate(_ file: FileReference, to byteCount: Int) throws(FileFailure)

    /// Makes what was written to a file durable, with its length.
    func synchronize(_ file: FileReference) throws(FileFailure)

    /// Makes the names in a directory durable.
    func synchronizeDirectory(at path: String) throws(FileFailure)

    /// Removes a file.
    func remove(_ path: String) throws(FileFailure)

    /// Gives a file another name in the same directory, in place of the file that has it, in one step.
    func rename(_ path: String, to newPath: String) throws(FileFailure)

    /// Takes an exclusive lock that ends with the process, without waiting.
    /// - Returns: false where another holds it.
    func lock(_ file: FileReference) throws(FileFailure) -> Bool
}

/// Where a file comes from. A copy of the file differs in one of these, unless the file system keeps neither.
public struct FileOrigin: Equatable, Sendable {
    /// Major number of the block device; 0 where none is known.
    public var deviceMajor: UInt32
    /// Minor number of the block device.
    public var deviceMinor: UInt32
    /// When the file was made, in whole seconds since 1970; 0 where the file system does not keep it.
    public var birthUnixSeconds: Int64

    /// An origin, by default an unknown one.
    public init(deviceMajor: UInt32 = 0, deviceMinor: UInt32 = 0, birthUnixSeconds: Int64 = 0) {
        self.deviceMajor = deviceMajor
        self.deviceMinor = deviceMinor
        self.birthUnixSeconds = birthUnixSeconds
    }
}

/// Users other than this one and root that may change the names in a directory.
public enum Strangers: Equatable, Sendable {
    /// Its owner, by the user id.
    case owner(UInt32)
    /// Those of its group, or everybody.
    case others
}

extension FileSystem {
    /// An unknown one: of a file system without birth times on no device.
    public func origin(of file: FileReference) throws(FileFailure) -> FileOrigin { FileOrigin() }

    /// Nobody: of a file system without users.
    public func strangers(in directory: FileReference) throws(FileFailure) -> Strangers? { nil }
}

/// How a file is opened.
public enum FileMode: Equatable, Sendable {
    /// To be read; it must exist.
    case reading
    /// A directory, to be locked; it must exist.
    case directory
    /// To be read and written; it must exist, and not be a symbolic link, which somebody else may have put there.
    case writing
    /// To be read and written; made where it is missing, readable by its owner alone.
    case creatingIfMissing
    /// To be read and written; it must not exist.
    case creating
}

/// An open file.
public struct FileReference: Equatable, Sendable {
    /// The file system's number for it.
    public let descriptor: Int32
    /// Where it was opened.
    public let path: String

    /// Names an open file.
    public init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }
}

/// What a file system was asked to do.
public enum FileOperation: String, Equatable, Sendable {
    /// ``FileSystem/makeDirectory(at:)``.
    case makeDirectory = "make the directory"
    /// ``FileSystem/names(in:)``.
    case list = "list the directory"
    /// ``FileSystem/open(_:_:)`` of a file that exists.
    case open = "open"
    /// ``FileSystem/open(_:_:)`` of a file that is to be made.
    case create = "create"
    /// ``FileSystem/checkName(of:)``.
    case find = "find"
    /// ``FileSystem/read(from:at:count:into:)`` or ``FileSystem/byteCount(of:)``.
    case read = "read"
    /// ``FileSystem/write(_:from:to:at:)``.
    case write = "write to"
    /// ``FileSystem/truncate(_:to:)``.
    case truncate = "shorten"
    /// ``FileSystem/synchronize(_:)`` or ``FileSystem/synchronizeDirectory(at:)``.
    case synchronize = "bring to the disk"
    /// ``FileSystem/remove(_:)``.
    case remove = "remove"
    /// ``FileSystem/rename(_:to:)``.
    case rename = "rename"
    /// ``FileSystem/lock(_:)``.
    case lock = "lock"
}

/// A file operation that the operating system refused.
public struct FileFailure: Error, Equatable, Sendable {
    /// What was tried.
    public let operation: FileOperation
    /// On which file or directory.
    public let path: String
    /// The `errno`.
    public let errorNumber: Int32

    /// Creates a failure.
    public init(_ operation: FileOperation, _ path: String, errorNumber: Int32) {
        self.operation = operation
        self.path = path
        self.errorNumber = errorNumber
    }
}
