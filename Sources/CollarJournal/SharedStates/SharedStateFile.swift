import CollarWire

/// Keeps a ``KeptSharedState`` beside the journal: `<state directory>/<device id>/shared-state`. Programs write it, not the receiver.
///
/// The file is replaced as a whole: after a crash at any point either the old or the new one is there.
package struct SharedStateFile {
    private let directory: JournalDirectory
    private let fileSystem: any FileSystem

    /// Refers to the file of a collar that has a journal; the file may be missing.
    package init(in directory: JournalDirectory, fileSystem: (any FileSystem)? = nil) {
        self.directory = directory
        self.fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: directory.stateDirectory)
    }

    package var path: String { "\(directory.path)/shared-state" }

    /// Reads the file. A missing or damaged file counts as empty: the journal still has every confirmed state.
    package func load() throws(JournalError) -> KeptSharedState {
        KeptSharedState(text: String(decoding: try SmallFile.contents(of: path, fileSystem), as: UTF8.self)) ?? KeptSharedState()
    }

    /// Reads and changes the state durably while no other program does.
    /// - Returns: false if another program does; then `body` was not called, and the caller tries again.
    package func update(_ body: (inout KeptSharedState) -> Void) throws(JournalError) -> Bool {
        let lock = try JournalError.wrapping(try fileSystem.open("\(path).lock", .creatingIfMissing))
        defer { fileSystem.close(lock) }
        guard try JournalError.wrapping(try fileSystem.lock(lock)) else { return false }
        let former = try load()
        var kept = former
        body(&kept)
        guard kept != former else { return true }
        try JournalError.wrappingAll { () throws(FileFailure) in
            try SmallFile.replace(path, in: directory.path, with: Array(kept.text.utf8), fileSystem) { (new) throws(FileFailure) in
                _ = try fileSystem.share(new.path, as: .readableFile)
            }
        }
        return true
    }
}
