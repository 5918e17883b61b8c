import CheckedNumbers
import CollarErrors
import CollarFormats
import CollarWire
import LinuxSystem

/// The messages of the kernel since its start.
package struct KernelLog: Equatable, Sendable {
    package struct Message: Equatable, Sendable {
        /// Time since the start of the kernel, in seconds.
        package let seconds: Int64
        package let text: String
    }

    /// The files that may have the messages, the best first.
    package static let paths = ["/dev/kmsg", "/var/log/kern.log"]
    /// The start of the first message of a kernel.
    private static let firstMessage = "Linux version "

    /// Whether a line is about USB devices or AppArmor, or begins the messages of a kernel.
    package static func isOfUse(_ line: String) -> Bool {
        [firstMessage, "usb ", "apparmor="].contains { line.contains(text: $0) }
    }

    package let path: String
    package let messages: [Message]

    /// Reads the kernel's log, or the file to which a daemon copies it; nil if the user may read neither.
    package init?(_ machine: any MachineFacts) {
        for path in KernelLog.paths {
            guard case .bytes(let bytes) = machine.content(of: path) else { continue }
            self.init(path: path, text: String(decoding: bytes, as: UTF8.self))
            return
        }
        return nil
    }

    package init(path: String, text: String) {
        self.path = path
        let lines = text.split(separator: "\n")
        // A file may have messages of earlier kernels. Each begins with its version.
        let start = lines.lastIndex { $0.contains(text: KernelLog.firstMessage) } ?? lines.startIndex
        messages = lines[start...].compactMap(KernelLog.message)
    }

    /// `6,1234,98765432,-;usb 1-1: USB disconnect`, with microseconds, or `… kernel: [   98.765432] usb 1-1: USB disconnect`.
    private static func message(_ line: Substring) -> Message? {
        if let semicolon = line.firstIndex(of: ";") {
            let head = line[..<semicolon].split(separator: ",")
            if head.count >= 4, UInt(head[0], in: 0 ... .max) != nil, let microseconds = Int64(head[2], in: 0 ... .max) {
                return Message(seconds: microseconds / 1_000_000, text: String(line[line.index(after: semicolon)...]))
            }
        }
        guard let open = line.firstIndex(of: "["), let close = line[open...].firstIndex(of: "]"),
            let seconds = line[line.index(after: open)..<close].split(separator: ".").first,
            let number = Int64(seconds.drop { $0 == " " }, in: .exactNumbers)
        else { return nil }
        return Message(seconds: number, text: String(line[line.index(after: close)...].drop { $0 == " " }))
    }

    /// The messages of the last hour.
    /// - Parameter uptime: the time since the start of the kernel, in seconds.
    package func recent(uptime: Int64) -> [Message] { messages.filter { $0.seconds >= uptime - 3600 } }
}

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
    package let deviceID: DeviceID?
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
