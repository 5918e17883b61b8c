import CollarWire

/// A place between two records of a journal.
package struct JournalPosition: Comparable, Hashable, Sendable {
    /// Number of the segment, from 1.
    package var segment: UInt32
    /// Bytes from the start of the segment.
    package var offset: UInt32

    package init(segment: UInt32, offset: UInt32) {
        self.segment = segment
        self.offset = offset
    }

    package static let start = JournalPosition(segment: 1, offset: 0)

    /// Whether `left` is in an earlier segment, or at a lower offset in the same one.
    package static func < (left: JournalPosition, right: JournalPosition) -> Bool {
        (left.segment, left.offset) < (right.segment, right.offset)
    }
}

/// A fix as the journal keeps it. Its collar is that of the journal.
package struct JournaledFix: Equatable, Sendable {
    package var logID: LogID
    /// When the host received it, in milliseconds since 1970 by the host's clock; 48 bits.
    package var receivedUnixMilliseconds: Int64
    /// The signal that the radio reported for the frame; nil if it reported none.
    package var signal: RadioSignal?
    /// The fix, in the codes with which the collar logged it.
    package var fix: Fix

    /// Creates a record. It is checked when it is appended.
    package init(logID: LogID, receivedUnixMilliseconds: Int64, signal: RadioSignal? = nil, fix: Fix) {
        self.logID = logID
        self.receivedUnixMilliseconds = receivedUnixMilliseconds
        self.signal = signal
        self.fix = fix
    }
}

/// A message of a collar's application, as the journal keeps it. Its collar is that of the journal.
package struct JournaledMessage: Equatable, Sendable {
    package var logID: LogID
    /// When the host received it, in milliseconds since 1970 by the host's clock; 48 bits.
    package var receivedUnixMilliseconds: Int64
    /// The signal that the radio reported for the frame; nil if it reported none.
    package var signal: RadioSignal?
    /// The message and its sequence in the log.
    package var message: CollarMessage

    /// Creates a record. It is checked when it is appended.
    package init(logID: LogID, receivedUnixMilliseconds: Int64, signal: RadioSignal? = nil, message: CollarMessage) {
        self.logID = logID
        self.receivedUnixMilliseconds = receivedUnixMilliseconds
        self.signal = signal
        self.message = message
    }
}

/// Why fixes are no longer expected.
package enum LossReason: UInt8, Equatable, Sendable {
    /// The collar overwrote them before they were delivered.
    case overwritten = 1
    /// The collar says that another receiver has them.
    case deliveredElsewhere = 2
    /// This receiver stopped asking for them, and does not store them if they come after all.
    case givenUp = 3
    /// This receiver stored them before it moved to this state directory.
    case storedBeforeMove = 4

    /// Whether a fix is still stored if it comes after all.
    var mayBeRevised: Bool { self == .overwritten || self == .deliveredElsewhere }

    /// Whether the fixes are stored at another place.
    package var isElsewhere: Bool { self == .deliveredElsewhere || self == .storedBeforeMove }
}

/// A range that counts as covered although no fix of it is stored.
package struct JournaledLoss: Equatable, Sendable {
    package var logID: LogID
    package var range: SequenceRange
    package var reason: LossReason
    /// When the host learned of the loss, in milliseconds since 1970 by the host's clock; 48 bits.
    package var receivedUnixMilliseconds: Int64

    /// Creates a record. It is checked when it is appended.
    package init(logID: LogID, range: SequenceRange, reason: LossReason, receivedUnixMilliseconds: Int64) {
        self.logID = logID
        self.range = range
        self.reason = reason
        self.receivedUnixMilliseconds = receivedUnixMilliseconds
    }
}

/// An entry of a journal for the consumer. Entries are in the order in which they were appended.
package enum JournalEntry: Equatable, Sendable {
    case fix(JournaledFix)
    case message(JournaledMessage)
    /// Fixes that are no longer expected.
    case loss(JournaledLoss)
    /// A range whose records are damaged. It is no longer covered, so the collar is asked for it again. No line is written
    /// for it.
    case uncovered(UncoveredRange)

    /// When the host received the entry, in milliseconds since 1970; nil for an uncovered range, which was not received.
    package var receivedUnixMilliseconds: Int64? {
        switch self {
        case .fix(let fix): fix.receivedUnixMilliseconds
        case .message(let message): message.receivedUnixMilliseconds
        case .loss(let loss): loss.receivedUnixMilliseconds
        case .uncovered: nil
        }
    }

    /// The log and sequence of a fix or a message; nil for any other entry.
    var place: (logID: LogID, sequence: UInt32)? {
        switch self {
        case .fix(let record): (record.logID, record.fix.sequence)
        case .message(let record): (record.logID, record.message.sequence)
        case .loss, .uncovered: nil
        }
    }
}

/// A range whose records were lost to damage.
package struct UncoveredRange: Equatable, Sendable {
    package var logID: LogID
    package var range: SequenceRange
}

package struct JournalBatch: Equatable, Sendable {
    /// One entry, and the position after it.
    package struct Element: Equatable, Sendable {
        package let entry: JournalEntry
        /// The position after it, which becomes the emission cursor when the entry has been handed over.
        package let end: JournalPosition
    }

    package internal(set) var elements: [Element] = []
    /// Where the next batch begins.
    package internal(set) var end: JournalPosition
    package internal(set) var isAtEnd = false
    /// The damage that was skipped from the requested position up to ``end``, in order.
    package internal(set) var damage: [DamageReport] = []
}

/// Bytes of a segment that are no record, or a missing segment. Reading skips them. The remains of an unfinished write at the
/// end of the last segment are no damage.
package struct DamageReport: Equatable, Sendable {
    /// The segment's number; if several consecutive segments are missing, the number of the first.
    package let segment: UInt32
    /// Where the damage begins, in bytes from the start of the segment.
    package let offset: Int
    /// How many bytes; 0 if the segment is missing.
    package let byteCount: Int
}
