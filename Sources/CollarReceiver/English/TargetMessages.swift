import CollarControl
import CollarErrors

extension PerformanceTarget {
    /// The target is missed.
    /// - Parameter value: the measured figure, in its unit.
    func missedMessage(measured value: Int64) -> UserMessage {
        switch self {
        case .fixLatency:
            UserMessage(
                .targetMissed, "95 % of the last 100 new fixes came within \(value / 1000) ms of their time; the target is less than 500 ms",
                "Set the clock of this machine by NTP. On LoRa, use a lower spreading factor where the range allows it.")
        case .messageLatency:
            UserMessage(
                .targetMissed, "95 % of the last 100 answers to collars took up to \(value / 1000) ms; the target is less than 100 ms",
                "Look for what keeps the disk or the processor of this machine busy; an SD card may be worn out.")
        case .memory:
            UserMessage(
                .targetMissed, "this program uses \(value / 1_000_000) MB of memory; the target is at most 50 MB",
                "Restart it at a quiet time, and report this as a fault of the program.")
        case .processor:
            UserMessage(
                .targetMissed, "this program has used \(value) % of a processor since its start; the target is less than 10 %",
                "Look for a device that sends without a pause: the counts of frames in the `stats` lines say how many are of no use.")
        }
    }
}
