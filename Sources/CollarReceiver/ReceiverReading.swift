import CollarARQ
import CollarControl
import CollarErrors
import CollarHost
import LinuxSystem

/// Counts of a receiver since its start.
package struct ReceiverStatistics: Equatable, Sendable {
    package var host = HostStatistics()
    package var lines = 0
}

/// Figures of a receiver at one moment.
struct ReceiverReading {
    var host: HostReading
    var lineCount: Int
    var uptimeMicroseconds: Int64
    /// For how long the consumer has not read, in microseconds; nil while it reads.
    var outputBlockedMicroseconds: Int64?
    /// Airtime of what sticks were given to transmit since the start, in microseconds.
    var airtimeMicroseconds: Int64 = 0
    /// How many errors of each code were reported since the start.
    var errorCounts: [ErrorCode: Int] = [:]
    var radios: [RadioFigures] = []
    /// Nil where it was not measured.
    var usage: ProcessUsage?
}

extension ReceiverFigures {
    init(_ reading: ReceiverReading) {
        self.init(reading.host)
        let more: [ReceiverFigure: Int64] = [
            .uptime: reading.uptimeMicroseconds / 1000, .lines: Int64(reading.lineCount),
            .outputBlocked: (reading.outputBlockedMicroseconds ?? 0) / 1000, .airtime: reading.airtimeMicroseconds,
        ]
        values.merge(more) { _, new in new }
        values[.processorTime] = reading.usage?.processorMicroseconds
        values[.residentBytes] = reading.usage?.residentByteCount
        for (code, count) in reading.errorCounts { errorCounts[code.rawValue] = Int64(count) }
        radios = reading.radios
    }
}

/// Finds the targets that a receiver begins to miss. A target is told again only after it was met, and at most once an hour: one
/// that a slow radio can never meet is told once.
struct TargetMonitor {
    /// The least time between two reports of one target, in microseconds.
    static let interval: Int64 = 3_600_000_000
    /// The processor time counts from this time after the start on, in microseconds: a start reads files, and takes in a backlog.
    static let startMicroseconds: Int64 = 600_000_000

    private var missed: Set<PerformanceTarget> = []
    private var reportedAt: [PerformanceTarget: Instant] = [:]

    /// The targets to report now, with the measured figures: microseconds, bytes, or percent of a processor.
    mutating func newlyMissed(in reading: ReceiverReading, at now: Instant) -> [(target: PerformanceTarget, value: Int64)] {
        let figures = ReceiverFigures(TargetMonitor.judged(reading))
        var reports: [(target: PerformanceTarget, value: Int64)] = []
        for target in PerformanceTarget.allCases {
            guard let isMet = target.isMet(by: figures), let value = target.value(in: figures) else { continue }
            if isMet { missed.remove(target) }
            guard !isMet, !missed.contains(target) else { continue }
            if let last = reportedAt[target], now.microseconds(since: last) < TargetMonitor.interval { continue }
            missed.insert(target)
            reportedAt[target] = now
            reports.append((target, value))
        }
        return reports
    }

    /// The reading without the figures that tell nothing about a target yet.
    private static func judged(_ reading: ReceiverReading) -> ReceiverReading {
        var reading = reading
        let latencies = reading.host.latencies
        if latencies.fix.map({ !$0.isComplete || $0.p95Microseconds > PerformanceTarget.longestFixLatency }) ?? false { reading.host.latencies.fix = nil }
        if latencies.message?.isComplete == false { reading.host.latencies.message = nil }
        if reading.uptimeMicroseconds < startMicroseconds { reading.uptimeMicroseconds = 0 }
        return reading
    }
}
