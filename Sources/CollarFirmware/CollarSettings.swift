import CollarWire

/// What a host may set: how often fixes are sent, when the collar counts as stationary, how fine fixes are. The core obeys
/// the heartbeat; the rest is for the firmware.
public struct CollarSettings: Equatable, Sendable {
    /// Grows with every change; 0 while nothing was ever set.
    public internal(set) var version: UInt64 = 0
    /// Least time between two sent fixes above 20 % of battery, 100 … 86,400,000 ms.
    public internal(set) var intervalMilliseconds: UInt32 = 500
    /// The same at 10 … 20 %, moving.
    public internal(set) var lowBatteryMovingIntervalMilliseconds: UInt32 = 1000
    /// The same at 10 … 20 %, stationary.
    public internal(set) var lowBatteryStationaryIntervalMilliseconds: UInt32 = 2000
    /// The same below 10 %.
    public internal(set) var criticalBatteryIntervalMilliseconds: UInt32 = 5000
    /// Change of horizontal accuracy that is always sent, 1 … 100,000 cm.
    public internal(set) var accuracyChangeCentimeters: UInt32 = 500
    /// Distance below which a collar is stationary, 1 … 100,000 cm.
    public internal(set) var stationaryDistanceCentimeters: UInt32 = 500
    /// Time after which it counts as stationary, 1 … 86,400 s.
    public internal(set) var stationarySeconds: UInt32 = 30
    /// Longest silence, 5 … 65,535 s.
    public internal(set) var heartbeatSeconds: UInt32
    /// Decimal places of a degree, 5 … 7.
    public internal(set) var positionDigits: UInt32 = 5
    /// Decimal places of a metre of altitude, 0 or 1.
    public internal(set) var altitudeDigits: UInt32 = 0

    /// What holds while nothing was set.
    init(heartbeatSeconds: UInt32) { self.heartbeatSeconds = heartbeatSeconds }

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

    subscript(key: SettingKey) -> UInt32 {
        get {
            switch key {
            case .intervalMilliseconds: intervalMilliseconds
            case .lowBatteryMovingIntervalMilliseconds: lowBatteryMovingIntervalMilliseconds
            case .lowBatteryStationaryIntervalMilliseconds: lowBatteryStationaryIntervalMilliseconds
            case .criticalBatteryIntervalMilliseconds: criticalBatteryIntervalMilliseconds
            case .accuracyChangeCentimeters: accuracyChangeCentimeters
            case .stationaryDistanceCentimeters: stationaryDistanceCentimeters
            case .stationarySeconds: stationarySeconds
            case .heartbeatSeconds: heartbeatSeconds
            case .positionDigits: positionDigits
            case .altitudeDigits: altitudeDigits
            }
        }
        set {
            switch key {
            case .intervalMilliseconds: intervalMilliseconds = newValue
            case .lowBatteryMovingIntervalMilliseconds: lowBatteryMovingIntervalMilliseconds = newValue
            case .lowBatteryStationaryIntervalMilliseconds: lowBatteryStationaryIntervalMilliseconds = newValue
            case .criticalBatteryIntervalMilliseconds: criticalBatteryIntervalMilliseconds = newValue
            case .accuracyChangeCentimeters: accuracyChangeCentimeters = newValue
            case .stationaryDistanceCentimeters: stationaryDistanceCentimeters = newValue
            case .stationarySeconds: stationarySeconds = newValue
            case .heartbeatSeconds: heartbeatSeconds = newValue
            case .positionDigits: positionDigits = newValue
            case .altitudeDigits: altitudeDigits = newValue
            }
        }
    }

    private static func range(of key: SettingKey) -> ClosedRange<UInt32> {
        switch key {
        case .intervalMilliseconds, .lowBatteryMovingIntervalMilliseconds, .lowBatteryStationaryIntervalMilliseconds,
            .criticalBatteryIntervalMilliseconds:
            100...86_400_000
        case .accuracyChangeCentimeters, .stationaryDistanceCentimeters: 1...100_000
        case .stationarySeconds: 1...86_400
        case .heartbeatSeconds: 5...65_535
        case .positionDigits: 5...7
        case .altitudeDigits: 0...1
        }
    }

    /// These settings with those of an order in place of them; of equal keys the last, of unknown ones none.
    /// - Returns: nil where a value is out of its range.
    func applying(_ entries: SettingList) -> CollarSettings? {
        var new = self
        for index in 0..<entries.count {
            guard let key = SettingKey(rawValue: entries[index].key) else { continue }
            guard CollarSettings.range(of: key).contains(entries[index].value) else { return nil }
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
