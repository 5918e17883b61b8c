import CollarWire

/// A change in what is known about missing fixes.
///
/// A consumer that records the sequences of the fixes and the ranges of these changes can prove that it has everything: each
/// missing range is later filled, lost, or delivered elsewhere.
package struct GapChange: Equatable, Sendable {
    /// What is known of a range.
    package enum Event: String, Sendable, CaseIterable {
        /// The fixes are not stored, but later ones are stored or will not come. The host asks for the missing ones until
        /// another event is known.
        case missing
        /// All missing fixes of the range came. If fixes are ordered by sequence, they may be emitted after this change.
        case filled
        /// The fixes will never come: the collar does not have them any more.
        case lost
        /// The fixes will not come here: another receiver of the collar has them.
        case elsewhere
    }

    /// What became known.
    package var event: Event
    /// The log.
    package var logID: UInt32
    /// The sequences.
    package var range: SequenceRange
    /// When it became known, in milliseconds since 1970 by the host's clock.
    package var unixMilliseconds: Int64

    /// Creates a change.
    package init(event: Event, logID: UInt32, range: SequenceRange, unixMilliseconds: Int64) {
        self.event = event
        self.logID = logID
        self.range = range
        self.unixMilliseconds = unixMilliseconds
    }

    /// The change that reports a loss.
    package init(_ loss: JournaledLoss) {
        self.init(
            event: loss.reason.isElsewhere ? .elsewhere : .lost, logID: loss.logID, range: loss.range,
            unixMilliseconds: loss.receivedUnixMilliseconds)
    }
}
