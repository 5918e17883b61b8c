/// Keeps ``OutgoingRequests`` in `<state directory>/<device id>/requests`. Who holds the collar's journal may use it.
///
/// The file is replaced as a whole: whatever a crash cuts short, either the old or the new one is there.
public struct OutgoingRequestsFile {
    /// What is in the file.
    public enum Contents: Equatable, Sendable {
        /// There is none.
        case missing
        /// What was saved last.
        case intact(OutgoingRequests)
        /// It is damaged, of a later version, or of another collar or receiver.
        case unusable
    }

    /// A larger file is none that this program wrote.
    private static let byteLimit = 1 << 13

    private let directory: JournalDirectory
    private let fileSystem: any FileSystem

    /// Names the file in a collar's directory, which exists.
    public init(in directory: JournalDirectory, fileSystem: any FileSystem = POSIXFileSystem()) {
        self.directory = directory
        self.fileSystem = fileSystem
    }

    /// Where it lies.
    public var path: String { "\(directory.path)/requests" }

    /// Where ``setAside()`` leaves a file that cannot be used.
    public var asidePath: String { "\(path).unusable" }

    /// Reads the file.
    public func load(deviceID: UInt64, receiverID: UInt32) throws(JournalError) -> Contents {
        var bytes: [UInt8] = []
        do throws(FileFailure) {
            let file = try fileSystem.open(path, .reading)
            defer { fileSystem.close(file) }
            try fileSystem.read(from: file, at: 0, count: OutgoingRequestsFile.byteLimit, into: &bytes)
        } catch {
            if error.isAbsence { return .missing }
            throw .file(error)
        }
        guard let found = OutgoingRequests(text: bytes), found.deviceID == deviceID, found.receiverID == receiverID else {
            return .unusable
        }
        return .intact(found)
    }

    /// Gives a file that cannot be used another name, in place of one that was set aside before.
    public func setAside() throws(JournalError) {
        try JournalError.wrapping { () throws(FileFailure) in
            try fileSystem.rename(path, to: asidePath)
            try fileSystem.synchronizeDirectory(at: directory.path)
        }
    }

    /// Replaces the file, durably.
    /// - Throws: what failed. The file holds the old or the new requests then; another save puts it right.
    public func save(_ requests: OutgoingRequests) throws(JournalError) {
        try JournalError.wrapping { () throws(FileFailure) in
            try SmallFile.replace(path, in: directory.path, with: requests.text, fileSystem)
        }
    }
}
