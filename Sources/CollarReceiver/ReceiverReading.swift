import CheckedNumbers
import CollarARQ
import CollarControl
import CollarErrors
import CollarHost
import Glibc
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
        self.init()
        let host = reading.host
        let counts = host.statistics
        values = [
            .uptime: reading.uptimeMicroseconds / 1000, .fixes: Int64(counts.fixes), .messages: Int64(counts.messages),
            .duplicates: Int64(counts.duplicates), .lines: Int64(reading.lineCount), .frames: Int64(counts.frames),
            .damagedFrames: Int64(counts.damagedFrames), .unknownFrames: Int64(counts.unknownFrames),
            .unsupportedFrames: Int64(counts.unsupportedFrames), .unopenedFrames: Int64(counts.unopenedFrames),
            .malformedFrames: Int64(counts.malformedFrames), .outputBlocked: (reading.outputBlockedMicroseconds ?? 0) / 1000,
            .storageFailing: host.isStorageFailing ? 1 : 0, .airtime: reading.airtimeMicroseconds,
        ]
        values[.outputLagBytes] = host.lag.map { Int64($0.byteCount) }
        values[.outputLag] = host.lag?.milliseconds
        values[.fixLatencyAverage] = host.latencies.fix?.averageMicroseconds
        values[.fixLatencyP95] = host.latencies.fix?.p95Microseconds
        values[.lineLatencyAverage] = host.latencies.line?.averageMicroseconds
        values[.lineLatencyP95] = host.latencies.line?.p95Microseconds
        values[.messageLatencyAverage] = host.latencies.message?.averageMicroseconds
        values[.messageLatencyP95] = host.latencies.message?.p95Microseconds
        values[.processorTime] = reading.usage?.processorMicroseconds
        values[.residentBytes] = reading.usage?.residentByteCount
        for (code, count) in reading.errorCounts { errorCounts[code.rawValue] = Int64(count) }
        radios = reading.radios
        for collar in host.collars {
            var values: [CollarFigure: Int64] = [:]
            if collar.highestSequence != nil { values[.missing] = Int64(clamping: collar.missingCount) }
            values[.airtime] = collar.status.map { Int64($0.airtimeMilliseconds) }
            values[.retransmissions] = collar.status.map { Int64($0.retransmissions) }
            values[.queueDepth] = collar.status.map { Int64($0.queueDepth) }
            values[.reachable] = collar.isReachable.map { $0 ? 1 : 0 }
            values[.heard] = collar.isHeard ? 1 : 0
            values[.boots] = collar.bootCount.map { Int64($0) }
            values[.silence] = collar.silentMicroseconds.map { $0 / 1000 }
            collars[collar.deviceID] = values
        }
    }
}

/// Processor time and memory of the process.
struct ProcessUsage: Equatable {
    /// Processor time since the start of the process, of the program and of the system for it, in microseconds.
    var processorMicroseconds: Int64
    /// Resident memory in bytes; nil where the system does not tell it.
    var residentByteCount: Int64?

    static var now: ProcessUsage {
        ProcessUsage(
            processorMicroseconds: MonotonicClock.microseconds(of: CLOCK_PROCESS_CPUTIME_ID), residentByteCount: residentByteCount)
    }

    private static var residentByteCount: Int64? {
        // The second number is the count of resident pages.
        let words = SystemFiles.firstLine(of: "/proc/self/statm")?.split(separator: " ") ?? []
        guard words.count > 1, let pages = Int64(words[1], in: .exactNumbers) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }
}

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
