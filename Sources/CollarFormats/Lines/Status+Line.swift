import CollarWire

extension Status {
    /// The status as one line of JSON that ends with a line feed; `Protocol/schema/status.schema.json` describes it.
    /// - Parameters:
    ///   - unixMilliseconds: when the host received the status, in milliseconds since 1970 by the host's clock.
    ///   - deviceID: the collar's factory id.
    ///   - name: the animal that wears the collar then; nil if none is known to.
    ///   - logID: the log that the status frame is bound to.
    package func line(unixMilliseconds: Int64, deviceID: UInt64, name: String? = nil, logID: UInt32) -> [UInt8] {
        var object = JSONLine(type: "status", unixMilliseconds: unixMilliseconds)
        object.add(collar: deviceID, name: name)
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
        object.add("last_error", lastError == .none ? nil : lastError.rawValue)
        object.add("last_error_name", lastError.name)
        object.add("fixes_sent", fixesSent)
        object.add("queue_depth", queueDepth)
        object.add("drops", drops)
        object.add("duplicates", duplicates)
        object.add("retransmissions", retransmissions)
        object.add("airtime_ms", airtimeMilliseconds)
        object.add("clock_unix_ms", clock?.unixMilliseconds)
        object.add("clock_uptime_ms", clock.map { UInt64(uptimeSeconds) * 1000 + UInt64($0.uptimeMilliseconds) })
        return object.line
    }
}

extension CollarFault {
    /// The name for programs; nil for none, and for codes that have no name.
    package var name: String? {
        switch self {
        case .gnssSilent: "gnss_silent"
        case .gnssFault: "gnss_fault"
        case .flashFailed: "flash_failed"
        case .radioFailed: "radio_failed"
        case .lowVoltageReset: "low_voltage_reset"
        case .watchdogReset: "watchdog_reset"
        case .firmwareReset: "firmware_reset"
        case .settingsLost: "settings_lost"
        default: nil
        }
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
