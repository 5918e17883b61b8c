import CollarARQ
import CollarHost
import CollarJournal
import RadioModems
import Testing

@testable import CollarReceiver

/// The packets of several ports of a capture, each with a dialect of its own.
@Suite struct CaptureDialectsTests {
    private static let ports = ["/dev/ttyUSB0", "/dev/ttyUSB1"]

    /// Ports, directions and packets of what is found.
    private func find(_ records: [(port: Int, CaptureEvent)]) -> [String] {
        var frames = CaptureFrames()
        return records.enumerated().flatMap { offset, record in
            let record = CaptureRecord(time: RecordedDay.start, port: Self.ports[record.port], event: record.1)
            return frames.take(record, at: offset).map { finding in
                guard case .packet(let packet) = finding.content else { return "\(finding.content)" }
                return "\(finding.offset) \(finding.direction.rawValue) \(packet)"
            }
        }
    }

    private static func opened(_ dialect: Dialect? = nil) -> CaptureEvent {
        var opening = PortOpening(kind: .remote)
        opening.modem.dialect = dialect
        return .opened(opening)
    }

    /// A dialect that a person has named is known from the opening on, in both directions.
    @Test func aNamedDialectIsKnownFromTheOpeningOn() {
        let found = find([(0, Self.opened(.kiss)), (0, .read([0xC0, 0, 1, 0xC0])), (0, .wrote([0xC0, 0, 2, 0xC0]))])
        #expect(found == ["1 in [1]", "2 out [2]"])
    }

    /// Two ports share no state: dialect, bytes and frames belong to one port.
    @Test func eachPortHasItsOwnDialectAndBytes() {
        let found = find([
            (0, Self.opened()), (1, Self.opened()), (0, .read([0xC0, 0, 1, 0xC0])), (1, .read([0xC0, 0, 2, 0xC0])), (1, .found(.kiss)),
            (0, .read([0xC0, 0, 3])), (1, .read([0xC0, 0, 4])), (0, .found(.kiss)), (0, .read([5, 0xC0])), (1, .read([6, 0xC0])),
            (0, Self.opened()), (0, .read([0xC0, 0, 7, 0xC0])), (1, .read([0xC0, 0, 8, 0xC0])),
        ])
        #expect(found == ["3 in [2]", "2 in [1]", "8 in [3, 5]", "9 in [4, 6]", "12 in [8]"])
    }

    /// The same finding once more does not cut a frame, and the two directions do not mix.
    @Test func theSameDialectGoesOn() {
        let found = find([
            (0, Self.opened()), (0, .found(.kiss)), (0, .read([0xC0, 0, 1])), (0, .wrote([0xC0, 0, 9])), (0, .found(.kiss)),
            (0, .read([2, 0xC0])),
            (0, .wrote([8, 0xC0])),
        ])
        #expect(found == ["5 in [1, 2]", "6 out [9, 8]"])
    }

    /// Bytes that are written before the dialect is known are questions to the stick, and are not kept.
    @Test func questionsToTheStickAreNoFrames() {
        let found = find([
            (0, Self.opened()), (0, .wrote([0xC0, 0, 1, 0xC0])), (0, .found(.kiss)), (0, .wrote([0xC0, 0, 2, 0xC0])),
        ])
        #expect(found == ["3 out [2]"])
    }

    /// A section of another run knows nothing of the ports before it.
    @Test func aFurtherSectionBeginsAnew() {
        let found = find([
            (0, Self.opened(.kiss)), (0, .read([0xC0, 0, 1])), (0, .began(receiverID: 1)), (0, .read([2, 0xC0])),
            (0, .read([0xC0, 0, 3, 0xC0])),
        ])
        #expect(found == [])
    }
}
