import CollarWire

/// The part of the status that only the firmware knows. Values out of range are sent as unknown.
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
    /// The uptime and the time of day at the same moment; nil if the time of day is not known. The uptime counts from the instant
    /// of the boot.
    public var clockMapping: Status.ClockMapping?

    /// Creates a condition with the default values.
    public init() {}

    /// The time of day at an uptime, in seconds since 1970; 0 if the time of day is not known.
    func unixSeconds(atUptimeMilliseconds uptime: UInt32) -> UInt32 {
        guard let clockMapping, Fix.timeRange.contains(clockMapping.unixMilliseconds) else { return 0 }
        let since = Int64(widening: uptime &- clockMapping.uptimeMilliseconds)
        return UInt32(truncatingIfNeeded: (clockMapping.unixMilliseconds + since) / 1000)
    }
}
