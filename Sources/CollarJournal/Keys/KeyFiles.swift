import CollarWire

/// The keys of collars: `<state directory>/keys/<device id>`, one file for each collar, readable by its owner alone. A file has
/// the 32 hexadecimal digits of the key, and a second line if a restart is accepted.
public struct KeyFiles {
    /// A key and what is allowed with it.
    public struct Entry: Equatable, Sendable {
        /// The key.
        public var key: CollarKey
        /// Whether a boot count below the highest known one is accepted, once, with a log that was never recorded.
        public var acceptsRestart: Bool

        /// Creates an entry.
        public init(key: CollarKey, acceptsRestart: Bool = false) {
            self.key = key
            self.acceptsRestart = acceptsRestart
        }
    }

    private static let restartLine = "accept-restart"

    /// The directory of the files.
    public let path: String
    private let stateDirectory: String
    private let fileSystem: any FileSystem

    /// Names the key files of a state directory.
    public init(stateDirectory: String, fileSystem: any FileSystem = POSIXFileSystem()) {
        self.stateDirectory = stateDirectory
        self.fileSystem = fileSystem
        path = "\(stateDirectory)/keys"
    }

    /// The collars that have a key file, in the order of their ids; nil if the directory of the files is missing.
    public func deviceIDs() throws(JournalError) -> [UInt64]? {
        do throws(FileFailure) { return JournalDirectory.collars(named: try fileSystem.names(in: path)) } catch {
            if error.isAbsence { return nil }
            throw .file(error)
        }
    }

    /// The key of a collar; nil if it has none.
    /// - Throws: ``JournalError/unreadableKey(path:)`` if the file does not hold a key, ``JournalError/file(_:)`` if it cannot be
    ///   read.
    public func entry(of deviceID: UInt64) throws(JournalError) -> Entry? {
        let path = path(of: deviceID)
        let bytes = try SmallFile.contents(of: path, fileSystem)
        // An empty file is no missing one: a key that is lost must not let frames in clear pass.
        if bytes.isEmpty, try deviceIDs()?.contains(deviceID) != true { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard let key = lines.first.flatMap(CollarKey.init(hexadecimal:)) else { throw .unreadableKey(path: path) }
        return Entry(key: key, acceptsRestart: lines.dropFirst().contains { $0 == KeyFiles.restartLine })
    }

    /// Stores a key durably, in place of an earlier one.
    public func store(_ entry: Entry, of deviceID: UInt64) throws(JournalError) {
        let text = entry.key.hexadecimalDigits + "\n" + (entry.acceptsRestart ? KeyFiles.restartLine + "\n" : "")
        try JournalError.wrapping { () throws(FileFailure) in
            try JournalDirectory.make(stateDirectory, fileSystem: fileSystem)
            try JournalDirectory.make(path, fileSystem: fileSystem)
            try SmallFile.replace(path(of: deviceID), in: path, with: Array(text.utf8), fileSystem)
        }
    }

    /// Removes the key of a collar durably.
    /// - Returns: false if it has none.
    public func remove(_ deviceID: UInt64) throws(JournalError) -> Bool {
        do throws(FileFailure) {
            // A failed replacement may have left the key in a file of its own.
            do throws(FileFailure) { try fileSystem.remove("\(path(of: deviceID)).new") } catch {
                guard error.isAbsence else { throw error }
            }
            try fileSystem.remove(path(of: deviceID))
            try fileSystem.synchronizeDirectory(at: path)
            return true
        } catch {
            guard error.isAbsence else { throw .file(error) }
            return false
        }
    }

    private func path(of deviceID: UInt64) -> String { "\(path)/\(JournalDirectory.name(of: deviceID))" }
}

extension CollarKey {
    /// The key of 32 hexadecimal digits; nil for any other text.
    public init?(hexadecimal digits: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: digits), bytes.count == CollarKey.byteCount else { return nil }
        self.init(bytes.span)
    }

    /// The key as 32 hexadecimal digits.
    public var hexadecimalDigits: String { String(hexadecimal: bytes.span) }
}
