import CollarFormats

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
