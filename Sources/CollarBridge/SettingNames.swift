import CollarWire

/// Names, units and ranges of settings, as section 14 of PROTOCOL.md lists them.
extension SettingKey {
    /// All of them, in the order of their numbers.
    public static let all = (1...10).compactMap { SettingKey(rawValue: $0) }

    /// The name for programs and command lines; it ends with the unit.
    public var name: String {
        switch self {
        case .intervalMilliseconds: "interval_ms"
        case .lowBatteryMovingIntervalMilliseconds: "low_battery_moving_interval_ms"
        case .lowBatteryStationaryIntervalMilliseconds: "low_battery_stationary_interval_ms"
        case .criticalBatteryIntervalMilliseconds: "critical_battery_interval_ms"
        case .accuracyChangeCentimeters: "accuracy_change_cm"
        case .stationaryDistanceCentimeters: "stationary_distance_cm"
        case .stationarySeconds: "stationary_s"
        case .heartbeatSeconds: "heartbeat_s"
        case .positionDigits: "position_digits"
        case .altitudeDigits: "altitude_digits"
        }
    }

    /// The setting of a name; nil where there is none.
    public init?(name: String) {
        guard let key = SettingKey.all.first(where: { $0.name == name }) else { return nil }
        self = key
    }

    /// Values that a collar accepts.
    public var range: ClosedRange<UInt32> {
        switch self {
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

    /// What it sets, for a person.
    public var meaning: String {
        switch self {
        case .intervalMilliseconds: "milliseconds between sent fixes, above 20 % battery"
        case .lowBatteryMovingIntervalMilliseconds: "the same at 10 to 20 %, moving"
        case .lowBatteryStationaryIntervalMilliseconds: "the same at 10 to 20 %, stationary"
        case .criticalBatteryIntervalMilliseconds: "the same below 10 %"
        case .accuracyChangeCentimeters: "change of horizontal accuracy that is always sent, centimetres"
        case .stationaryDistanceCentimeters: "stationary: moved less than this, centimetres"
        case .stationarySeconds: "stationary: for this long, seconds"
        case .heartbeatSeconds: "longest silence, seconds"
        case .positionDigits: "decimal places of a degree"
        case .altitudeDigits: "decimal places of a metre of altitude"
        }
    }
}
