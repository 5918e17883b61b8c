import CollarWire

extension Status {
    /// The status as one line of JSON that ends with a line feed; `Protocol/schema/status.schema.json` describes it.
    /// - Parameters:
    ///   - unixMilliseconds: when the host received it, in milliseconds since 1970 by its own clock.
    ///   - deviceID: the collar's factory id.
    ///   - logID: the log in whose name it spoke.
    public func line(unixMilliseconds: Int64, deviceID: UInt64, logID: UInt32) -> [UInt8] {
        var object = ObjectText(type: "status", unixMilliseconds: unixMilliseconds)
        object.add("collar", MessageText.hexadecimal(deviceID))
        object.add("log", logID)
        object.add("tracking", isTracking)
        let since = Int64(trackingSinceUnixSeconds) * 1000
        object.add("tracking_since_unix_ms", since == 0 ? nil : since)
        object.add("gnss", "\(gnssState)")
        object.add("throttle", throttleState.name)
        object.add("stationary", isStationary)
        object.add("battery_pct", batteryPercent)
        object.add("battery_mv", batteryMillivolts)
        object.add("temperature_c", temperatureCelsius)
        object.add("uptime_s", uptimeSeconds)
        object.add("last_error", lastErrorCode == 0 ? nil : lastErrorCode)
        object.add("fixes_sent", fixesSent)
        object.add("queue_depth", queueDepth)
        object.add("drops", drops)
        object.add("duplicates", duplicates)
        object.add("retransmissions", retransmissions)
        object.add("airtime_ms", airtimeMilliseconds)
        object.add("clock_unix_ms", clockMapping?.unixMilliseconds)
        object.add("clock_uptime_ms", clockMapping?.uptimeMilliseconds)
        return object.line
    }
}

extension Status.ThrottleState {
    fileprivate var name: String {
        switch self {
        case .none: "none"
        case .lowBattery: "low_battery"
        case .criticalBattery: "critical_battery"
        case .dutyCycle: "duty_cycle"
        }
    }
}
