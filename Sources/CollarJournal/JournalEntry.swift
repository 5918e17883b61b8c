import CollarWire

/// A place between two records of a journal.
public struct JournalPosition: Comparable, Hashable, Sendable {
    /// Number of the segment, from 1.
    public var segment: UInt32
    /// Bytes from the start of the segment.
    public var offset: UInt32

    /// Creates a position.
    public init(segment: UInt32, offset: UInt32) {
        self.segment = segment
        self.offset = offset
    }

    /// The start of every journal.
    public static let start = JournalPosition(segment: 1, offset: 0)

    /// Earlier segment, or earlier in the same one.
    public static func < (left: JournalPosition, right: JournalPosition) -> Bool {
        (left.segment, left.offset) < (right.segment, right.offset)
    }
}

/// A fix as the journal keeps it. The collar is the journal's.
public struct JournaledFix: Equatable, Sendable {
    /// The log the fix is in, 26 bits.
    public var logID: UInt32
    /// When the host received it, in milliseconds since 1970 by the host's clock; 48 bits.
    public var receivedUnixMilliseconds: Int64
    /// What the radio said about the frame; nil when it says nothing.
    public var signal: RadioSignal?
    /// The fix in the codes it was logged with.
    public var fix: Fix

    /// Creates a record. It is checked when it is appended.
    public init(logID: UInt32, receivedUnixMilliseconds: Int64, signal: RadioSignal? = nil, fix: Fix) {
        self.logID = logID
        self.receivedUnixMilliseconds = receivedUnixMilliseconds
        self.signal = signal
        self.fix = fix
    }
}

/// Why fixes will never come.
public enum LossReason: UInt8, Equatable, Sendable {
    /// The collar overwrote them before they were delivered.
    case overwritten = 1
    /// The collar says that another receiver has them.
    case deliveredElsewhere = 2
    /// This receiver stopped asking for them, and stores nothing of them should it come after all.
    case givenUp = 3
    /// This receiver stored them before it moved to this state directory.
    case storedBeforeMove = 4

    /// Whether a fix counts although it was said not to come.
    var mayBeRevised: Bool { self == .overwritten || self == .deliveredElsewhere }

    /// Whether the fixes are stored at another place.
    public var isElsewhere: Bool { self == .deliveredElsewhere || self == .storedBeforeMove }
}

/// A range that counts as covered although no fix of it is stored.
public struct JournaledLoss: Equatable, Sendable {
    /// The log, 26 bits.
    public var logID: UInt32
    /// The sequences.
    public var range: SequenceRange
    /// Why they will not come.
    public var reason: LossReason
    /// When the host learned of it, in milliseconds since 1970 by the host's clock; 48 bits.
    public var receivedUnixMilliseconds: Int64

    /// Creates a record. It is checked when it is appended.
    public init(logID: UInt32, range: SequenceRange, reason: LossReason, receivedUnixMilliseconds: Int64) {
        self.logID = logID
        self.range = range
        self.reason = reason
        self.receivedUnixMilliseconds = receivedUnixMilliseconds
    }
}

/// What a consumer hears of a journal, in the order in which it was appended.
public enum JournalEntry: Equatable, Sendable {
    /// A fix.
    case fix(JournaledFix)
    /// Fixes that will never come.
    case loss(JournaledLoss)
    /// A range whose records are damaged. It is no longer covered, so the collar is asked for it again; it gets no line.
    case uncovered(UncoveredRange)
}

/// A range of which damage took the records.
public struct UncoveredRange: Equatable, Sendable {
    /// The log, 26 bits.
    public var logID: UInt32
    /// The sequences.
    public var range: SequenceRange

    /// Names a range.
    public init(logID: UInt32, range: SequenceRange) {
        self.logID = logID
        self.range = range
    }
}

/// Entries read back from a journal.
public struct JournalBatch: Equatable, Sendable {
    /// One entry and where reading goes on behind it.
    public struct Element: Equatable, Sendable {
        /// The entry.
        public let entry: JournalEntry
        /// The position behind it: the emission cursor once it has been handed over.
        public let end: JournalPosition
    }

    /// The entries, in order.
    public internal(set) var elements: [Element] = []
    /// Where the next batch begins.
    public internal(set) var end: JournalPosition
    /// Whether nothing more is there.
    public internal(set) var isAtEnd = false
    /// What was stepped over on the way from the position asked for to ``end``, in order.
    public internal(set) var damage: [DamageReport] = []
}

/// Bytes of a segment that are no record, or a segment that is gone. Reading steps over them. What an unfinished write
/// left at the end of the last segment is no damage.
public struct DamageReport: Equatable, Sendable {
    /// The segment's number; the first one's where several in a row are gone.
    public let segment: UInt32
    /// Where the damage begins, in bytes from the start of the segment.
    public let offset: Int
    /// How many bytes; 0 where the segment is gone.
    public let byteCount: Int
}
