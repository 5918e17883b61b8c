import CollarFormats

extension ReceiverFigure {
    /// The family of metrics to which the figure belongs, and the label that tells it from the others there.
    package var metric: (family: Metric, labels: [MetricLabel]) {
        switch self {
        case .uptime: (Metric("uptime_seconds", .gauge, fractionDigits: 3, "Time since the start of the receiver."), [])
        case .fixes: (Metric("fixes_total", .counter, "Fixes stored since the start of the receiver."), [])
        case .messages: (Metric("messages_total", .counter, "Messages of collars stored since the start of the receiver."), [])
        case .duplicates:
            (Metric("duplicates_total", .counter, "Fixes and messages that came again since the start of the receiver."), [])
        case .lines: (Metric("lines_total", .counter, "Lines written to the standard output since the start of the receiver."), [])
        case .frames: (ReceiverFigure.frames(), [MetricLabel("kind", "valid")])
        case .damagedFrames: (ReceiverFigure.frames(), [MetricLabel("kind", "damaged")])
        case .unknownFrames: (ReceiverFigure.frames(), [MetricLabel("kind", "unknown")])
        case .unsupportedFrames: (ReceiverFigure.frames(), [MetricLabel("kind", "unsupported")])
        case .unopenedFrames: (ReceiverFigure.frames(), [MetricLabel("kind", "unopened")])
        case .malformedFrames: (ReceiverFigure.frames(), [MetricLabel("kind", "malformed")])
        case .outputBlocked:
            (Metric(
                "output_blocked_seconds", .gauge, fractionDigits: 3,
                "For how long the reader of the standard output has not read."), [])
        case .outputLagBytes:
            (Metric("output_lag_bytes", .gauge, "Bytes of the journals that the standard output does not have yet."), [])
        case .outputLag:
            (Metric(
                "output_lag_seconds", .gauge, fractionDigits: 3,
                "Time since the reception of the oldest fix that the standard output does not have yet."), [])
        case .storageFailing:
            (Metric("storage_failing", .gauge, "Whether a journal cannot store; then nothing of its collar is acknowledged."), [])
        case .fixLatencyAverage: (ReceiverFigure.latency("fix", "average", of: ReceiverFigure.fixMeaning), [])
        case .fixLatencyP95: (ReceiverFigure.latency("fix", "p95", of: ReceiverFigure.fixMeaning), [])
        case .lineLatencyAverage: (ReceiverFigure.latency("line", "average", of: ReceiverFigure.lineMeaning), [])
        case .lineLatencyP95: (ReceiverFigure.latency("line", "p95", of: ReceiverFigure.lineMeaning), [])
        case .messageLatencyAverage: (ReceiverFigure.latency("message", "average", of: ReceiverFigure.messageMeaning), [])
        case .messageLatencyP95: (ReceiverFigure.latency("message", "p95", of: ReceiverFigure.messageMeaning), [])
        case .airtime:
            (Metric(
                "airtime_seconds_total", .counter, fractionDigits: 6,
                "Airtime of what base sticks were given to transmit since the start of the receiver."), [])
        case .residentBytes: (Metric("resident_memory_bytes", .gauge, "Resident memory of the receiver."), [])
        case .processorTime:
            (Metric("cpu_seconds_total", .counter, fractionDigits: 6, "Processor time of the receiver since its start."), [])
        }
    }

    private static func frames() -> Metric {
        Metric("frames_total", .counter, "Frames received since the start of the receiver, by what became of them.")
    }

    private static let fixMeaning = "from the time of a fix, by the clock of its collar, to its reception; newest fixes only"
    private static let lineMeaning = "from the reception of a fix to its line"
    private static let messageMeaning = "from the reception of a poll to its acknowledgement"

    private static func latency(_ name: String, _ statistic: String, of meaning: String) -> Metric {
        Metric(
            "\(name)_latency_\(statistic)_seconds", .gauge, fractionDigits: 6,
            "Latency \(meaning): \(statistic == "p95" ? "95th percentile" : statistic) of the last 100.")
    }
}

extension CollarFigure {
    /// The family of metrics to which the figure belongs.
    package var metric: Metric {
        switch self {
        case .missing: .missing
        case .airtime:
            Metric("collar_airtime_seconds_total", .counter, fractionDigits: 3, "Airtime of the collar since its boot.")
        case .retransmissions:
            Metric("collar_retransmissions_total", .counter, "Frames that the collar has sent again since its boot.")
        case .queueDepth: Metric("collar_queued_fixes", .gauge, "Fixes that wait in the collar for their delivery.")
        case .reachable: Metric("collar_reachable", .gauge, "Whether the collar was heard within three heartbeats.")
        case .silence:
            Metric(
                "collar_silence_seconds", .gauge, fractionDigits: 3,
                "Time since the collar was heard last, or since its radio was opened.")
        case .heard: Metric("collar_heard", .gauge, "Whether the collar was heard since the start of the receiver.")
        case .boots: Metric("collar_boots_total", .counter, "Boots of the collar since it was made.")
        }
    }
}
