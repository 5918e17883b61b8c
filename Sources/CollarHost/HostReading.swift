/// How far the consumer of the entries is behind the journal.
public struct EmissionLag: Equatable, Sendable {
    /// Bytes of records that were not handed over.
    public var byteCount = 0
    /// How long ago the oldest fix that was not handed over was received, in milliseconds; 0 where there is none.
    public var milliseconds: Int64 = 0
}

/// Figures of a host at one moment.
public struct HostReading: Equatable, Sendable {
    /// What was counted since the start.
    public var statistics: HostStatistics
    /// Bytes of all journals; nil where they cannot be read.
    public var journalByteCount: Int?
    /// How far the consumer is behind, in all journals together; nil where no fixes are emitted, or a journal cannot be read.
    public var lag: EmissionLag?
    /// Whether a journal does not store, and so nothing of its collar is acknowledged.
    public var isStorageFailing: Bool
    /// Figures of each collar.
    public var collars: [CollarReading]
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
    /// How far the consumer is behind; nil where no fixes are emitted, or the journal cannot be read.
    public var lag: EmissionLag?
}

extension HostReading {
    /// The figures of all collars together.
    init(statistics: HostStatistics, emitsFixes: Bool, isStorageFailing: Bool, collars: [CollarReading]) {
        self.statistics = statistics
        self.isStorageFailing = isStorageFailing
        self.collars = collars
        journalByteCount = 0
        lag = emitsFixes ? EmissionLag() : nil
        for collar in collars {
            if let sum = journalByteCount, let count = collar.journalByteCount {
                journalByteCount = sum + count
            } else {
                journalByteCount = nil
            }
            if let all = lag, let one = collar.lag {
                lag = EmissionLag(
                    byteCount: all.byteCount + one.byteCount, milliseconds: max(all.milliseconds, one.milliseconds))
            } else {
                lag = nil
            }
        }
    }
}
