import CheckedNumbers
import CollarErrors
import CollarFormats
import CollarTracking
import CollarWire

/// The alerts that lines of the event log make.
enum EventAlert {
    /// The kinds of lines that make alerts.
    static let kinds: Set<LineKind> = [.error, .link]

    /// - Returns: nil for a line that makes no alert.
    static func alert(in line: [UInt8]) -> RaisedAlert? {
        guard kinds.contains(where: { line.starts(with: $0.head) }), let object = try? JSONScanner.value(of: line),
            let deviceID = object["collar"]?.text.flatMap({ DeviceID(hexadecimal: $0) }),
            let time = object["unix_ms"]?.integer(in: .unixMilliseconds), let event = event(object)
        else { return nil }
        return RaisedAlert(Alert(event, .time(unixMilliseconds: time), unixMilliseconds: time), of: deviceID, fix: nil)
    }

    private static func event(_ line: JSONValue) -> Alert.Event? {
        if line["type"]?.text == LineKind.link.rawValue { return line["event"]?.text == "restarted" ? .restarted : nil }
        return switch line["code"]?.text {
        case ErrorCode.locationUpdateFailed.rawValue: .gnssFault
        case ErrorCode.noLocationData.rawValue, ErrorCode.staleLocationData.rawValue: .noFix
        default: nil
        }
    }
}
