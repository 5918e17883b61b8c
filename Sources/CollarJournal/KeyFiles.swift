import CollarWire

/// The keys of collars: `<state directory>/keys/<device id>`, one file for each collar, readable by its owner alone. A file has
/// these lines, each of which may be missing: the 32 hexadecimal digits of the key; up to four times `pending` and a key that the
/// collar may have taken over; `accept-restart` and the id of a log. A file with the single line `removed` says that a
/// person has removed the key: frames of the collar in clear are taken again, although the journal knows of a key.
package struct KeyFiles {
    /// A key and what is allowed with it.
    package struct Entry: Equatable, Sendable {
        /// The key; nil if there is only a pending one.
        package var key: CollarKey?
        /// Keys that the collar offered over a cable or that a person gave beside ``key``, the newest last. With the first identity that one of them opens, it takes the
        /// place of ``key``, see ``activate(_:)``.
        package private(set) var pendingKeys: [CollarKey] = []
        /// The log with which a boot count below the highest known one is accepted, once; nil for none.
        package var acceptedRestart: LogID?

        package init(key: CollarKey?, acceptedRestart: LogID? = nil) {
            self.key = key
            self.acceptedRestart = acceptedRestart
        }

        /// Adds a key that the collar may have. If there are too many, the oldest one is removed.
        package mutating func addPending(_ key: CollarKey) {
            pendingKeys.removeAll { $0 == key }
            pendingKeys.append(key)
            pendingKeys.removeFirst(max(0, pendingKeys.count - Entry.pendingLimit))
        }

        /// A key of the collar was found in force: it takes the place of ``key``. Pending keys that were offered after it remain,
        /// because the collar may have taken one of them over since.
        package mutating func activate(_ key: CollarKey) {
            guard self.key != key else { return }
            self.key = key
            if let index = pendingKeys.firstIndex(of: key) { pendingKeys.removeFirst(index + 1) } else { pendingKeys = [] }
            acceptedRestart = nil
        }

        fileprivate init?(_ text: String) {
            self.init(key: nil)
            for line in text.split(separator: "\n") {
                if line.hasPrefix(Entry.pendingMark) {
                    guard let key = CollarKey(hexadecimal: line.dropFirst(Entry.pendingMark.count)) else { return nil }
                    addPending(key)
                } else if line.hasPrefix(Entry.restartMark) {
                    acceptedRestart = UInt32(line.dropFirst(Entry.restartMark.count), in: 0 ... .max).flatMap(LogID.init(rawValue:))
                } else {
                    guard let key = CollarKey(hexadecimal: line) else { return nil }
                    self.key = key
                }
            }
            if key == nil, pendingKeys.isEmpty { return nil }
        }

        fileprivate var text: String {
            var lines = key.map { [$0.hexadecimalDigits] } ?? []
            lines += pendingKeys.map { Entry.pendingMark + $0.hexadecimalDigits }
            if let acceptedRestart { lines.append(Entry.restartMark + acceptedRestart.description) }
            return lines.map { $0 + "\n" }.joined()
        }

        private static let pendingLimit = 4
        private static let pendingMark = "pending "
        private static let restartMark = "accept-restart "
    }

    package let path: String
    private let stateDirectory: String
    private let fileSystem: any FileSystem
    private static let removalNote = "removed\n"

    package init(stateDirectory: String, fileSystem: (any FileSystem)? = nil) {
        self.stateDirectory = stateDirectory
        self.fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        path = "\(stateDirectory)/keys"
    }

    /// The collars that have a key file, in the order of their ids; nil if the directory of the files is missing.
    /// - Throws: ``JournalError/misnamedKey(path:name:)`` for a name with capitals, so that no key is passed over;
    ///   ``JournalError/file(_:)`` if the directory cannot be read.
    package func deviceIDs() throws(JournalError) -> [DeviceID]? {
        guard let names = try JournalError.wrapping(try FileFailure.unlessAbsent(try fileSystem.names(in: path))) else { return nil }
        for name in names where JournalDirectory.collars(named: [name]).isEmpty && !JournalDirectory.collars(named: [name.lowercased()]).isEmpty {
            throw .misnamedKey(path: "\(path)/\(name)", name: name.lowercased())
        }
        return JournalDirectory.collars(named: names)
    }

    /// The key of a collar; nil if it has none, also if a person has removed it.
    /// - Throws: ``JournalError/unreadableKey(path:)`` if the file does not hold a key, ``JournalError/file(_:)`` if it cannot be
    ///   read.
    package func entry(of deviceID: DeviceID) throws(JournalError) -> Entry? {
        let path = path(of: deviceID)
        let bytes = try SmallFile.contents(of: path, fileSystem)
        if bytes == Array(KeyFiles.removalNote.utf8) { return nil }
        // An empty file is no missing one: a key that is lost must not let frames in clear pass.
        if bytes.isEmpty, try deviceIDs()?.contains(deviceID) != true { return nil }
        guard let entry = Entry(String(decoding: bytes, as: UTF8.self)) else { throw .unreadableKey(path: path) }
        return entry
    }

    /// Whether a person has removed the key of a collar, and has given it no other since.
    package func isRemoved(_ deviceID: DeviceID) throws(JournalError) -> Bool {
        try SmallFile.contents(of: path(of: deviceID), fileSystem) == Array(KeyFiles.removalNote.utf8)
    }

    package func makeDirectories() throws(JournalError) {
        try JournalError.wrappingAll { () throws(FileFailure) in
            try JournalDirectory.make(stateDirectory, fileSystem: fileSystem)
            try JournalDirectory.make(path, fileSystem: fileSystem)
        }
    }

    /// Reads and changes keys while no other process changes them. Every change is made within this call: a running receiver and a
    /// person at the command line may change the keys of one collar at the same time.
    /// - Returns: false if another process is changing keys; then `body` was not called, and the caller tries again.
    package func whileLocked(_ body: () throws(JournalError) -> Void) throws(JournalError) -> Bool {
        guard let directory = try LockHolder.lock(directory: path, fileSystem) else { return false }
        defer { fileSystem.close(directory) }
        try body()
        return true
    }

    /// Stores keys durably, in place of earlier ones.
    package func store(_ entry: Entry, of deviceID: DeviceID) throws(JournalError) { try replace(deviceID, with: entry.text) }

    /// Removes the key of a collar durably, and notes that. Without the note, a missing file counts as a key that is lost, and the frames
    /// of the collar in clear are not taken.
    package func remove(_ deviceID: DeviceID) throws(JournalError) { try replace(deviceID, with: KeyFiles.removalNote) }

    private func replace(_ deviceID: DeviceID, with text: String) throws(JournalError) {
        try JournalError.wrapping(try SmallFile.replace(path(of: deviceID), in: path, with: Array(text.utf8), fileSystem))
    }

    /// Makes durable which files there are. A program that changed a key may have ended, or failed, before that.
    package func synchronize() throws(JournalError) { try JournalError.wrapping(try fileSystem.synchronizeDirectory(at: path)) }

    private func path(of deviceID: DeviceID) -> String { "\(path)/\(deviceID)" }
}

extension CollarKey {
    package init?(hexadecimal digits: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: digits), bytes.count == CollarKey.byteCount else { return nil }
        self.init(bytes.span)
    }

    package var hexadecimalDigits: String { String(hexadecimal: bytes.span) }
}
