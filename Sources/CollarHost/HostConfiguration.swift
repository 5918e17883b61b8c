import CollarJournal
import CollarWire

/// What a host serves, keeps and emits.
package struct HostConfiguration: Equatable, Sendable {
    /// Path of the directory that holds the journals.
    package var stateDirectory: String
    /// The id of the receiver, in the place of that of the state directory; nil for the latter. Only for what never answers a collar,
    /// such as the playback of a capture.
    package var receiverID: UInt32?
    /// The only collar that is served; nil for all.
    package var deviceID: UInt64?
    /// How long entries are kept; nil keeps everything. A segment is removed as a whole once its newest fix is old enough. Times of
    /// a wrong clock do not count, see ``Journal/removeSegments(_:consumers:nowUnixMilliseconds:removed:)``.
    package var retention: Retention?
    /// Whether this host has a consumer of its own, for which entries are kept. The named readers are further consumers.
    package var hasConsumer = true
    /// Where emission begins.
    package var emissionStart = EmissionStart.whereItStopped
    /// What is emitted. A fix that is not emitted stays in the journal for another run.
    package var selection = EntrySelection()
    /// Size of a journal segment in bytes, after which the next one begins.
    package var segmentByteLimit = Journal.defaultSegmentByteLimit

    /// Size of a collar's journal in bytes at which nothing more of that collar is stored or acknowledged; nil for no limit.
    package var journalByteLimit: Int?
    /// How many logs and ranges of a collar are kept track of.
    package var trackingLimits = TrackingLimits()

    /// A configuration with defaults.
    package init(stateDirectory: String) { self.stateDirectory = stateDirectory }
}

/// Why a host cannot start.
package enum HostError: Error, Equatable, Sendable {
    /// The state directory or a journal in it cannot be used.
    case journal(JournalError)
    /// No journal has the fix after which emission was to begin.
    case unknownFix(FixIdentifier)
}
