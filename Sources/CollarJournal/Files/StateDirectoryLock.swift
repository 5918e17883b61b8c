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
        try JournalError.wrapping { () throws(FileFailure) in
            _ = try JournalDirectory.makeShared(stateDirectory, fileSystem: fileSystem)
            try JournalDirectory.synchronizeAncestors(of: stateDirectory, fileSystem: fileSystem)
        }
        let holderPath = "\(stateDirectory)/lock"
        guard let directory = try LockHolder.lock(directory: stateDirectory, fileSystem) else {
            throw .heldBy(processID: LockHolder.processID(in: holderPath, fileSystem), path: stateDirectory)
        }
        do throws(JournalError) {
            if let strangers = try JournalError.wrapping({ () throws(FileFailure) in
                try fileSystem.strangers(in: directory)
            }) {
                throw .openToStrangers(strangers, path: stateDirectory)
            }
            try JournalError.wrapping { () throws(FileFailure) in
                let file = try fileSystem.open(holderPath, .creatingIfMissing)
                defer { fileSystem.close(file) }
                try LockHolder.write(to: file, fileSystem)
            }
        } catch {
            fileSystem.close(directory)
            throw error
        }
        self.directory = directory
        self.fileSystem = fileSystem
    }

    /// Makes sure that the directory was not removed or replaced after it was locked: otherwise the lock keeps no process out.
    package func check() throws(JournalError) {
        try JournalError.wrapping { () throws(FileFailure) in try fileSystem.checkName(of: directory) }
    }

    deinit { fileSystem.close(directory) }
}
