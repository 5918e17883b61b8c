import CheckedNumbers
import CollarFormats
import CollarJournal

/// What a collar said about itself last: a line of status in the event log.
package struct StatusLine: Sendable {
    /// The line, without its line feed.
    package let bytes: [UInt8]
    private let object: JSONValue

    /// The last line of each collar in the event log of a state directory.
    ///
    /// Complexity: reads the whole log, at most a megabyte.
    package static func newest(stateDirectory: String) throws(JournalError) -> [UInt64: StatusLine] {
        let log = EventLogReader(stateDirectory: stateDirectory)
        var newest: [UInt64: StatusLine] = [:]
        while true {
            let lines = try log.next()
            guard !lines.isEmpty else { return newest }
            for line in lines where line.bytes.starts(with: #"{"type":"status""#.utf8) {
                guard let status = StatusLine(line.bytes.dropLast()) else { continue }
                newest[status.deviceID] = status
            }
        }
    }

    /// Reads a line without its line feed; nil if it is not a line of status.
    package init?(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        do throws(JSONSyntaxError) { object = try JSONScanner.value(of: self.bytes) } catch { return nil }
        guard object["type"]?.text == "status", let id = object["collar"]?.text.flatMap(CollarID.deviceID) else { return nil }
        deviceID = id
    }

    /// The collar.
    package let deviceID: UInt64
    /// When it was received, in milliseconds since 1970.
    package var unixMilliseconds: Int64? { object["unix_ms"]?.integer(in: .unixMilliseconds) }
    /// Whether the collar logs positions.
    package var isTracking: Bool? { object["tracking"]?.boolean }
    /// Since when ``isTracking`` has its value, in milliseconds since 1970.
    package var trackingSinceUnixMilliseconds: Int64? { object["tracking_since_unix_ms"]?.integer(in: .unixMilliseconds) }
    /// Whether the collar has not moved for a while.
    package var isStationary: Bool? { object["stationary"]?.boolean }
    /// What limits its rate, by the name in the line.
    package var throttle: String? { object["throttle"]?.text }
    /// What its GNSS receiver does, by the name in the line.
    package var gnss: String? { object["gnss"]?.text }
}
