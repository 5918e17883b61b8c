/// Keeps ``OutgoingRequests`` in `<state directory>/<device id>/requests`. Only the holder of the collar's journal may use
/// it.
///
/// The file is replaced as a whole: after a crash at any point either the old or the new one is there.
package struct OutgoingRequestsFile {
    /// What is in the file.
    package enum Contents: Equatable, Sendable {
        /// There is no file.
        case missing
        /// What was saved last.
        case intact(OutgoingRequests)
        /// The file is damaged, of a later version, or of another collar or receiver.
        case unusable
    }

    /// The most bytes that are read; this program never writes a larger file.
    private static let byteLimit = 1 << 13

    private let directory: JournalDirectory
    private let fileSystem: any FileSystem

    /// Refers to the file in a collar's directory. The directory must exist; the file may be missing.
    package init(in directory: JournalDirectory, fileSystem: (any FileSystem)? = nil) {
        self.directory = directory
        self.fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: directory.stateDirectory)
    }

    /// The path of the file.
    package var path: String { "\(directory.path)/requests" }

    /// The path to which ``setAside()`` moves a file that cannot be used.
    package var asidePath: String { "\(path).unusable" }

    /// Reads the file.
    package func load(deviceID: UInt64, receiverID: UInt32) throws(JournalError) -> Contents {
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

    /// Renames an unusable file to ``asidePath``. A file that was set aside before is replaced.
    package func setAside() throws(JournalError) {
        try JournalError.wrapping { () throws(FileFailure) in
            try fileSystem.rename(path, to: asidePath)
            try fileSystem.synchronizeDirectory(at: directory.path)
        }
    }

    /// Replaces the file, durably.
    /// - Throws: the failure. The file then holds the old or the new requests; another save completes the replacement.
    package func save(_ requests: OutgoingRequests) throws(JournalError) {
        try JournalError.wrapping { () throws(FileFailure) in
            try SmallFile.replace(path, in: directory.path, with: requests.text, fileSystem)
        }
    }
}
