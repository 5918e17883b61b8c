import CollarBridge
import CollarHost
import CollarJournal
import CollarTracking

/// What a reader of stored entries gets, for ``Follower`` and ``Deliverer``.
public struct ReadingConfiguration: Sendable {
    /// Path of the directory that holds the journals.
    public var stateDirectory: String
    /// The collars, each perhaps for some time only.
    public var wanted = CollarSelection.all
    /// The files that say which animal wears which collar; those that go before others first.
    public var animalPaths: [String] = []
    /// The name under which the position is kept; nil for a reader that keeps none.
    public var name: ReaderName?
    /// Which entries it gets, and in which order.
    public var selection = EntrySelection()
    /// The kinds of lines of the event log that it gets.
    public var eventKinds: Set<LineKind> = []
    /// Where a reader without a position begins; nil for the oldest entry.
    public var start: EmissionStart?
    /// How entries are written.
    public var format = FormatOptions()

    /// A configuration with defaults: the fixes of all collars, from the oldest on.
    public init(stateDirectory: String) {
        self.stateDirectory = stateDirectory
        selection.movesWithoutFixes = true
    }

    /// Chooses the kinds of lines.
    public mutating func read(_ kinds: Set<LineKind>) {
        selection.choose(kinds)
        eventKinds = kinds.intersection(LineKind.ofEvents)
    }
}

extension EntrySelection {
    /// Chooses the entries that have these kinds of lines.
    mutating func choose(_ kinds: Set<LineKind>) {
        hasFixes = kinds.contains(.fix)
        hasGaps = kinds.contains(.gap)
        hasMessages = kinds.contains(.message)
    }
}

/// How a follower writes.
public struct FollowerConfiguration: Sendable {
    /// What it reads.
    public var reading: ReadingConfiguration
    /// Whether the position moves only past lines whose ids the consumer writes to ``input``.
    public var isAcknowledged = false
    /// The number of lines after which to end; nil for no limit.
    public var lineLimit: Int?
    /// The time after which to end, in microseconds; nil for no limit.
    public var durationMicroseconds: Int64?
    /// Descriptor from which ids are read.
    public var input: Int32 = 0
    /// Descriptor that lines are written to.
    public var output: Int32 = 1

    /// A configuration with defaults.
    public init(_ reading: ReadingConfiguration) { self.reading = reading }
}
