import CollarARQ
import CollarControl
import CollarHost

/// Finds the targets that a receiver begins to miss. A target is told again only after it was met, and at most once an hour: one
/// that a slow radio can never meet is told once.
struct TargetMonitor {
    /// The least time between two reports of one target, in microseconds.
    static let interval: Int64 = 3_600_000_000
    /// The processor time counts from this time after the start on, in microseconds: a start reads files, and takes in a backlog.
    static let startMicroseconds: Int64 = 600_000_000
    /// A longer latency of a fix, in microseconds, is that of a collar that was out of reach, of a wrong clock, or of an old track.
    static let longestFixLatency: Int64 = 60_000_000

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
        if latencies.fix.map({ !$0.isComplete || $0.p95Microseconds > longestFixLatency }) ?? false { reading.host.latencies.fix = nil }
        if latencies.message?.isComplete == false { reading.host.latencies.message = nil }
        if reading.uptimeMicroseconds < startMicroseconds { reading.uptimeMicroseconds = 0 }
        return reading
    }
}

extension PerformanceTarget {
    /// The figure that is compared: microseconds, bytes, or percent of a processor.
    fileprivate func value(in figures: ReceiverFigures) -> Int64? {
        switch self {
        case .fixLatency: figures.values[.fixLatencyP95]
        case .messageLatency: figures.values[.messageLatencyP95]
        case .memory: figures.values[.residentBytes]
        case .processor:
            // Microseconds and milliseconds.
            figures.values[.processorTime].flatMap { used in figures.values[.uptime].map { used / max(1, $0 * 10) } }
        }
    }
}
