import CollarFormats
import CollarWire
import Glibc

/// The ids that a consumer writes, one on each line.
package struct AcknowledgedIDs {
    /// A line that was read.
    package enum Line: Equatable {
        case id(FixIdentifier)
        case other(String)
    }

    private let fileDescriptor: Int32
    private var buffer: [UInt8] = []
    /// A longer line is no id.
    private static let lineLimit = 4096

    package init(_ fileDescriptor: Int32) { self.fileDescriptor = fileDescriptor }

    /// Reads once from the descriptor, which is readable.
    /// - Returns: the lines that are complete; nil at the end of the input.
    package mutating func read() -> [Line]? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(fileDescriptor, $0.baseAddress, $0.count) }
        if count < 0 { return errno == EINTR || errno == EAGAIN ? [] : nil }
        guard count > 0 else { return nil }
        buffer += chunk[..<count]
        var lines: [Line] = []
        var start = 0
        while let feed = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if let line = AcknowledgedIDs.line(buffer[start..<feed]) { lines.append(line) }
            start = feed + 1
        }
        buffer.removeFirst(start)
        if buffer.count > AcknowledgedIDs.lineLimit { buffer.removeAll() }
        return lines
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> Line? {
        // jq without -r writes quotes.
        let text = String(decoding: bytes, as: UTF8.self).trimmed.filter { $0 != "\"" && $0 != "\r" }
        if text.isEmpty { return nil }
        if let fix = UUIDHalves(text).flatMap({ FixIdentifier(high: $0.high, low: $0.low) }) { return .id(fix) }
        return .other(text)
    }
}
