/// The files of the named readers of a state directory: `readers/NAME.reader`.
///
/// A reader writes its file itself, whoever its user is. The receiver only reads them, to keep what they have not taken.
package struct ReaderFiles {
    package let path: String
    private let fileSystem: any FileSystem
    private static let suffix = ".reader"
    /// The largest file that is read, in bytes: positions of 256 collars, and their alerts at 200 places.
    private static let byteLimit = 4 << 20

    package init(stateDirectory: String, fileSystem: (any FileSystem)? = nil) {
        self.fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        path = "\(stateDirectory)/readers"
    }

    /// Makes the directory. Where the state directory is shared with the group `collar-link`, its members may add readers.
    package func makeDirectory() throws(JournalError) {
        try JournalError.wrappingAll { () throws(FileFailure) in
            try JournalDirectory.make(path, fileSystem: fileSystem)
            _ = try fileSystem.share(path, as: .writableDirectory)
        }
    }

    /// The names of the readers, in their order; none if there is no directory.
    package func names() throws(JournalError) -> [ReaderName] {
        let names = try JournalError.wrapping(try FileFailure.unlessAbsent(try fileSystem.names(in: path))) ?? []
        return names.filter { $0.hasSuffix(ReaderFiles.suffix) }
            .compactMap { ReaderName(String($0.dropLast(ReaderFiles.suffix.count))) }.sorted { $0.text < $1.text }
    }

    /// The state of a reader; nil if there is no such reader.
    /// - Throws: ``JournalError/unreadableReader(path:)`` if its file holds something else, ``JournalError/readerDenied(path:owner:)``
    ///   if it is another user's.
    package func state(of name: ReaderName) throws(JournalError) -> ReaderState? {
        let bytes = try namingOwner(of: path(of: name)) { () throws(JournalError) in
            try SmallFile.contents(of: path(of: name), byteLimit: ReaderFiles.byteLimit, fileSystem)
        }
        if bytes.isEmpty { return nil }
        guard let state = ReaderState(text: String(decoding: bytes, as: UTF8.self)) else {
            throw .unreadableReader(path: path(of: name))
        }
        return state
    }

    /// Stores the state of a reader durably.
    /// - Throws: ``JournalError/readerReplaced(path:)`` if the state directory was restored or removed under the reader: its position is
    ///   one in the former journals.
    package func store(_ state: ReaderState, of name: ReaderName, holding lock: ReaderLock) throws(JournalError) {
        try lock.check()
        try JournalError.wrappingAll { () throws(FileFailure) in
            try SmallFile.replace(path(of: name), in: path, with: Array(state.text.utf8), fileSystem) {
                (new) throws(FileFailure) in _ = try fileSystem.share(new.path, as: .readableFile)
            }
        }
    }

    /// Removes a reader: what it has not taken may be removed from the journals.
    /// - Returns: false if there is no such reader.
    /// - Throws: ``JournalError/readerInUse(_:processID:)`` if a process reads under the name.
    package func remove(_ name: ReaderName) throws(JournalError) -> Bool {
        let lock = try lockForRemoval(name)
        defer { withExtendedLifetime(lock) {} }
        do {
            try fileSystem.remove(path(of: name))
            try fileSystem.synchronizeDirectory(at: path)
            return true
        } catch {
            if error.isAbsence { return false }
            throw .file(error)
        }
    }

    /// Keeps a second process with the same name out, as long as the returned value lives.
    /// - Throws: ``JournalError/readerInUse(_:processID:)`` if another process has the name.
    package func lock(_ name: ReaderName) throws(JournalError) -> ReaderLock {
        // An existing file is opened without O_CREAT: the kernel may refuse that for another user's file in a shared directory.
        let file = try namingOwner(of: lockPath(of: name)) { () throws(JournalError) in
            try JournalError.wrappingAll { () throws(FileFailure) in
                if let known = try FileFailure.unlessAbsent(try fileSystem.open(lockPath(of: name), .writing)) { return known }
                let new = try fileSystem.open(lockPath(of: name), .creatingIfMissing)
                _ = try fileSystem.share(new.path, as: .readableFile)
                return new
            }
        }
        let lock = ReaderLock(file, fileSystem)
        try hold(file, of: name)
        try JournalError.wrapping(try LockHolder.write(to: file, fileSystem))
        return lock
    }

    /// Keeps processes with a name out while its reader is removed, whoever the reader's user is.
    /// - Throws: ``JournalError/readerInUse(_:processID:)`` if a process has the name.
    private func lockForRemoval(_ name: ReaderName) throws(JournalError) -> ReaderLock? {
        let opened = try namingOwner(of: lockPath(of: name)) { () throws(JournalError) in
            try JournalError.wrapping(try FileFailure.unlessAbsent(try fileSystem.open(lockPath(of: name), .reading)))
        }
        guard let file = opened else { return nil }
        let lock = ReaderLock(file, fileSystem)
        try hold(file, of: name)
        return lock
    }

    /// Uses a file. If this user has no permission, the failure names the user to whom the file belongs: every member of the group
    /// `collar-link` may make one.
    private func namingOwner<Result>(of path: String, _ body: () throws(JournalError) -> Result) throws(JournalError) -> Result {
        do throws(JournalError) { return try body() } catch {
            guard case .file(let failure) = error, failure.isDenial, let owner = (try? fileSystem.owner(of: path)) ?? nil else { throw error }
            throw .readerDenied(path: path, owner: owner)
        }
    }

    private func hold(_ file: FileReference, of name: ReaderName) throws(JournalError) {
        let isHeld = try JournalError.wrapping(try fileSystem.lock(file))
        if !isHeld { throw .readerInUse(name, processID: LockHolder.processID(in: lockPath(of: name), fileSystem)) }
    }

    private func lockPath(of name: ReaderName) -> String { "\(path)/\(name.text).lock" }

    private func path(of name: ReaderName) -> String { "\(path)/\(name.text)\(ReaderFiles.suffix)" }
}

/// The lock of a named reader; it ends with the value or the process.
package final class ReaderLock {
    private let file: FileReference
    private let fileSystem: any FileSystem

    fileprivate init(_ file: FileReference, _ fileSystem: any FileSystem) {
        self.file = file
        self.fileSystem = fileSystem
    }

    /// Makes sure that the lock file still exists. A state directory may be restored or removed while its readers run.
    /// - Throws: ``JournalError/readerReplaced(path:)`` if the lock file was removed or replaced.
    package func check() throws(JournalError) {
        do throws(FileFailure) { try fileSystem.checkName(of: file) } catch {
            throw error.isAbsence ? .readerReplaced(path: file.path) : .file(error)
        }
    }

    deinit { fileSystem.close(file) }
}

/// The name of a named reader: 1 to 64 letters, digits, `.`, `_` and `-` of ASCII, the first a letter or digit. So it is the name of
/// a file too.
package struct ReaderName: Hashable, Sendable {
    package let text: String

    package static let form = "1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or a digit"

    package init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first, ReaderName.isAlphanumeric(first),
            text.utf8.allSatisfy({ ReaderName.isAlphanumeric($0) || [0x2D, 0x2E, 0x5F].contains($0) })
        else { return nil }
        self.text = text
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
