import CheckedNumbers

/// Keeps a second receiver out of a state directory, even before there is a journal in it. The lock lasts until the value is
/// released or the process ends in any way.
///
/// The lock is on the directory itself: a lock file could be removed, and a new one would not be locked. The file `lock` only
/// names the holder.
package final class StateDirectoryLock {
    private let fileSystem: any FileSystem
    private let directory: FileReference

    /// Makes the directory if it is missing, and takes the lock.
    /// - Throws: ``JournalError/heldBy(processID:path:)`` if another process has the lock,
    ///   ``JournalError/openToStrangers(_:path:)`` if other users could change what is in the directory,
    ///   ``JournalError/file(_:)`` for an operation that the system refuses.
    package init(_ stateDirectory: String, fileSystem: (any FileSystem)? = nil) throws(JournalError) {
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        try JournalError.wrappingAll { () throws(FileFailure) in
            _ = try JournalDirectory.makeShared(stateDirectory, fileSystem: fileSystem)
            try JournalDirectory.synchronizeAncestors(of: stateDirectory, fileSystem: fileSystem)
        }
        let holderPath = "\(stateDirectory)/lock"
        guard let directory = try LockHolder.lock(directory: stateDirectory, fileSystem) else {
            throw .heldBy(processID: LockHolder.processID(in: holderPath, fileSystem), path: stateDirectory)
        }
        try fileSystem.closingOnFailure(directory) { () throws(JournalError) in
            if let strangers = try JournalError.wrapping(try fileSystem.strangers(in: directory)) {
                throw JournalError.openToStrangers(strangers, path: stateDirectory)
            }
            try JournalError.wrappingAll { () throws(FileFailure) in
                let file = try fileSystem.open(holderPath, .creatingIfMissing)
                defer { fileSystem.close(file) }
                try LockHolder.write(to: file, fileSystem)
            }
        }
        self.directory = directory
        self.fileSystem = fileSystem
    }

    /// Makes sure that the directory was not removed or replaced after it was locked: otherwise the lock keeps no process out.
    package func check() throws(JournalError) { try JournalError.wrapping(try fileSystem.checkName(of: directory)) }

    deinit { fileSystem.close(directory) }
}

/// Takes the kernel's locks, and keeps the process id in a lock file for the error message of a second process.
enum LockHolder {
    /// Locks a directory against other processes as long as the returned reference stays open.
    /// - Returns: nil if another process has the lock.
    static func lock(directory path: String, _ fileSystem: any FileSystem) throws(JournalError) -> FileReference? {
        try JournalError.wrappingAll { () throws(FileFailure) in
            let directory = try fileSystem.open(path, .directory)
            var isHeld = false
            defer { if !isHeld { fileSystem.close(directory) } }
            isHeld = try fileSystem.lock(directory)
            return isHeld ? directory : nil
        }
    }

    static func write(to file: FileReference, _ fileSystem: any FileSystem) throws(FileFailure) {
        let text = Array("\(fileSystem.processID)\n".utf8)
        do throws(FileFailure) {
            try fileSystem.truncate(file, to: 0)
            try fileSystem.writeAll(text, to: file, at: 0)
        } catch {
            // On a full disk the lock holds without a process id in the file.
            guard error.isLackOfRoom else { throw error }
        }
    }

    static func processID(in path: String, _ fileSystem: any FileSystem) -> Int32? {
        guard let text = try? SmallFile.contents(of: path, fileSystem) else { return nil }
        return Int32(digits: text.prefix { $0 >= 0x30 && $0 <= 0x39 }, radix: 10, in: 1 ... .max)
    }
}
