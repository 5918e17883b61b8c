import CollarJournal
import CollarWire

extension Status {
    /// The status as one line of JSON that ends with a line feed; `Protocol/schema/status.schema.json` describes it.
    /// - Parameters:
    ///   - unixMilliseconds: when the host received the status, in milliseconds since 1970 by the host's clock.
    ///   - logID: the log that the status frame is bound to.
    package func line(unixMilliseconds: Int64, deviceID: DeviceID, name: String? = nil, logID: LogID) -> [UInt8] {
        var object = JSONLine(type: "status", unixMilliseconds: unixMilliseconds)
        object.add(collar: deviceID, name: name)
        object.add("log", logID.rawValue)
        object.add("tracking", isTracking)
        let since = Int64(trackingSinceUnixSeconds) * 1000
        object.add("tracking_since_unix_ms", since == 0 ? nil : since)
        object.add("gnss", "\(gnssState)")
        object.add("throttle", throttleState.name)
        object.add("stationary", isStationary)
        object.add("resting", isResting)
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
        case .gnssNotSwitched: "gnss_not_switched"
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

/// A named reader as a line, as `Protocol/schema/reader.schema.json` describes it.
package struct ReaderLine: Sendable {
    package var name: String
    /// The collars that it reads, ascending; nil for all.
    package var collars: [DeviceID]?
    /// When it was active last, in milliseconds since 1970.
    package var seenUnixMilliseconds: Int64
    /// Fixes and messages, of the kinds that it takes, that it has not taken; nil if a journal cannot be read.
    package var lag: ReaderLag?

    package init(name: String, collars: [DeviceID]?, seenUnixMilliseconds: Int64, lag: ReaderLag?) {
        self.name = name
        self.collars = collars
        self.seenUnixMilliseconds = seenUnixMilliseconds
        self.lag = lag
    }

    /// The line of JSON, with its line feed.
    /// - Parameter now: the present time, in milliseconds since 1970.
    package func line(unixMilliseconds now: Int64) -> [UInt8] {
        var object = JSONLine(type: "reader", unixMilliseconds: now)
        object.add("name", name)
        object.add("collars", collars.map { $0.map(\.description) })
        object.add("seen_unix_ms", seenUnixMilliseconds)
        object.add("lag", lag?.entryCount)
        object.add("lag_ms", lag.map { lag in lag.oldestUnixMilliseconds.map { max(0, now - $0) } ?? 0 })
        return object.line
    }
}

extension LogVerification {
    /// Which fixes of the log are stored, lost, delivered elsewhere, removed, missing and damaged: one line of JSON that ends
    /// with a line feed; `Protocol/schema/verify.schema.json` describes it.
    /// - Parameter isIntact: whether both this log and the files that hold it are free of damage.
    package func line(deviceID: DeviceID, isIntact: Bool) -> [UInt8] {
        var object = JSONLine(type: "verify")
        object.add("collar", "\(deviceID)")
        object.add("log", logID.rawValue)
        object.add("intact", isIntact)
        for (name, _, ranges) in sets { object.add(name, ranges.map { [Int64($0.first), Int64($0.last)] }) }
        return object.line
    }

    /// The same as text for a person: a heading, then a line for each set of fixes that is not empty.
    package func text(deviceID: DeviceID, isIntact: Bool) -> String {
        var text = "collar \(deviceID), log \(logID): \(isIntact ? "intact" : "DAMAGED")\n"
        for (_, words, ranges) in sets where !ranges.isEmpty {
            let count = ranges.reduce(0) { $0 + $1.count }
            text += "  \(words): \(count) (\(LogVerification.text(of: ranges)))\n"
        }
        return text
    }

    /// Ranges as text for a person: the first 20 ranges, then the number of the other ranges.
    package static func text(of ranges: [SequenceRange]) -> String {
        let shown = ranges.prefix(20).map { $0.first == $0.last ? "\($0.first)" : "\($0.first) to \($0.last)" }
        return shown.joined(separator: ", ") + (ranges.count > 20 ? ", and \(ranges.count - 20) more ranges" : "")
    }

    /// The sets of fixes, by their names for programs and their words for a person.
    private var sets: [(name: String, words: String, ranges: [SequenceRange])] {
        [
            ("stored", "stored", stored.ranges), ("lost", "lost, the collar does not have them any more", lost.ranges),
            ("elsewhere", "delivered to another receiver", deliveredElsewhere.ranges),
            ("removed", "stored once and removed since", removed.ranges),
            ("missing", "missing, the collar is asked for them", missing), ("damaged", "stored once and gone", damaged.ranges),
        ]
    }
}
