import RadioModems

/// Finds the frames in the records of a capture, in both directions of every port.
package struct CaptureFrames {
    package enum Direction: String, Sendable {
        /// From the radio to the receiver.
        case inbound = "in"
        /// From the receiver to the radio.
        case outbound = "out"
    }

    /// A packet or a fault, and the record in which it ends.
    package struct Finding: Sendable {
        package var direction: Direction
        /// The packet, or why there is none.
        package var content: PacketTap.Finding
        /// The offset of the record's block in the capture, in bytes.
        package var offset: Int
        /// The time of day of the record, in milliseconds since 1970.
        package var unixMilliseconds: Int64
    }

    private struct Line: Hashable {
        var port: String
        var direction: Direction
    }

    /// The bytes of a record, and the place of the record in the capture.
    private typealias Bytes = (bytes: [UInt8], offset: Int, unixMilliseconds: Int64)

    private var taps: [Line: PacketTap] = [:]
    private var dialects: [String: Dialect] = [:]
    /// Bytes of the stick that came in before its dialect was known.
    private var early: [String: [Bytes]] = [:]

    package init() {}

    /// The packets and faults that end in a record. If a record tells the dialect of a stick, those of earlier bytes are found now.
    /// - Parameter offset: the offset of the record's block in the capture, in bytes.
    package mutating func take(_ record: CaptureRecord, at offset: Int) -> [Finding] {
        func place(_ bytes: [UInt8]) -> Bytes { (bytes, offset, record.time.unixMilliseconds) }
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
            let line = Line(port: record.port, direction: .inbound)
            return (early.removeValue(forKey: record.port) ?? []).flatMap { find(in: $0, line, dialect) }
        case .read(let bytes):
            guard let dialect = dialects[record.port] else {
                early[record.port, default: []].append(place(bytes))
                return []
            }
            return find(in: place(bytes), Line(port: record.port, direction: .inbound), dialect)
        case .wrote(let bytes):
            // Before the dialect is known, only questions to the stick go out.
            guard let dialect = dialects[record.port] else { return [] }
            return find(in: place(bytes), Line(port: record.port, direction: .outbound), dialect)
        case .closed, .unplugged, .plugged, .removed, .ended, .due: break
        }
        return []
    }

    private mutating func forgetTaps(of port: String) {
        taps[Line(port: port, direction: .inbound)] = nil
        taps[Line(port: port, direction: .outbound)] = nil
    }

    private mutating func find(in piece: Bytes, _ line: Line, _ dialect: Dialect) -> [Finding] {
        var tap = taps[line] ?? PacketTap(dialect)
        let found = tap.take(piece.bytes.span)
        taps[line] = tap
        return found.map {
            Finding(direction: line.direction, content: $0, offset: piece.offset, unixMilliseconds: piece.unixMilliseconds)
        }
    }
}
