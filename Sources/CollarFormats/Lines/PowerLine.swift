import CollarJournal
import CollarWire

extension PowerReport {
    /// The report as one line of JSON that ends with a line feed; `Protocol/schema/power.schema.json` describes it.
    /// - Parameters:
    ///   - unixMilliseconds: when the host received the report, in milliseconds since 1970 by the host's clock.
    ///   - logID: the log that the frame is bound to.
    package func line(unixMilliseconds: Int64, deviceID: DeviceID, name: String? = nil, logID: LogID) -> [UInt8] {
        var object = JSONLine(type: LineKind.power.rawValue, unixMilliseconds: unixMilliseconds)
        object.add(collar: deviceID, name: name)
        object.add("log", logID.rawValue)
        object.add("mode", mode.name)
        object.add("supply", "\(supply)")
        object.add("uptime_s", uptimeSeconds)
        object.add("next_search_s", secondsToSearch)
        object.add("failures_in_row", failuresInRow)
        object.add("time_to_fix_s", number: timeToFixTenths.map { MessageDescription.decimal(Int64($0), 1) })
        object.add("gnss_s", gnssSeconds)
        object.add("listening_s", number: MessageDescription.decimal(Int64(listeningMilliseconds), 3))
        object.add("awake_s", number: MessageDescription.decimal(Int64(awakeMilliseconds), 3))
        object.add("searches", searches)
        object.add("failures", failures)
        return object.line
    }
}

extension PowerReport.Mode {
    /// The name for programs.
    package var name: String {
        switch self {
        case .stopped: "stopped"
        case .continuous: "continuous"
        case .moving: "moving"
        case .resting: "resting"
        case .noSky: "no_sky"
        case .find: "find"
        }
    }
}
