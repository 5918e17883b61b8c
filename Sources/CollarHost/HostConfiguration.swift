import CollarJournal
import CollarWire

/// What a host serves, keeps and emits.
public struct HostConfiguration: Equatable, Sendable {
    /// Where journals are kept.
    public var stateDirectory: String
    /// The only collar that is served; nil for all.
    public var deviceID: UInt64?
    /// Days after which segments of fixes that were emitted are removed; nil to keep everything. A segment is removed as a
    /// whole, when its newest fix is that old; by a clock that can be believed, see ``Journal/removeSegments(keepingDays:nowUnixMilliseconds:)``.
    public var keepsDays: Int?
    /// Where emission begins.
    public var emissionStart = EmissionStart.whereItStopped
    /// Whether a fix is held back until all fixes before it in its log are emitted or will never come.
    public var ordersBySequence = false
    /// Whether changes of gaps are emitted.
    public var emitsGaps = false
    /// Whether fixes are emitted. A fix that is not emitted stays in the journal for another run.
    public var emitsFixes = true
    /// Bytes after which a segment of a journal is followed by the next one.
    public var segmentByteLimit = Journal.defaultSegmentByteLimit

    /// Bytes of a collar's journal after which nothing more of that collar is stored and acknowledged; nil for no limit.
    public var journalByteLimit: Int?
    /// How much of a collar's logs is kept track of.
    public var trackingLimits = TrackingLimits()

    /// A configuration with defaults.
    public init(stateDirectory: String) { self.stateDirectory = stateDirectory }

    /// Whether anything is emitted.
    var emitsEntries: Bool { emitsFixes || emitsGaps }
}

/// Where the emission of entries begins.
public enum EmissionStart: Equatable, Sendable {
    /// After the last entry that the run before has emitted.
    case whereItStopped
    /// The oldest entry of the journals.
    case all
    /// The first entry received at this time or later, in milliseconds since 1970 by the host's clock.
    case since(unixMilliseconds: Int64)
    /// The entry stored after this fix; collars but the fix's own continue where they stopped.
    case after(FixIdentifier)
}

/// Why a host cannot begin.
public enum HostError: Error, Equatable, Sendable {
    /// The state directory or a journal in it cannot be used.
    case journal(JournalError)
    /// No journal has the fix after which emission was to begin.
    case unknownFix(FixIdentifier)
}
