import CollarARQ
import CollarHost
import CollarJournal
import RadioModems
import Testing

@testable import CollarReceiver

/// The packets in the records of a capture.
@Suite struct CaptureFramesTests {
    private static func record(_ event: CaptureEvent, at milliseconds: Int64) -> CaptureRecord {
        CaptureRecord(
            time: HostTime(instant: Instant(microseconds: milliseconds * 1000), unixMilliseconds: 1_700_000_000_000 + milliseconds),
            port: "/dev/ttyUSB0", event: event)
    }

    /// Offsets, times and packets of what is found in records whose offsets are their times.
    private static func find(_ records: [CaptureRecord]) -> [String] {
        var frames = CaptureFrames()
        return records.flatMap { record in
            frames.take(record, at: Int(record.time.unixMilliseconds - 1_700_000_000_000)).map { finding in
                guard case .packet(let packet) = finding.content else { return "\(finding.content)" }
                return "\(finding.offset) \(finding.unixMilliseconds - 1_700_000_000_000) \(finding.direction.rawValue) \(packet)"
            }
        }
    }

    /// A packet belongs to the record in which it ends, also if a later record tells the dialect of its line.
    @Test func whatCameInBeforeTheDialectWasKnownKeepsItsPlace() {
        let found = Self.find([
            Self.record(.opened(PortOpening(kind: .remote)), at: 1),
            Self.record(.read([0xC0, 0, 1, 0xC0]), at: 2), Self.record(.read([0, 2]), at: 3), Self.record(.read([3, 0xC0]), at: 4),
            Self.record(.found(.kiss), at: 5), Self.record(.read([0, 4, 0xC0]), at: 6), Self.record(.wrote([0xC0, 0, 5, 0xC0]), at: 7),
        ])
        #expect(found == ["2 2 in [1]", "4 4 in [2, 3]", "6 6 in [4]", "7 7 out [5]"])
    }

    /// A frame that was cut by the end of a line is not joined with what comes in after the next opening, in either direction.
    @Test func aCutFrameEndsWithItsLine() {
        let opening = CaptureEvent.opened(PortOpening(kind: .remote))
        let found = Self.find([
            Self.record(opening, at: 1), Self.record(.found(.kiss), at: 2), Self.record(.read([0xC0, 0, 1]), at: 3),
            Self.record(.wrote([0xC0, 0, 2]), at: 4), Self.record(.closed, at: 5), Self.record(opening, at: 6),
            Self.record(.found(.kiss), at: 7), Self.record(.read([3, 0xC0, 0xC0, 0, 4, 0xC0]), at: 8),
            Self.record(.wrote([5, 0xC0, 0xC0, 0, 6, 0xC0]), at: 9),
        ])
        #expect(found == ["8 8 in [4]", "9 9 out [6]"])
    }

    /// Another stick at the port, or another finding about the same one, has a decoder of its own.
    @Test(arguments: [true, false])
    func anotherDialectIsDecodedAsSuch(isReopened: Bool) {
        var records = [
            Self.record(.opened(PortOpening(kind: .remote)), at: 1), Self.record(.found(.serial), at: 2), Self.record(.read([1, 2]), at: 3),
            Self.record(.wrote([1, 2]), at: 4),
        ]
        if isReopened { records += [Self.record(.closed, at: 5), Self.record(.opened(PortOpening(kind: .remote)), at: 6)] }
        records += [
            Self.record(.found(.kiss), at: 7), Self.record(.read([0xC0, 0, 3, 0xC0]), at: 8), Self.record(.wrote([0xC0, 0, 4, 0xC0]), at: 9),
        ]
        #expect(Self.find(records) == ["8 8 in [3]", "9 9 out [4]"])
    }

    /// A new opening of the port drops the bytes that came in before it.
    @Test func anOpeningBeginsAnew() {
        let found = Self.find([
            Self.record(.opened(PortOpening(kind: .remote)), at: 1), Self.record(.read([0xC0, 0, 1, 0xC0]), at: 2),
            Self.record(.opened(PortOpening(kind: .remote)), at: 3), Self.record(.read([0xC0, 0, 2, 0xC0]), at: 4),
            Self.record(.found(.kiss), at: 5),
        ])
        #expect(found == ["4 4 in [2]"])
    }
}
