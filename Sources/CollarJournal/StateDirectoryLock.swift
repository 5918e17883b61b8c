/// Keeps a second receiver out of a state directory, also while there is no journal in it. It lasts until the value is
/// released or the process ends, however it ends.
///
/// The lock is on the directory itself: a file in it may be removed, and one made anew is not locked. `lock` is locked as
/// well, for earlier versions, which lock nothing else, and names the holder.
public final class StateDirectoryLock {
    private let fileSystem: any FileSystem
    private let directory: FileReference
    private let file: FileReference

    /// Makes the directory where it is missing, and takes the lock.
    /// - Throws: ``JournalError/heldBy(processID:path:)`` where another process has it,
    ///   ``JournalError/openToStrangers(_:path:)`` where other users could change what is in the directory,
    ///   ``JournalError/file(_:)`` for what the system refuses.
    public init(_ stateDirectory: String, fileSystem: any FileSystem = POSIXFileSystem()) throws(JournalError) {
        try JournalError.wrapping { () throws(FileFailure) in
            try JournalDirectory.make(stateDirectory, fileSystem: fileSystem)
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
            file = try LockHolder.lock(holderPath, of: stateDirectory, fileSystem)
        } catch {
            fileSystem.close(directory)
            throw error
        }
        self.directory = directory
        self.fileSystem = fileSystem
    }

    /// Makes sure that the directory was not removed or replaced since: the lock would keep nobody out.
    public func check() throws(JournalError) {
        try JournalError.wrapping { () throws(FileFailure) in try fileSystem.checkName(of: directory) }
    }

    deinit {
        fileSystem.close(file)
        fileSystem.close(directory)
    }
}
