import CollarWire

/// The part of the status that only the firmware knows. Values out of range are sent as unknown.
public struct CollarCondition: Equatable, Sendable {
    /// The readings of two clocks at the same moment, with which uptime is converted into the time of day.
    public struct ClockMapping: Equatable, Sendable {
        /// Milliseconds since 1970, within `Fix.timeRange`.
        public var unixMilliseconds: Int64
        /// Milliseconds since the instant of the boot.
        public var uptimeMilliseconds: Int64

        /// Creates a mapping.
        public init(unixMilliseconds: Int64, uptimeMilliseconds: Int64) {
            self.unixMilliseconds = unixMilliseconds
            self.uptimeMilliseconds = uptimeMilliseconds
        }
    }

    /// The state of the GNSS receiver.
    public var gnssState = Status.GNSSState.off
    /// What limits the rate of sending.
    public var throttleState = Status.ThrottleState.none
    /// Whether the collar is stationary, as its settings define it.
    public var isStationary = false
    /// Charge, 0 … 100 percent; nil when unknown.
    public var batteryPercent: UInt8?
    /// Voltage of the battery in millivolts, 0 … 8190; nil when unknown.
    public var batteryMillivolts: UInt16?
    /// Temperature, −127 … 127 °C; nil when unknown.
    public var temperatureCelsius: Int8?
    /// The last error.
    public var lastError = CollarFault.none
    /// The uptime and the time of day at the same moment; nil if the time of day is not known.
    public var clockMapping: ClockMapping?

    /// Creates a condition with the default values.
    public init() {}

    /// The time of day at an uptime, in milliseconds since 1970; nil if it is not known.
    func unixMilliseconds(atUptimeMilliseconds uptime: Int64) -> Int64? {
        guard let clockMapping, Fix.timeRange.contains(clockMapping.unixMilliseconds) else { return nil }
        let time = clockMapping.unixMilliseconds &+ (uptime &- clockMapping.uptimeMilliseconds)
        return Fix.timeRange.contains(time) ? time : nil
    }

    /// Whether a status must tell that the condition is another one than it was: the state of the GNSS receiver, the throttle
    /// or the last error, or the battery has crossed 20 or 10 percent.
    func isWorthAStatus(after old: CollarCondition) -> Bool {
        gnssState != old.gnssState || throttleState != old.throttleState || lastError != old.lastError
            || batteryBand != old.batteryBand
    }

    /// 0 below 10 percent, 1 from 10 to 20, 2 above or unknown.
    private var batteryBand: Int {
        guard let batteryPercent else { return 2 }
        return batteryPercent < 10 ? 0 : batteryPercent <= 20 ? 1 : 2
    }
}
