/// How far a named reader lags behind a journal.
package struct ReaderLag: Equatable, Sendable {
    /// Fixes and messages that it has not taken, of those kinds that it takes.
    package var entryCount = 0
    /// When the oldest of these was received, in milliseconds since 1970; nil if there is none.
    package var oldestUnixMilliseconds: Int64?

    /// No lag.
    package init() {}

    /// Adds the lag behind another journal.
    package mutating func add(_ other: ReaderLag) {
        entryCount += other.entryCount
        if let oldest = other.oldestUnixMilliseconds { oldestUnixMilliseconds = min(oldestUnixMilliseconds ?? .max, oldest) }
    }
}

extension JournalReader {
    /// How far a reader lags.
    ///
    /// Complexity: reads everything after its position.
    package func lag(of state: ReaderState) throws(JournalError) -> ReaderLag {
        var lag = ReaderLag()
        var place = try position(goingOnAt: state.position(in: deviceID))
        while true {
            let batch = try entries(from: place, limit: 512)
            for element in batch.elements {
                switch element.entry {
                case .fix(let record) where state.takesFixes: lag.note(record.receivedUnixMilliseconds)
                case .message(let record) where state.takesMessages: lag.note(record.receivedUnixMilliseconds)
                case .fix, .message, .loss, .uncovered: break
                }
            }
            if batch.isAtEnd { return lag }
            place = batch.end
        }
    }
}

extension ReaderState {
    /// How far the reader lags behind all journals that it reads.
    ///
    /// Complexity: reads everything that it has not taken.
    package func lag(
        stateDirectory: String, fileSystem: (any FileSystem)? = nil
    ) throws(JournalError) -> ReaderLag {
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        var lag = ReaderLag()
        let known = try JournalDirectory.knownCollars(stateDirectory: stateDirectory, fileSystem: fileSystem)
        for deviceID in known where reads(deviceID) {
            let reader = try JournalReader(stateDirectory: stateDirectory, deviceID: deviceID, fileSystem: fileSystem)
            lag.add(try reader.lag(of: self))
        }
        return lag
    }
}

extension ReaderLag {
    fileprivate mutating func note(_ unixMilliseconds: Int64) {
        entryCount += 1
        oldestUnixMilliseconds = min(oldestUnixMilliseconds ?? .max, unixMilliseconds)
    }
}
