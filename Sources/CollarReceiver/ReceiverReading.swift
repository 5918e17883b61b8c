import CollarHost

/// Counts of a receiver since its start.
public struct ReceiverStatistics: Equatable, Sendable {
    /// Counts of its host.
    public var host = HostStatistics()
    /// Lines written.
    public var lines = 0
}

/// Figures of a receiver at one moment.
struct ReceiverReading {
    /// Figures of its host.
    var host: HostReading
    /// Lines written.
    var lineCount: Int
    /// Seconds since the start.
    var uptimeSeconds: Int64
    /// For how long the consumer has not read, in milliseconds; nil while it reads.
    var outputBlockedMilliseconds: Int64?
}
