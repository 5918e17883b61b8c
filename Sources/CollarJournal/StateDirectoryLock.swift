/// Keeps a second receiver out of a state directory, also while there is no journal in it. It lasts until the value is
/// released or the process ends, however it ends.
public final class StateDirectoryLock {
    private let fileSystem: any FileSystem
    private let file: FileReference

    /// Makes the directory where it is missing, and takes the lock: `<state directory>/lock`, which names the holder.
    /// - Throws: ``JournalError/heldBy(processID:path:)`` where another process has it, ``JournalError/file(_:)`` for what
    ///   the system refuses.
    public init(_ stateDirectory: String, fileSystem: any FileSystem = POSIXFileSystem()) throws(JournalError) {
        try JournalError.wrapping { () throws(FileFailure) in
            try JournalDirectory.make(stateDirectory, fileSystem: fileSystem)
            try JournalDirectory.synchronizeAncestors(of: stateDirectory, fileSystem: fileSystem)
        }
        file = try LockHolder.lock("\(stateDirectory)/lock", of: stateDirectory, fileSystem)
        self.fileSystem = fileSystem
    }

    deinit { fileSystem.close(file) }
}
