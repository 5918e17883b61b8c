import CheckedNumbers
import CollarFormats
import CollarErrors
import LinuxSystem
import SerialDevices

/// An error that a receiver reported, from the event log of the state directory.
package struct ReportedError: Equatable {
    /// For how long a report counts, in milliseconds.
    private static let validity: Int64 = 3_600_000

    package let code: ErrorCode
    package let unixMilliseconds: Int64
    package let reason: String
    /// Whether the receiver knew a remedy. Its text is not read: whoever may write the file could put a command into it.
    package let hasRemedy: Bool
    /// The path of a port, or the address of a radio at another machine.
    package let port: String?
    /// The factory id of the collar.
    package let deviceID: UInt64?
    /// The file that has the line.
    package let path: String

    /// The errors that were reported in the last hour, in their order. When a port was opened after that, what was reported of it before
    /// does not count, except that its stick restarted: a fault that lasts is reported again.
    package static func recent(_ machine: any MachineFacts, stateDirectory: String) -> [ReportedError] {
        let folder = "\(stateDirectory)/events"
        let now = machine.unixMilliseconds
        var reports: [ReportedError] = []
        for name in machine.names(in: folder) where name.hasSuffix(".jsonl") {
            let path = "\(folder)/\(name)"
            guard case .bytes(let bytes) = machine.content(of: path) else { continue }
            for line in bytes.split(separator: UInt8(ascii: "\n")) where isOfUse(line) {
                let object: JSONValue
                do throws(JSONSyntaxError) { object = try JSONScanner.value(of: Array(line)) } catch { continue }
                if let report = ReportedError(object, path: path) {
                    reports.append(report)
                } else if object["event"]?.text == "opened" {
                    let port = object["port"]?.text
                    reports.removeAll { $0.code != .radioRestarted && ($0.port == nil || $0.port == port) }
                }
            }
        }
        return reports.filter { (now - validity...now).contains($0.unixMilliseconds) }
    }

    /// Whether a line of the event log reports an error, or a change of a link.
    package static func isOfUse(_ line: ArraySlice<UInt8>) -> Bool {
        [#"{"type":"error""#, #"{"type":"link""#].contains { line.starts(with: $0.utf8) }
    }

    private init?(_ object: JSONValue, path: String) {
        guard object["type"]?.text == "error", let code = object["code"]?.text.flatMap(ErrorCode.init),
            let time = object["unix_ms"]?.integer(in: .unixMilliseconds), let reason = object["reason"]?.text
        else { return nil }
        self.code = code
        self.reason = reason
        self.path = path
        unixMilliseconds = time
        hasRemedy = object["remedy"]?.text != nil
        port = object["port"]?.text
        deviceID = object["collar"]?.text.flatMap { CollarID.deviceID($0) }
        // A receiver writes nothing else.
        if let port, !port.hasPrefix("/"), NetworkAddress(port) == nil { return nil }
        if object["collar"]?.text != nil, deviceID == nil { return nil }
    }
}
