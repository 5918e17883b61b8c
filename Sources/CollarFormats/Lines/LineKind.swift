import CollarJournal

/// The kinds of lines; the raw values are the names that `--events` accepts.
package enum LineKind: String, CaseIterable, Sendable {
    /// A fix.
    case fix
    /// A message of a collar's application.
    case message
    /// A change of a gap.
    case gap
    /// A change of the link to a radio or a collar.
    case link
    /// Something that went wrong.
    case error
    /// Figures.
    case stats
    /// The condition of a collar.
    case status
    /// The end of a command.
    case result
}

extension EntrySelection {
    /// Chooses the entries that have these kinds of lines.
    package mutating func choose(_ kinds: Set<LineKind>) {
        hasFixes = kinds.contains(.fix)
        hasGaps = kinds.contains(.gap)
        hasMessages = kinds.contains(.message)
    }
}

extension LineKind {
    /// The kinds whose lines are in the event log; the others are made from the journals.
    package static let ofEvents: Set<LineKind> = [.link, .error, .stats, .status, .result]
}
