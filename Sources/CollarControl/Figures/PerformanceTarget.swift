/// What a receiver is to reach. The raw value is its name in metrics.
package enum PerformanceTarget: String, CaseIterable, Sendable {
    /// 95 % of the newest fixes are received less than half a second after their time.
    case fixLatency = "fix_latency"
    /// 95 % of the polls are answered within a tenth of a second, on a link as fast as a serial line.
    case messageLatency = "message_latency"
    /// The receiver has at most 50 MB of resident memory.
    case memory
    /// The receiver has used less than a tenth of one processor since its start.
    case processor

    /// Whether the target is met; nil if that is unknown.
    package func isMet(by figures: ReceiverFigures) -> Bool? {
        let values = figures.values
        switch self {
        case .fixLatency: return values[.fixLatencyP95].map { $0 < 500_000 }
        case .messageLatency: return values[.messageLatencyP95].map { $0 < 100_000 }
        case .memory: return values[.residentBytes].map { $0 <= 50_000_000 }
        case .processor:
            guard let used = values[.processorTime], let uptime = values[.uptime], uptime > 0 else { return nil }
            // Microseconds and milliseconds.
            return used < uptime * 100
        }
    }
}
