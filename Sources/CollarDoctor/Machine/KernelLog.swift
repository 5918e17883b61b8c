import CheckedNumbers

/// The messages of the kernel since its start.
package struct KernelLog: Equatable, Sendable {
    /// A message.
    package struct Message: Equatable, Sendable {
        /// Time since the start of the kernel, in seconds.
        package let seconds: Int64
        /// The text.
        package let text: String
    }

    /// The files that may have the messages, the best first.
    package static let paths = ["/dev/kmsg", "/var/log/kern.log"]
    /// The start of the first message of a kernel.
    private static let firstMessage = "Linux version "

    /// Whether a line is about USB devices or AppArmor, or begins the messages of a kernel.
    package static func isOfUse(_ line: String) -> Bool {
        [firstMessage, "usb ", "apparmor="].contains { line.contains($0) }
    }

    /// The path of the file that was read.
    package let path: String
    /// The messages, in their order.
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
        let start = lines.lastIndex { $0.contains(KernelLog.firstMessage) } ?? lines.startIndex
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
