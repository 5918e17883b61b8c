import CollarWire

/// What a collar says about itself: one line of JSON, as `Protocol/schema/status.schema.json` describes it.
public struct StatusLine: Equatable, Sendable {
    /// When the host received it, in milliseconds since 1970 by its own clock.
    public var unixMilliseconds: Int64
    /// The collar's factory id.
    public var deviceID: UInt64
    /// The log in whose name it spoke.
    public var logID: UInt32
    /// What it said.
    public var status: Status

    /// Creates a line.
    public init(unixMilliseconds: Int64, deviceID: UInt64, logID: UInt32, status: Status) {
        self.unixMilliseconds = unixMilliseconds
        self.deviceID = deviceID
        self.logID = logID
        self.status = status
    }

    /// The line as text in UTF-8, which ends with a line feed.
    public var bytes: [UInt8] {
        var object = ObjectText(type: "status")
        object.add("unix_ms", unixMilliseconds)
        object.add("collar", MessageText.hexadecimal(deviceID))
        object.add("log", Int64(logID))
        object.add("tracking", status.isTracking)
        let since = status.trackingSinceUnixSeconds
        object.add("tracking_since_unix_ms", since == 0 ? nil : Int64(since) * 1000)
        object.add("gnss", status.gnssState.name)
        object.add("throttle", status.throttleState.name)
        object.add("stationary", status.isStationary)
        object.add("battery_pct", status.batteryPercent.map { Int64($0) })
        object.add("battery_mv", status.batteryMillivolts.map { Int64($0) })
        object.add("temperature_c", status.temperatureCelsius.map { Int64($0) })
        object.add("uptime_s", Int64(status.uptimeSeconds))
        object.add("last_error", status.lastErrorCode == 0 ? nil : Int64(status.lastErrorCode))
        object.add("fixes_sent", Int64(status.fixesSent))
        object.add("queue_depth", Int64(status.queueDepth))
        object.add("drops", Int64(status.drops))
        object.add("duplicates", Int64(status.duplicates))
        object.add("retransmissions", Int64(status.retransmissions))
        object.add("airtime_ms", Int64(status.airtimeMilliseconds))
        object.add("clock_unix_ms", status.clockMapping?.unixMilliseconds)
        object.add("clock_uptime_ms", status.clockMapping.map { Int64($0.uptimeMilliseconds) })
        return object.line
    }
}

extension Status.GNSSState {
    fileprivate var name: String {
        switch self {
        case .off: "off"
        case .searching: "searching"
        case .fix: "fix"
        case .fault: "fault"
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
