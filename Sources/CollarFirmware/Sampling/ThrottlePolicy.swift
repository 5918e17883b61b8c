import CollarWire

/// How much a collar makes and sends, as its battery and its motion allow and its settings say (PROTOCOL.md, section 14).
public struct ThrottlePolicy: Equatable, Sendable {
    /// The state of the battery as far as it limits a collar.
    public enum Battery: UInt8, Equatable, Comparable, Sendable {
        /// Below 10 %.
        case critical = 0
        /// 10 … 20 %.
        case low = 1
        /// Above 20 %, or unknown.
        case good = 2

        /// The state at a charge of 0 … 100 percent; nil if the charge is unknown.
        public init(percent: UInt8?) {
            guard let percent else {
                self = .good
                return
            }
            self = percent < 10 ? .critical : percent <= 20 ? .low : .good
        }

        /// Whether `left` is the emptier one.
        public static func < (left: Battery, right: Battery) -> Bool { left.rawValue < right.rawValue }
    }

    /// The shortest time between two newest fixes that are sent, in milliseconds. What is not sent then goes in batches.
    public let liveIntervalMilliseconds: UInt32
    /// The shortest time between two fixes that are logged, in milliseconds; nil if every reading of the GNSS receiver is logged.
    public let captureIntervalMilliseconds: UInt32?

    /// The policy for a collar with this battery and motion.
    public init(battery: Battery, isStationary: Bool, settings: CollarSettings) {
        let live: SettingKey
        switch (battery, isStationary) {
        case (.good, false): live = .intervalMilliseconds
        case (.good, true): live = .stationaryIntervalMilliseconds
        case (.low, false): live = .lowBatteryMovingIntervalMilliseconds
        case (.low, true): live = .lowBatteryStationaryIntervalMilliseconds
        case (.critical, _): live = .criticalBatteryIntervalMilliseconds
        }
        liveIntervalMilliseconds = settings[live]
        captureIntervalMilliseconds = battery < .good ? settings[.lowBatteryCaptureIntervalMilliseconds] : nil
    }
}

extension ThrottlePolicy.Battery {
    /// What a status says of it.
    var throttleState: Status.ThrottleState {
        switch self {
        case .good: .none
        case .low: .lowBattery
        case .critical: .criticalBattery
        }
    }
}
