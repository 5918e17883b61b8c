import CollarJournal
import CollarWire

/// Something that became known about fixes that are not there.
///
/// A consumer that keeps the ranges of these changes beside the sequences of the fixes can prove that it has everything: what
/// is missing is later filled, lost, or delivered elsewhere.
public struct GapChange: Equatable, Sendable {
    /// What is known of a range.
    public enum Event: String, Sendable, CaseIterable {
        /// Later fixes are there and these are not. They are asked for until something else is known.
        case missing
        /// All of them came after all. If fixes are ordered by sequence they may follow later.
        case filled
        /// They will never come: the collar does not have them any more.
        case lost
        /// They will not come here: another receiver of the collar has them.
        case elsewhere
    }

    /// What became known.
    public var event: Event
    /// The log.
    public var logID: UInt32
    /// The sequences.
    public var range: SequenceRange
    /// When, in milliseconds since 1970 by the host's clock.
    public var unixMilliseconds: Int64

    /// Names a change.
    public init(event: Event, logID: UInt32, range: SequenceRange, unixMilliseconds: Int64) {
        self.event = event
        self.logID = logID
        self.range = range
        self.unixMilliseconds = unixMilliseconds
    }

    /// The change that a loss makes known.
    public init(_ loss: JournaledLoss) {
        self.init(
            event: loss.reason.isElsewhere ? .elsewhere : .lost, logID: loss.logID, range: loss.range,
            unixMilliseconds: loss.receivedUnixMilliseconds)
    }
}
