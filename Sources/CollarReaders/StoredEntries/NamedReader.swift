import CollarJournal

/// The durable position of a named reader, and its lock.
package struct NamedReader {
    /// The state that was stored when the reader began; nil for a new reader.
    package let former: ReaderState?
    private let name: ReaderName
    private let files: ReaderFiles
    private let lock: ReaderLock
    private var stored: ReaderState?

    /// Takes the name.
    /// - Throws: ``JournalError/readerInUse(_:processID:)`` if another process reads under it.
    package init(_ name: ReaderName, stateDirectory: String) throws(JournalError) {
        self.name = name
        files = ReaderFiles(stateDirectory: stateDirectory)
        try files.makeDirectory()
        lock = try files.lock(name)
        former = try files.state(of: name)
        stored = former
    }

    /// Stores the position durably, if it has changed since it was stored last.
    /// - Parameter isSeen: whether the time is stored also if the position is the same.
    package mutating func store(_ state: ReaderState, isSeen: Bool) throws(JournalError) {
        if var last = stored, !isSeen {
            last.seenUnixMilliseconds = state.seenUnixMilliseconds
            if last == state { return }
        }
        try files.store(state, of: name, holding: lock)
        stored = state
    }
}
