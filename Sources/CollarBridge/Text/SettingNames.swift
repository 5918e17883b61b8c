import CollarWire

/// Names and units of settings, as section 14 of PROTOCOL.md lists them.
extension SettingKey {
    /// All settings, in the order of their numbers.
    public static let all = (1...SettingKey.count).compactMap { SettingKey(rawValue: $0) }

    /// The name for programs and command lines; it ends with the unit.
    public var name: String { texts.name }

    /// The meaning of the setting, for a person.
    public var meaning: String { texts.meaning }

    /// The values that a collar accepts, for a person: `5 to 12, or 0`.
    public var rangeText: String {
        "\(range.lowerBound) to \(range.upperBound)" + (isZeroAccepted ? ", or 0" : "")
    }

    private var texts: (name: String, meaning: String) {
        switch self {
        case .intervalMilliseconds: ("interval_ms", "milliseconds between sent fixes, above 20 % battery, moving")
        case .lowBatteryMovingIntervalMilliseconds: ("low_battery_moving_interval_ms", "the same at 10 to 20 %, moving")
        case .lowBatteryStationaryIntervalMilliseconds: ("low_battery_stationary_interval_ms", "the same at 10 to 20 %, stationary")
        case .criticalBatteryIntervalMilliseconds: ("critical_battery_interval_ms", "the same below 10 %")
        case .accuracyChangeCentimeters: ("accuracy_change_cm", "change of horizontal accuracy that is always sent, centimetres")
        case .stationaryDistanceCentimeters: ("stationary_distance_cm", "stationary: moved less than this, centimetres")
        case .stationarySeconds: ("stationary_s", "stationary: for this long, seconds")
        case .heartbeatSeconds: ("heartbeat_s", "longest silence, seconds")
        case .positionDigits: ("position_digits", "decimal places of a degree")
        case .altitudeDigits: ("altitude_digits", "decimal places of a metre of altitude")
        case .stationaryIntervalMilliseconds: ("stationary_interval_ms", "milliseconds between sent fixes, above 20 %, stationary")
        case .lowBatteryCaptureIntervalMilliseconds: ("low_battery_capture_interval_ms", "milliseconds between fixes made, up to 20 %")
        case .spreadingFactor: ("spreading_factor", "LoRa, from the next boot on; 0: as built")
        case .turnaroundMilliseconds: ("turnaround_ms", "from poll to answer, from the next boot on; 0: as built")
        case .modemHeaderBytes: ("modem_header_bytes", "bytes a frame that the modem adds, from the next boot on")
        }
    }

    /// The setting with this name; nil where there is none.
    public init?(name: String) {
        guard let key = SettingKey.all.first(where: { $0.name == name }) else { return nil }
        self = key
    }
}
