import CollarWire

/// Finds the heartbeat in force in the settings that a collar reports. A report has several frames.
struct ReportedHeartbeat {
    private var version = SettingsVersion.defaults
    /// The values of this version that have come, by key.
    private var values: [UInt8: UInt32] = [:]

    /// One frame of a report came in.
    /// - Returns: the heartbeat in seconds; nil while that is not told. While the setting has its default, it follows from the
    ///   intervals.
    mutating func accept(_ report: Settings) -> UInt16? {
        if report.version != version { values = [:] }
        version = report.version
        for index in 0..<report.entries.count { values[report.entries[index].key] = report.entries[index].value }
        guard let told = values[SettingKey.heartbeatSeconds.rawValue] else { return nil }
        // 0 means the default in an identity.
        guard told == 0 || told == DefaultHeartbeat.leastSeconds else { return UInt16(clamping: told) }
        var longest: UInt32 = 0
        for raw in 1...SettingKey.count where SettingKey(rawValue: raw)?.isInterval == true {
            guard let interval = values[raw] else { return nil }
            longest = max(longest, interval)
        }
        return DefaultHeartbeat.seconds(longestIntervalMilliseconds: longest)
    }
}
