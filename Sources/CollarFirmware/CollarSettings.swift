import CollarWire

/// What a host may set: how often fixes are sent, when the collar counts as stationary, how fine fixes are. The core obeys
/// the heartbeat; the rest is for the firmware.
public struct CollarSettings: Equatable, Sendable {
    /// Grows with every change; 0 while nothing was ever set.
    public internal(set) var version: UInt64 = 0
    /// By their keys, from 1 on; these hold while nothing was set.
    private var values: InlineArray<10, UInt32> = [500, 1000, 2000, 5000, 500, 500, 30, 60, 5, 0]

    /// What holds while nothing was set.
    init(heartbeatSeconds: UInt32) { self[.heartbeatSeconds] = heartbeatSeconds }

    /// What was kept.
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

    /// Same version and values.
    public static func == (left: CollarSettings, right: CollarSettings) -> Bool {
        for index in 0..<10 where left.values[index] != right.values[index] { return false }
        return left.version == right.version
    }

    /// These settings with those of an order in place of them; of equal keys the last, of unknown ones none.
    /// - Returns: nil where a value is out of its range.
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
