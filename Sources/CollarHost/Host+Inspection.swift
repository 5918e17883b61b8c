import CollarJournal
import CollarWire

// For simulations, which judge a host from outside.
extension Host {
    /// The journals of all collars.
    package var journals: [Journal] { collars.sessions.map(\.journal) }

    /// The number of logs in memory, of all collars together.
    package var logCount: Int { collars.sessions.reduce(0) { $0 + $1.logCount } }

    /// Whether the consumer has received every entry.
    package var isEverythingEmitted: Bool { collars.sessions.allSatisfy(\.feed.isEverythingEmitted) }

    /// The number of requests to a collar that have not ended.
    package func openRequestCount(of deviceID: UInt64) -> Int { collars.session(deviceID)?.requests.openCount ?? 0 }

    /// The version of the settings that a collar reported last; nil if it never reported them.
    package func reportedSettingsVersion(of deviceID: UInt64) -> SettingsVersion? {
        collars.session(deviceID)?.requests.reportedVersion
    }
}
