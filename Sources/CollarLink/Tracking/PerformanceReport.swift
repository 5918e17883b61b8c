import CollarControl
import CollarErrors
import CollarTracking

/// Figures of performance at one moment.
public struct PerformanceReport: Equatable, Sendable {
    /// A figure that has a target.
    public enum Target: String, CaseIterable, Sendable {
        /// 95 % of the last 100 new fixes come less than 500 ms after they were made.
        case fixLatency
        /// 95 % of the last 100 messages are acknowledged within less than 100 ms, on a link as fast as a serial line.
        case messageLatency
        /// This program uses at most 50 MB of memory.
        case memory
        /// This program uses less than 10 % of a processor.
        case processor
    }

    /// A latency over the last 100 samples, or all where there are fewer.
    public struct Latency: Equatable, Sendable {
        /// The average in seconds.
        public let average: Double
        /// The 95th percentile in seconds: the lowest sample that at least 95 % of the samples do not exceed.
        public let p95: Double
    }

    /// From the making of a fix to its reception; nil before there is a sample.
    public let fixLatency: Latency?
    /// From the sending of a message to its acknowledgement; nil before there is a sample.
    public let messageLatency: Latency?
    /// The memory of this program, in bytes; nil where the system does not tell it.
    public let memoryBytes: Int?
    /// The use of a processor by this program since the monitor was made or reset, in percent; above 100 with several. Nil in the first
    /// second.
    public let processorPercent: Double?
    /// The charge of the collar's battery, 0 … 1; nil when it is unknown.
    public let batteryFraction: Double?
    /// The discharge of the battery in percent an hour; nil before the charge is known for an hour.
    public let batteryDrainPercentPerHour: Double?
    /// What the link does; nil without a receiver that answers.
    public let link: LinkTelemetry?

    /// Whether a target is met; nil where its figure is unknown.
    public func isMet(_ target: Target) -> Bool? { value(of: target).map { target.rule.isMet(by: $0) } }

    /// A warning for each target that is missed.
    public var warnings: [UserFacingError] {
        Target.allCases.filter { isMet($0) == false }.map { target in
            UserFacingError(.targetMissed, reason: "\(line(of: target)).", remedy: target.remedy)
        }
    }

    /// Lines for a person: each target with its figure, and whether it is met.
    public var summary: String { Target.allCases.map(line(of:)).joined(separator: "\n") }

    private func line(of target: Target) -> String {
        guard let value = value(of: target) else { return "\(target.title): not measured, target \(target.limit)" }
        return "\(target.title): \(target.text(value)), target \(target.limit), \(target.rule.isMet(by: value) ? "met" : "missed")"
    }

    /// The figure that is compared: microseconds, bytes, or percent.
    private func value(of target: Target) -> Int64? {
        switch target {
        case .fixLatency: fixLatency.map { Int64($0.p95 * 1_000_000) }
        case .messageLatency: messageLatency.map { Int64($0.p95 * 1_000_000) }
        case .memory: memoryBytes.map { Int64($0) }
        case .processor: processorPercent.map { Int64($0) }
        }
    }
}

extension PerformanceReport.Target {
    fileprivate var rule: PerformanceTarget {
        switch self {
        case .fixLatency: .fixLatency
        case .messageLatency: .messageLatency
        case .memory: .memory
        case .processor: .processor
        }
    }

    fileprivate var title: String {
        switch self {
        case .fixLatency: "Fix latency (95 %)"
        case .messageLatency: "Message latency (95 %)"
        case .memory: "Memory"
        case .processor: "Processor"
        }
    }

    fileprivate var limit: String {
        switch self {
        case .fixLatency: "less than 500 ms"
        case .messageLatency: "less than 100 ms"
        case .memory: "at most 50 MB"
        case .processor: "less than 10 %"
        }
    }

    fileprivate func text(_ value: Int64) -> String {
        switch self {
        case .fixLatency, .messageLatency: "\(value / 1000) ms"
        case .memory: "\(value / 1_000_000) MB"
        case .processor: "\(value) %"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .fixLatency: "Set the clock of this machine by NTP. On LoRa, use a lower spreading factor where the range allows it."
        case .messageLatency: "Look for a program that keeps the disk or the processor of this machine busy."
        case .memory: "Keep fewer fixes: see `PetTracker(_:historyLimit:)` and `FixDelivery.buffered(limit:)`."
        case .processor: "Do less for each fix, or take only the newest ones: `fixes(.latestOnly)`."
        }
    }
}

extension PerformanceReport.Latency {
    init?(_ summary: LatencySummary?) {
        guard let summary else { return nil }
        self.init(averageMicroseconds: summary.averageMicroseconds, p95Microseconds: summary.p95Microseconds)
    }

    /// - Parameter limit: the longest 95th percentile that counts, in microseconds.
    init?(_ figures: ReceiverFigures?, _ average: ReceiverFigure, _ p95: ReceiverFigure, longest limit: Int64 = .max) {
        guard let average = figures?.values[average], let p95 = figures?.values[p95], p95 <= limit else { return nil }
        self.init(averageMicroseconds: average, p95Microseconds: p95)
    }

    private init(averageMicroseconds: Int64, p95Microseconds: Int64) {
        (average, p95) = (Double(averageMicroseconds) / 1_000_000, Double(p95Microseconds) / 1_000_000)
    }
}
