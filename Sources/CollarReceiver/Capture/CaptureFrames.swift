import CollarHost
import RadioModems

/// Finds the frames in the records of a capture, in both directions of every port.
package struct CaptureFrames {
    /// The direction of a frame.
    package enum Direction: String, Sendable {
        /// From the radio to the receiver.
        case inbound = "in"
        /// From the receiver to the radio.
        case outbound = "out"
    }

    private struct Line: Hashable {
        var port: String
        var direction: Direction
    }

    private var taps: [Line: PacketTap] = [:]
    private var dialects: [String: Dialect] = [:]
    /// Bytes that came in before the dialect of the stick was known.
    private var early: [String: [UInt8]] = [:]

    /// Nothing was found yet.
    package init() {}

    /// What ends in a record.
    package mutating func take(_ record: CaptureRecord) -> [(direction: Direction, finding: PacketTap.Finding)] {
        switch record.event {
        case .began: self = CaptureFrames()
        case .opened(let opening):
            forgetTaps(of: record.port)
            early[record.port] = nil
            dialects[record.port] = opening.modem.dialect
        case .found(let dialect):
            guard dialects[record.port] != dialect else { return [] }
            forgetTaps(of: record.port)
            dialects[record.port] = dialect
            return find(in: early.removeValue(forKey: record.port) ?? [], Line(port: record.port, direction: .inbound), dialect)
        case .read(let bytes):
            guard let dialect = dialects[record.port] else {
                early[record.port, default: []] += bytes
                return []
            }
            return find(in: bytes, Line(port: record.port, direction: .inbound), dialect)
        case .wrote(let bytes):
            // Before the dialect is known, only questions to the stick go out.
            guard let dialect = dialects[record.port] else { return [] }
            return find(in: bytes, Line(port: record.port, direction: .outbound), dialect)
        case .closed, .unplugged, .plugged, .removed, .ended, .due: break
        }
        return []
    }

    private mutating func forgetTaps(of port: String) {
        taps[Line(port: port, direction: .inbound)] = nil
        taps[Line(port: port, direction: .outbound)] = nil
    }

    private mutating func find(
        in bytes: [UInt8], _ line: Line, _ dialect: Dialect
    ) -> [(direction: Direction, finding: PacketTap.Finding)] {
        var tap = taps[line] ?? PacketTap(dialect)
        let findings = tap.take(bytes.span)
        taps[line] = tap
        return findings.map { (line.direction, $0) }
    }
}
