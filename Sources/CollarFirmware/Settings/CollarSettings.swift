import CollarWire

/// The settings that a host may change: how often fixes are sent, when the collar counts as stationary, and how fine the steps of
/// fixes are. The core itself applies the heartbeat, which is the longest silence; the firmware must apply all other settings.
public struct CollarSettings: Equatable, Sendable {
    /// The version of the settings. It grows with every change and is 0 before the first one.
    public internal(set) var version: UInt64 = 0
    /// The values by key, from key 1 on; at first the defaults.
    private var values: InlineArray<10, UInt32> = [500, 1000, 2000, 5000, 500, 500, 30, 60, 5, 0]

    /// Creates the default settings.
    init(heartbeatSeconds: UInt32) { self[.heartbeatSeconds] = heartbeatSeconds }

    /// Reads the settings from flash; they are the defaults if none are stored.
    init<Flash>(stored: SettingsStore<Flash>, defaultHeartbeatSeconds: UInt32) {
        self.init(heartbeatSeconds: defaultHeartbeatSeconds)
        guard let version = stored.value(of: .settingsVersion) else { return }
        self.version = version
        for index in 0..<5 as Range<UInt8> {
            guard let pair = CollarSettings.pair(index), let value = stored.value(of: pair.key) else { continue }
            self[pair.high] = UInt32(truncatingIfNeeded: value &>> 32)
            self[pair.low] = UInt32(truncatingIfNeeded: value)
        }
    }

    func store(in values: inout StoredValues) {
        values[.settingsVersion] = version
        for index in 0..<5 as Range<UInt8> {
            guard let pair = CollarSettings.pair(index) else { continue }
            values[pair.key] = UInt64(widening: self[pair.high]) &<< 32 | UInt64(widening: self[pair.low])
        }
    }

    private static func pair(_ index: UInt8) -> (key: StoredKey, high: SettingKey, low: SettingKey)? {
        guard let key = StoredKey(rawValue: StoredKey.settings1.rawValue + index),
            let high = SettingKey(rawValue: 2 * index + 1), let low = SettingKey(rawValue: 2 * index + 2)
        else { return nil }
        return (key, high, low)
    }

    /// A setting, in the unit of its key.
    public internal(set) subscript(key: SettingKey) -> UInt32 {
        get { values[Int(key.rawValue) &- 1] }
        set { values[Int(key.rawValue) &- 1] = newValue }
    }

    /// Whether the versions and all values are the same.
    public static func == (left: CollarSettings, right: CollarSettings) -> Bool {
        for index in 0..<10 where left.values[index] != right.values[index] { return false }
        return left.version == right.version
    }

    /// These settings, changed by the entries of an update. The last entry of a key counts; unknown keys are ignored.
    /// - Returns: nil if a value is out of range.
    func applying(_ entries: SettingList) -> CollarSettings? {
        var new = self
        for index in 0..<entries.count {
            guard let key = SettingKey(rawValue: entries[index].key) else { continue }
            guard key.range.contains(entries[index].value) else { return nil }
            new[key] = entries[index].value
        }
        return new
    }

    /// The settings of one frame of a report: keys 1 … 6, or 7 … 10.
    func entries(ofPart part: UInt8) -> SettingList {
        var entries = SettingList()
        for raw in (part == 0 ? 1 : 7)...(part == 0 ? 6 : 10) as ClosedRange<UInt8> {
            if let key = SettingKey(rawValue: raw) { entries.append(Setting(key: raw, value: self[key])) }
        }
        return entries
    }
}
