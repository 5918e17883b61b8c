import CollarBridge
import SerialDevices

/// An error that a receiver reported, from the event log of the state directory.
struct ReportedError: Equatable {
    /// For how long a report counts, in milliseconds.
    private static let validity: Int64 = 3_600_000

    let code: ErrorCode
    let unixMilliseconds: Int64
    let reason: String
    let remedy: String?
    let port: String?
    /// The factory id of the collar, 16 hexadecimal digits.
    let collar: String?
    /// The file that has the line.
    let path: String

    /// The errors that were reported in the last hour, in their order.
    static func recent(_ machine: any MachineFacts, stateDirectory: String) -> [ReportedError] {
        let folder = "\(stateDirectory)/events"
        let now = machine.unixMilliseconds
        return machine.names(in: folder).filter { $0.hasSuffix(".jsonl") }.flatMap { name -> [ReportedError] in
            let path = "\(folder)/\(name)"
            guard case .bytes(let bytes) = machine.content(of: path) else { return [] }
            return bytes.split(separator: UInt8(ascii: "\n")).filter(isReport).compactMap { ReportedError($0, path: path) }
        }.filter { (now - validity...now).contains($0.unixMilliseconds) }
    }

    /// Whether a line of the event log reports an error.
    static func isReport(_ line: ArraySlice<UInt8>) -> Bool { line.starts(with: #"{"type":"error""#.utf8) }

    private init?(_ line: ArraySlice<UInt8>, path: String) {
        let object: JSONValue
        do throws(JSONSyntaxError) { object = try JSONScanner.value(of: Array(line)) } catch { return nil }
        guard let code = object["code"]?.text.flatMap(ErrorCode.init), let time = object["unix_ms"]?.integer() as Int64?,
            let reason = object["reason"]?.text
        else { return nil }
        self.code = code
        self.reason = reason
        self.path = path
        unixMilliseconds = time
        remedy = object["remedy"]?.text
        port = object["port"]?.text
        collar = object["collar"]?.text
    }
}
