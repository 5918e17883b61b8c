import CollarControl
import CollarErrors
import CollarHost

/// Counts of a receiver since its start.
package struct ReceiverStatistics: Equatable, Sendable {
    /// Counts of its host.
    package var host = HostStatistics()
    /// Lines written.
    package var lines = 0
}

/// Figures of a receiver at one moment.
struct ReceiverReading {
    /// Figures of its host.
    var host: HostReading
    /// Lines written.
    var lineCount: Int
    /// Microseconds since the start.
    var uptimeMicroseconds: Int64
    /// For how long the consumer has not read, in milliseconds; nil while it reads.
    var outputBlockedMilliseconds: Int64?
    /// Airtime of what sticks were given to transmit since the start, in microseconds.
    var airtimeMicroseconds: Int64 = 0
    /// How many errors of each code were reported since the start.
    var errorCounts: [ErrorCode: Int] = [:]
    /// The radios.
    var radios: [RadioFigures] = []
    /// What the process uses; nil where it was not asked for.
    var usage: ProcessUsage?
}
