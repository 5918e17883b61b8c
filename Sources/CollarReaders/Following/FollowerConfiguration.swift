import CollarFormats
import CollarJournal
import CollarConfiguration

/// What a reader of stored entries gets, for ``Follower`` and ``Deliverer``.
package struct ReadingConfiguration: Sendable {
    /// Path of the directory that holds the journals.
    package var stateDirectory: String
    /// The collars, each perhaps for some time only.
    package var wanted = CollarSelection.all
    /// The files that say which animal wears which collar; those that go before others first.
    package var animalPaths: [String] = []
    /// The name under which the position is kept; nil for a reader that keeps none.
    package var name: ReaderName?
    /// Which entries it gets, and in which order.
    package var selection = EntrySelection()
    /// The kinds of lines of the event log that it gets.
    package var eventKinds: Set<LineKind> = []
    /// Where a reader without a position begins; nil for the oldest entry.
    package var start: EmissionStart?
    /// How entries are written.
    package var format = FormatOptions()

    /// A configuration with defaults: the fixes of all collars, from the oldest on.
    package init(stateDirectory: String) {
        self.stateDirectory = stateDirectory
        selection.movesWithoutFixes = true
    }

    /// Chooses the kinds of lines.
    package mutating func read(_ kinds: Set<LineKind>) {
        selection.choose(kinds)
        eventKinds = kinds.intersection(LineKind.ofEvents)
    }
}

/// How a follower writes.
package struct FollowerConfiguration: Sendable {
    /// What it reads.
    package var reading: ReadingConfiguration
    /// Whether the position moves only past lines whose ids the consumer writes to ``input``.
    package var isAcknowledged = false
    /// The number of lines after which to end; nil for no limit.
    package var lineLimit: Int?
    /// The time after which to end, in microseconds; nil for no limit.
    package var durationMicroseconds: Int64?
    /// Descriptor from which ids are read.
    package var input: Int32 = 0
    /// Descriptor that lines are written to.
    package var output: Int32 = 1

    /// A configuration with defaults.
    package init(_ reading: ReadingConfiguration) { self.reading = reading }
}
