import CollarWire

/// How far the consumer of the entries lags behind the journal.
public struct EmissionLag: Equatable, Sendable {
    /// Bytes of records that were not handed over yet.
    public var byteCount = 0
    /// Time since the reception of the oldest fix that was not handed over, in milliseconds; 0 if there is none.
    public var milliseconds: Int64 = 0
}

/// Figures of a host at one moment.
public struct HostReading: Equatable, Sendable {
    /// The counters since the start.
    public var statistics: HostStatistics
    /// Size of all journals in bytes; nil if they cannot be read.
    public var journalByteCount: Int?
    /// The consumer's lag in all journals together; nil if no fixes are emitted, or a journal cannot be read.
    public var lag: EmissionLag?
    /// Whether a journal cannot store, so that its collar gets no acknowledgements.
    public var isStorageFailing: Bool
    /// Figures of each collar.
    public var collars: [CollarReading]
    /// How long fixes and answers take.
    public var latencies = HostLatencies()
}

/// Figures of one collar at one moment.
public struct CollarReading: Equatable, Sendable {
    /// The collar's factory id.
    public var deviceID: UInt64
    /// The collar's current log; nil before there is one.
    public var logID: UInt32?
    /// Fixes stored since the start.
    public var fixCount: Int
    /// Messages stored since the start.
    public var messageCount: Int
    /// Fixes and messages received again since the start.
    public var duplicateCount: Int
    /// The highest known sequence of the current log; nil before a sequence is known.
    public var highestSequence: UInt32?
    /// The number of missing sequences up to ``highestSequence``: their fixes are not stored, but may still come.
    public var missingCount: UInt64
    /// Size of the collar's journal in bytes; nil if the journal cannot be read.
    public var journalByteCount: Int?
    /// The consumer's lag; nil if no fixes are emitted, or the journal cannot be read.
    public var lag: EmissionLag?
    /// The collar's last status since the start; nil before the first.
    public var status: Status?
    /// Whether the collar is reachable; nil while that is not known.
    public var isReachable: Bool?
    /// Microseconds since the collar was heard last, or since its link was opened; nil while its link is closed.
    public var silentMicroseconds: Int64?
    /// Whether the collar was heard since the start.
    public var isHeard = false
    /// The boot count in the collar's last identity since the start; nil before the first.
    public var bootCount: UInt32?
}

extension HostReading {
    /// Adds up the figures of all collars.
    init(
        statistics: HostStatistics, emitsFixes: Bool, isStorageFailing: Bool, collars: [CollarReading],
        latencies: HostLatencies = HostLatencies()
    ) {
        self.statistics = statistics
        self.latencies = latencies
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
