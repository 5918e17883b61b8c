/// A position in a journal, with what tells whether the journal still has the same records before it.
///
/// Records that a failed synchronisation leaves in doubt are cut off, and a journal may be restored from a backup. Other records then
/// stand at a position that a reader has stored. See ``JournalReader/position(goingOnAt:)``.
package struct ReaderPosition: Equatable, Sendable {
    /// The place.
    package var place: JournalPosition
    /// When the segment of the place began, in milliseconds since 1970; 0 if that is unknown.
    package var segmentUnixMilliseconds: Int64
    /// A hash of the bytes before the place; 0 if it is unknown.
    package var fingerprint: UInt64

    /// Creates a position.
    package init(place: JournalPosition, segmentUnixMilliseconds: Int64, fingerprint: UInt64) {
        self.place = place
        self.segmentUnixMilliseconds = segmentUnixMilliseconds
        self.fingerprint = fingerprint
    }

    /// The position before all records.
    package static let start = ReaderPosition(place: .start, segmentUnixMilliseconds: 0, fingerprint: 0)
}

/// How far a named reader has come.
package struct ReaderState: Equatable, Sendable {
    /// The collars that it reads; nil for all.
    package var collars: Set<UInt64>?
    /// Whether it takes fixes.
    package var takesFixes = true
    /// Whether it takes messages.
    package var takesMessages = true
    /// The position in the journal of each collar of which it has taken something.
    package var positions: [UInt64: ReaderPosition] = [:]
    /// The position in the event log; nil if it reads no events.
    package var events: EventPosition?
    /// When it was active last, in milliseconds since 1970.
    package var seenUnixMilliseconds: Int64

    /// The state of a reader that has taken nothing.
    package init(collars: Set<UInt64>? = nil, seenUnixMilliseconds: Int64) {
        self.collars = collars
        self.seenUnixMilliseconds = seenUnixMilliseconds
    }

    /// Whether it reads a collar.
    package func reads(_ deviceID: UInt64) -> Bool { collars?.contains(deviceID) ?? true }

    /// The position in the journal of a collar; the start if it has taken nothing of the collar.
    package func position(in deviceID: UInt64) -> ReaderPosition { positions[deviceID] ?? .start }
}
