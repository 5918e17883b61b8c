import CheckedNumbers
import CollarFormats
import CollarJournal
import CollarWire

/// The last status and the last power report of a collar, as lines of the event log. A line that is older than the log is nil.
package struct ToldLines: Sendable {
    package var status: StatusLine?
    package var power: PowerLine?

    package init(status: StatusLine? = nil, power: PowerLine? = nil) {
        self.status = status
        self.power = power
    }

    /// The last lines of each collar in the event log of a state directory.
    ///
    /// Complexity: reads the whole log, at most a megabyte.
    package static func newest(stateDirectory: String) throws(JournalError) -> [DeviceID: ToldLines] {
        let log = EventLogReader(stateDirectory: stateDirectory)
        let (status, power) = (LineKind.status.head, LineKind.power.head)
        var newest: [DeviceID: ToldLines] = [:]
        while true {
            let lines = try log.next()
            guard !lines.isEmpty else { return newest }
            for line in lines {
                if line.bytes.starts(with: status), let status = StatusLine(line.bytes.dropLast()) {
                    newest[status.deviceID, default: ToldLines()].status = status
                } else if line.bytes.starts(with: power), let power = PowerLine(line.bytes.dropLast()) {
                    newest[power.deviceID, default: ToldLines()].power = power
                }
            }
        }
    }
}

/// The last status of a collar.
package struct StatusLine: Sendable {
    /// The line, without its line feed.
    package let bytes: [UInt8]
    package let deviceID: DeviceID
    private let object: JSONValue

    /// Reads a line without its line feed; nil if it is not a line of status.
    package init?(_ bytes: some Sequence<UInt8>) {
        guard let line = CollarLine(bytes, kind: .status) else { return nil }
        (self.bytes, deviceID, object) = (line.bytes, line.deviceID, line.object)
    }

    /// When it was received, in milliseconds since 1970.
    package var unixMilliseconds: Int64? { object["unix_ms"]?.integer(in: .unixMilliseconds) }
    /// Whether the collar logs positions.
    package var isTracking: Bool? { object["tracking"]?.boolean }
    /// Since when ``isTracking`` has its value, in milliseconds since 1970.
    package var trackingSinceUnixMilliseconds: Int64? { object["tracking_since_unix_ms"]?.integer(in: .unixMilliseconds) }
    /// Whether the collar has not moved for a while.
    package var isStationary: Bool? { object["stationary"]?.boolean }
    /// The limit of its rate, by the name in the line.
    package var throttle: String? { object["throttle"]?.text }
    /// The state of its GNSS receiver, by the name in the line.
    package var gnss: String? { object["gnss"]?.text }
}

/// The last power report of a collar.
package struct PowerLine: Sendable {
    /// The line, without its line feed.
    package let bytes: [UInt8]
    package let deviceID: DeviceID
    private let object: JSONValue

    /// Reads a line without its line feed; nil if it is not a line of a power report.
    package init?(_ bytes: some Sequence<UInt8>) {
        guard let line = CollarLine(bytes, kind: .power) else { return nil }
        (self.bytes, deviceID, object) = (line.bytes, line.deviceID, line.object)
    }

    /// Why fixes are made as they are, by the name in the line.
    package var mode: String? { object["mode"]?.text }
    /// When the next search begins, in milliseconds since 1970; nil if none is planned, and while the receiver is on.
    package var nextSearchUnixMilliseconds: Int64? {
        guard
            let received = object["unix_ms"]?.integer(in: .unixMilliseconds),
            let seconds = object["next_search_s"]?.integer(in: 1...Int64(UInt32.max))
        else { return nil }
        return received + 1000 * seconds
    }
    /// Searches without a position in a row.
    package var failuresInRow: Int64? { object["failures_in_row"]?.integer(in: 0...255) }
    /// The part of the time since the boot in which the GNSS receiver was on, in tenths of a percent.
    package var gnssTenthsPercent: Int64? { share(of: "gnss_s") }
    /// The part of the time since the boot in which the radio listened, in tenths of a percent.
    package var listeningTenthsPercent: Int64? { share(of: "listening_s") }

    /// nil before the collar has run for a minute: a share of less says nothing.
    private func share(of key: String) -> Int64? {
        guard
            let uptime = object["uptime_s"]?.integer(in: 60...Int64(UInt32.max)), case .number(let digits)? = object[key],
            let time = Double(digits, in: 0...Double(UInt32.max))
        else { return nil }
        return Int64((1000 * time / Double(uptime)).rounded())
    }
}

/// A line about a collar that was read.
private struct CollarLine {
    let bytes: [UInt8]
    let deviceID: DeviceID
    let object: JSONValue

    /// - Returns: nil if the line is of another kind.
    init?(_ bytes: some Sequence<UInt8>, kind: LineKind) {
        self.bytes = Array(bytes)
        do throws(JSONSyntaxError) { object = try JSONScanner.value(of: self.bytes) } catch { return nil }
        guard object["type"]?.text == kind.rawValue, let id = object["collar"]?.text.flatMap(CollarID.deviceID) else { return nil }
        deviceID = id
    }
}
