import CLinux
import CheckedNumbers
import CollarErrors
import Glibc
import LinuxSystem

/// The journal of systemd, to which a service gives its messages with fields (systemd.io, "Native Journal Protocol").
package struct JournalSocket: Sendable {
    private static let path = "/run/systemd/journal/socket"

    private let descriptor: Int32

    /// - Returns: nil if stderr does not lead to the journal, as `JOURNAL_STREAM` says.
    package init?() {
        guard let variable = Environment.value("JOURNAL_STREAM") else { return nil }
        let numbers = variable.split(separator: ":").map { UInt64($0, in: 0 ... .max) }
        var status = stat()
        guard numbers.count == 2, unsafe fstat(STDERR_FILENO, &status) == 0, numbers[0] == UInt64(status.st_dev),
            numbers[1] == UInt64(status.st_ino)
        else { return nil }
        // Without the socket, messages go to stderr.
        descriptor = unsafe local_socket_connect_datagrams(JournalSocket.path)
    }

    package func send(_ lines: [String], _ mark: LogMark) -> Bool {
        let bytes = JournalSocket.datagram(lines, mark)
        guard descriptor >= 0 else { return false }
        return unsafe bytes.withUnsafeBytes { unsafe local_socket_send(descriptor, $0.baseAddress, $0.count) } == bytes.count
    }

    /// The fields of a message: `NAME=value` and a line feed; where the value has several lines, `NAME`, a line feed, the length in
    /// eight bytes, the least significant first, the value and a line feed.
    static func datagram(_ lines: [String], _ mark: LogMark) -> [UInt8] {
        var fields = [
            ("PRIORITY", "\(mark.level.priority)"), ("SYSLOG_IDENTIFIER", "collar-link"),
            ("COLLAR_LINK_CATEGORY", mark.category.rawValue), ("COLLAR_LINK_LEVEL", mark.level.rawValue),
        ]
        if let code = mark.code { fields.append(("COLLAR_LINK_CODE", code.rawValue)) }
        fields.append(("MESSAGE", lines.joined(separator: "\n")))
        return fields.flatMap { name, value -> [UInt8] in
            let bytes = Array(value.utf8)
            guard value.contains("\n") else { return Array("\(name)=".utf8) + bytes + [0x0A] }
            let length = stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: bytes.count >> $0) }
            return Array("\(name)\n".utf8) + length + bytes + [0x0A]
        }
    }
}
