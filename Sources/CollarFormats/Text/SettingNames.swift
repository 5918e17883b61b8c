import CollarWire

/// Names and units of settings, as section 14 of PROTOCOL.md lists them.
extension SettingKey {
    /// All settings, in the order of their numbers.
    package static let all = (1...SettingKey.count).compactMap { SettingKey(rawValue: $0) }

    /// The name for programs and command lines; it ends with the unit.
    package var name: String { texts.name }

    /// The meaning of the setting, for a person.
    package var meaning: String { texts.meaning }

    /// The values that a collar accepts, for a person: `5 to 12, or 0`.
    package var rangeText: String {
        "\(range.lowerBound) to \(range.upperBound)" + (isZeroAccepted ? ", or 0" : "")
    }

    /// The value before the first change, for a person. Section 14 of PROTOCOL.md has the defaults, too.
    package var defaultText: String {
        switch self {
        case .intervalMilliseconds, .accuracyChangeCentimeters, .stationaryDistanceCentimeters, .stationaryIntervalMilliseconds: "500"
        case .lowBatteryMovingIntervalMilliseconds: "1000"
        case .lowBatteryStationaryIntervalMilliseconds: "2000"
        case .criticalBatteryIntervalMilliseconds, .lowBatteryCaptureIntervalMilliseconds: "5000"
        case .stationarySeconds: "30"
        case .heartbeatSeconds: "60, or as built"
        case .positionDigits: "5"
        case .altitudeDigits, .spreadingFactor, .turnaroundMilliseconds, .modemHeaderBytes: "0"
        }
    }

    private var texts: (name: String, meaning: String) {
        switch self {
        case .intervalMilliseconds: ("interval_ms", "time between sent fixes: battery above 20 %, moving")
        case .lowBatteryMovingIntervalMilliseconds: ("low_battery_moving_interval_ms", "time between sent fixes: battery 10 to 20 %, moving")
        case .lowBatteryStationaryIntervalMilliseconds: ("low_battery_stationary_interval_ms", "time between sent fixes: battery 10 to 20 %, stationary")
        case .criticalBatteryIntervalMilliseconds: ("critical_battery_interval_ms", "time between sent fixes: battery below 10 %")
        case .accuracyChangeCentimeters: ("accuracy_change_cm", "always send a fix if its horizontal accuracy changed this much")
        case .stationaryDistanceCentimeters: ("stationary_distance_cm", "stationary: moved less than this during stationary_s")
        case .stationarySeconds: ("stationary_s", "stationary: time for stationary_distance_cm")
        case .heartbeatSeconds: ("heartbeat_s", "longest time without a frame from the collar")
        case .positionDigits: ("position_digits", "decimal places of latitude and longitude, in degrees")
        case .altitudeDigits: ("altitude_digits", "decimal places of the altitude, in metres")
        case .stationaryIntervalMilliseconds: ("stationary_interval_ms", "time between sent fixes: battery above 20 %, stationary")
        case .lowBatteryCaptureIntervalMilliseconds: ("low_battery_capture_interval_ms", "time between GNSS fixes: battery 20 % or less")
        case .spreadingFactor: ("spreading_factor", "LoRa spreading factor; 0: as built")
        case .turnaroundMilliseconds: ("turnaround_ms", "longest wait from a poll to its answer; 0: as built")
        case .modemHeaderBytes: ("modem_header_bytes", "bytes that the modem adds to each frame")
        }
    }

    /// The setting with this name; nil where there is none.
    package init?(name: String) {
        guard let key = SettingKey.all.first(where: { $0.name == name }) else { return nil }
        self = key
    }
}
