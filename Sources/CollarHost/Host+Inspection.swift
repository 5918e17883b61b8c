import CollarJournal

// For simulations, which judge a host from outside.
extension Host {
    /// The journals of all collars.
    package var journals: [Journal] { collars.sessions.map(\.journal) }

    /// Logs kept at hand, of all collars together.
    package var logCount: Int { collars.sessions.reduce(0) { $0 + $1.logCount } }

    /// Whether the consumer has every entry there is.
    package var isEverythingEmitted: Bool { collars.sessions.allSatisfy(\.feed.isEverythingEmitted) }

    /// Commands to a collar that have not ended.
    package func openCommandCount(of deviceID: UInt64) -> Int { collars.session(deviceID)?.commands.openCount ?? 0 }

    /// The version of the settings that a collar reported last; nil where it never did.
    package func reportedSettingsVersion(of deviceID: UInt64) -> UInt64? {
        collars.session(deviceID)?.commands.reportedVersion
    }
}
