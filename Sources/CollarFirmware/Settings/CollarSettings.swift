import CollarWire

/// The settings that a host may change: how often fixes are sent, when the collar counts as stationary, and how fine the steps of
/// fixes are. The core itself applies the heartbeat, which is the longest silence, and, at the next boot, the turnaround; the
/// firmware must apply all other settings.
public struct CollarSettings: Equatable, Sendable {
    /// The version of the settings. It grows with every change and is 0 before the first one.
    public internal(set) var version = SettingsVersion.defaults
    /// The values by key, from key 1 on; at first the defaults.
    private var values: InlineArray<24, UInt32> = [
        500, 1000, 2000, 5000, 500, 500, 30, 60, 5, 0, 500, 5000, 0, 0, 0, 0, 0, 60, 2000, 0, 0, 3600, 10, 0,
    ]

    init(heartbeatSeconds: UInt32) { self[.heartbeatSeconds] = heartbeatSeconds }

    /// Reads the settings from flash; they are the defaults if none are stored.
    init<Flash>(stored: SettingsStore<Flash>, defaultHeartbeatSeconds: UInt32) {
        self.init(heartbeatSeconds: defaultHeartbeatSeconds)
        guard let version = stored.value(of: .settingsVersion) else { return }
        self.version = SettingsVersion(rawValue: version)
        for index in 0..<CollarSettings.pairCount {
            guard let pair = CollarSettings.pair(index), let value = stored.value(of: pair.key) else { continue }
            self.values[pair.first] = UInt32(truncatingIfNeeded: value &>> 32)
            self.values[pair.first &+ 1] = UInt32(truncatingIfNeeded: value)
        }
    }

    func store(in values: inout StoredValues) {
        values[.settingsLost] = nil
        values[.settingsVersion] = version.rawValue
        for index in 0..<CollarSettings.pairCount {
            guard let pair = CollarSettings.pair(index) else { continue }
            values[pair.key] = UInt64(widening: self.values[pair.first]) &<< 32 | UInt64(widening: self.values[pair.first &+ 1])
        }
    }

    private static var pairCount: UInt8 { 12 }

    /// The stored value that holds two settings, and the index of the first of them.
    private static func pair(_ index: UInt8) -> (key: StoredKey, first: Int)? {
        let raw =
            switch index {
            case 0..<5: StoredKey.settings1.rawValue + index
            case 5..<8: StoredKey.settings11.rawValue + index - 5
            default: StoredKey.settings17.rawValue + index - 8
            }
        return StoredKey(rawValue: raw).map { ($0, 2 * Int(index)) }
    }

    /// A setting, in the unit of its key.
    public internal(set) subscript(key: SettingKey) -> UInt32 {
        get { values[Int(key.rawValue) &- 1] }
        set { values[Int(key.rawValue) &- 1] = newValue }
    }

    /// The heartbeat in force, in seconds (PROTOCOL.md, section 18): the setting; but where that has its default, and positions are
    /// logged, at least 1.5 times the longest interval between fixes. A collar that sends no more often than the default
    /// heartbeat would else send a probe between two fixes.
    func heartbeatInForce(defaultSeconds: UInt32, isTracking: Bool, isAtRest: Bool) -> UInt32 {
        if isTracking, isAtRest, self[.restHeartbeatSeconds] > 0 { return self[.restHeartbeatSeconds] }
        guard self[.heartbeatSeconds] == defaultSeconds, isTracking else { return self[.heartbeatSeconds] }
        var longest: UInt32 = 0
        for raw in 1...SettingKey.count {
            if let key = SettingKey(rawValue: raw), key.isInterval { longest = max(longest, self[key]) }
        }
        return UInt32(DefaultHeartbeat.seconds(longestIntervalMilliseconds: longest, leastSeconds: defaultSeconds))
    }

    /// Whether the versions and all values are the same.
    public static func == (left: CollarSettings, right: CollarSettings) -> Bool {
        for index in 0..<24 where left.values[index] != right.values[index] { return false }
        return left.version == right.version
    }

    /// These settings, changed by the entries of an update. The last entry of a key counts; unknown keys are ignored.
    /// - Returns: nil if a value is out of range.
    func applying(_ entries: SettingList) -> CollarSettings? {
        var new = self
        for index in 0..<entries.count {
            guard let key = SettingKey(rawValue: entries[index].key) else { continue }
            guard key.accepts(entries[index].value) else { return nil }
            new[key] = entries[index].value
        }
        return new
    }

    /// The settings of some keys.
    func entries(_ keys: SettingKeys) -> SettingList {
        var entries = SettingList()
        for raw in 1...SettingKey.count where keys.contains(raw) {
            if let key = SettingKey(rawValue: raw) { entries.append(Setting(key: raw, value: self[key])) }
        }
        return entries
    }
}

/// Keys of settings that one frame of a report names.
struct SettingKeys: Equatable, Sendable {
    private var bits: UInt32

    /// The number of frames of a report of all settings.
    static var partCount: UInt8 { 4 }

    /// The keys of one frame of a report of all settings: 1 … 6, 7 … 12, 13 … 18, or 19 … 23.
    init(part: UInt8) { bits = 0b11_1111 &<< UInt32(6 &* part &+ 1) }

    /// The keys that an update names and the collar knows.
    init(of entries: SettingList) {
        bits = 0
        for index in 0..<entries.count where SettingKey(rawValue: entries[index].key) != nil { bits |= 1 &<< UInt32(entries[index].key) }
    }

    func contains(_ key: UInt8) -> Bool { bits & 1 &<< UInt32(key) != 0 }
}
