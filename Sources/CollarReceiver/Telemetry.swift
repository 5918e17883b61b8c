import CollarWire

/// What a consumer may be told beside fixes and notices: figures of the receiver, and what collars say about themselves.
/// It is not said to a person.
public enum Telemetry: Equatable, Sendable {
    /// Figures of the receiver as a whole; those of each collar follow.
    case receiver(ReceiverReading)
    /// Figures of one collar.
    case collar(CollarReading)
    /// A collar says how it is doing.
    case status(deviceID: UInt64, logID: UInt32, Status)
}

/// How far the consumer of the lines is behind the journal.
public struct OutputLag: Equatable, Sendable {
    /// Bytes of records that were not handed over.
    public var byteCount = 0
    /// How long ago the oldest fix that was not handed over was received, in milliseconds; 0 where there is none.
    public var milliseconds: Int64 = 0
}

/// Figures of a receiver at one moment.
public struct ReceiverReading: Equatable, Sendable {
    /// What was counted since the start.
    public var statistics: ReceiverStatistics
    /// Seconds since the start.
    public var uptimeSeconds: Int64
    /// Bytes of all journals; nil where they cannot be read.
    public var journalByteCount: Int?
    /// How far the consumer is behind, in all journals together; nil where no fixes are written, or a journal cannot be read.
    public var lag: OutputLag?
    /// For how long the consumer has not read, in milliseconds; nil while it reads.
    public var outputBlockedMilliseconds: Int64?
    /// Whether the journal does not store, and so nothing is acknowledged.
    public var isStorageFailing: Bool
}

/// Figures of one collar at one moment.
public struct CollarReading: Equatable, Sendable {
    /// The collar's factory id.
    public var deviceID: UInt64
    /// The log heard last; nil before there is one.
    public var logID: UInt32?
    /// Fixes stored since the start.
    public var fixCount: Int
    /// Fixes that came again since the start.
    public var duplicateCount: Int
    /// The highest sequence that is known of the log; nil before there is one.
    public var highestSequence: UInt32?
    /// Sequences of the log up to the highest that are neither stored nor known to be lost for ever.
    public var missingCount: UInt64
    /// Bytes of its journal; nil where it cannot be read.
    public var journalByteCount: Int?
    /// How far the consumer is behind; nil where no fixes are written, or the journal cannot be read.
    public var lag: OutputLag?
}
