
extension ReceiverFigure {
    /// The family of metrics to which the figure belongs, and the label that tells it from the others there.
    package var metric: (family: Metric, labels: [(name: String, value: String)]) {
        switch self {
        case .uptime: (Metric("uptime_seconds", .gauge, fractionDigits: 3, "Time since the start of the receiver."), [])
        case .fixes: (Metric("fixes_total", .counter, "Fixes stored since the start of the receiver."), [])
        case .messages: (Metric("messages_total", .counter, "Messages of collars stored since the start of the receiver."), [])
        case .duplicates:
            (Metric("duplicates_total", .counter, "Fixes and messages that came again since the start of the receiver."), [])
        case .lines: (Metric("lines_total", .counter, "Lines written to the standard output since the start of the receiver."), [])
        case .frames: (ReceiverFigure.framesFamily, [("kind", "valid")])
        case .damagedFrames: (ReceiverFigure.framesFamily, [("kind", "damaged")])
        case .unknownFrames: (ReceiverFigure.framesFamily, [("kind", "unknown")])
        case .unsupportedFrames: (ReceiverFigure.framesFamily, [("kind", "unsupported")])
        case .unopenedFrames: (ReceiverFigure.framesFamily, [("kind", "unopened")])
        case .malformedFrames: (ReceiverFigure.framesFamily, [("kind", "malformed")])
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

    private static let framesFamily = Metric(
        "frames_total", .counter, "Frames received since the start of the receiver, by what became of them.")

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
        case .gnssTime:
            Metric("collar_gnss_seconds_total", .counter, "Time in which the GNSS receiver of the collar was on since its boot.")
        case .listeningTime:
            Metric(
                "collar_listening_seconds_total", .counter, fractionDigits: 3,
                "Time in which the radio of the collar had to receive since its boot.")
        case .awakeTime:
            Metric(
                "collar_awake_seconds_total", .counter, fractionDigits: 3,
                "Time in which the processor of the collar was awake since its boot.")
        case .searches: Metric("collar_searches_total", .counter, "Searches for a position since the boot of the collar.")
        case .searchFailures:
            Metric("collar_search_failures_total", .counter, "Searches without a position since the boot of the collar.")
        case .failuresInRow: Metric("collar_search_failures_in_row", .gauge, "Searches without a position since the last position.")
        case .timeToFix:
            Metric(
                "collar_time_to_fix_seconds", .gauge, fractionDigits: 3,
                "Time from the last switching on of the GNSS receiver to a position.")
        case .fixInterval:
            Metric("collar_fix_interval_seconds", .gauge, fractionDigits: 3, "Interval between the fixes that the collar makes now.")
        case .heartbeat: Metric("collar_heartbeat_seconds", .gauge, "Longest silence of the collar, as it has told it.")
        case .staleAge:
            Metric(
                "collar_stale_after_seconds", .gauge, fractionDigits: 3,
                "Age at which the newest fix is stale by the schedule of the collar.")
        }
    }
}

// The families of what is stored, and those that have no figure.
extension Metric {
    package static let up = Metric("up", .gauge, "Whether a running receiver has told its figures.")
    package static let errors = Metric("errors_total", .counter, "Errors reported since the start of the receiver, by code.")
    package static let targetMet = Metric(
        "target_met", .gauge,
        "Whether a target is met: 95 % of fixes within 0.5 s and of answers within 0.1 s; 50 MB of memory; 10 % of a processor.")

    package static let lastFix = Metric(
        "collar_last_fix_timestamp_seconds", .gauge, fractionDigits: 3, "Time of the newest fix, by the clock of the collar.")
    package static let lastReception = Metric(
        "collar_last_reception_timestamp_seconds", .gauge, fractionDigits: 3, "When the newest fix was received.")
    package static let battery = Metric("collar_battery_percent", .gauge, "Charge of the battery in the newest fix, 0 to 100.")
    package static let batteryDrain = Metric(
        "collar_battery_drain_percent_per_hour", .gauge, fractionDigits: 3,
        "Discharge of the battery in the last day, or since it was charged.")
    package static let strength = Metric("collar_rssi_dbm", .gauge, "Received strength of the newest fix.")
    package static let signalToNoise = Metric("collar_snr_db", .gauge, fractionDigits: 1, "Signal-to-noise ratio of the newest fix.")
    package static let missing = Metric(
        "collar_missing_fixes", .gauge,
        "Sequences of the current log that are missing: they are asked for until they are there or lost.")
    package static let lost = Metric("collar_lost_fixes", .gauge, "Fixes that are no longer expected.")
    package static let stored = Metric(
        "collar_stored_total", .counter, "Fixes and messages that were stored, including those that were removed as old ones.")
    package static let journalBytes = Metric("collar_journal_bytes", .gauge, "Size of the journal.")

    package static let readerLagEntries = Metric("reader_lag_entries", .gauge, "Fixes and messages that the reader has not taken.")
    package static let readerLag = Metric(
        "reader_lag_seconds", .gauge, fractionDigits: 3,
        "Time since the reception of the oldest fix or message that the reader has not taken.")
    package static let readerSeen = Metric(
        "reader_last_seen_timestamp_seconds", .gauge, fractionDigits: 3, "When the reader was active last.")
    package static let readerUnreadable = Metric(
        "reader_unreadable", .gauge, "Whether the file of the reader cannot be read; then nothing else is known of the reader.")
}
