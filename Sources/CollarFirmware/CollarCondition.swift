import CollarWire

/// What only the firmware knows of how the collar is doing; it goes into the status. Values out of range are sent as
/// unknown.
public struct CollarCondition: Equatable, Sendable {
    /// What the GNSS receiver is doing.
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
    /// Code of the last error; 0 for none.
    public var lastErrorCode: UInt8 = 0
    /// The clocks, where the time of day is known. Its uptime counts from the instant at which the collar was booted.
    public var clockMapping: Status.ClockMapping?

    /// A condition in which nothing is known.
    public init() {}

    /// Seconds since 1970 so many milliseconds after the boot; 0 where the time of day is not known.
    func unixSeconds(atUptimeMilliseconds uptime: UInt32) -> UInt32 {
        guard let clockMapping, Fix.timeRange.contains(clockMapping.unixMilliseconds) else { return 0 }
        let since = Int64(widening: uptime &- clockMapping.uptimeMilliseconds)
        return UInt32(truncatingIfNeeded: (clockMapping.unixMilliseconds + since) / 1000)
    }
}
