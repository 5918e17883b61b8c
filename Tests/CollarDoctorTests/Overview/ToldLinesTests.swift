import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials
import Testing

@testable import CollarDoctor

/// The last status and power report of each collar, from the lines of the event log.
@Suite struct ToldLinesTests {
    private static let (one, two): (DeviceID, DeviceID) = (0x0123_4567_89AB_CDEF, 0xAB)

    private func line(_ deviceID: DeviceID, _ second: Int64, _ change: (inout Status) -> Void = { _ in }) -> [UInt8] {
        var status = Status()
        change(&status)
        return status.line(unixMilliseconds: second * 1000, deviceID: deviceID, logID: 7)
    }

    private func power(_ deviceID: DeviceID, _ second: Int64, _ mode: PowerReport.Mode) -> [UInt8] {
        var report = PowerReport()
        report.mode = mode
        return report.line(unixMilliseconds: second * 1000, deviceID: deviceID, logID: 7)
    }

    private func newest(_ lines: [[UInt8]]) throws -> [DeviceID: StatusLine] { try told(lines).compactMapValues(\.status) }

    /// What an event log with these lines tells.
    private func told(_ lines: [[UInt8]]) throws -> [DeviceID: ToldLines] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "status-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: "\(folder)/events", withIntermediateDirectories: true)
        try Data(lines.joined()).write(to: URL(filePath: "\(folder)/events/00000001.jsonl"))
        return try ToldLines.newest(stateDirectory: folder)
    }

    @Test func theNewestOfSeveralCounts() throws {
        let found = try newest([
            line(Self.one, 1) { $0.isTracking = true }, line(Self.one, 2) { $0.isStationary = true },
            line(Self.one, 3) { $0.gnssState = .searching },
        ])
        let status = try #require(found[Self.one])
        #expect(status.unixMilliseconds == 3000)
        #expect(status.isTracking == false)
        #expect(status.isStationary == false)
        #expect(status.gnss == "searching")
        #expect(status.bytes == line(Self.one, 3) { $0.gnssState = .searching }.dropLast())
    }

    @Test func eachCollarHasItsOwn() throws {
        let found = try newest([
            line(Self.one, 1) { $0.isTracking = true }, line(Self.two, 2), line(Self.two, 3) { $0.isTracking = true }, line(Self.one, 4),
            line(0x7, 5) { $0.isStationary = true },
        ])
        #expect(found.count == 3)
        #expect(found.mapValues(\.unixMilliseconds) == [Self.one: 4000, Self.two: 3000, 0x7: 5000])
        #expect(found.mapValues(\.isTracking) == [Self.one: false, Self.two: true, 0x7: false])
    }

    @Test func aStatusAndAPowerReportStandBesideEachOther() throws {
        let found = try told([
            power(Self.one, 1, .moving), line(Self.one, 2), power(Self.two, 3, .find), power(Self.one, 4, .noSky), line(Self.one, 5),
        ])
        #expect(found.mapValues(\.power?.mode) == [Self.one: "no_sky", Self.two: "find"])
        #expect(found.mapValues(\.status?.unixMilliseconds) == [Self.one: 5000, Self.two: nil])
        #expect(found[Self.one]?.power?.bytes == power(Self.one, 4, .noSky).dropLast())
    }

    @Test func otherLinesAreLeftOut() throws {
        let other = Array((#"{"type":"link","unix_ms":9000,"event":"opened","port":"/dev/ttyUSB0"}"# + "\n").utf8)
        let found = try newest([other, line(Self.one, 1), other])
        #expect(found.mapValues(\.unixMilliseconds) == [Self.one: 1000])
        #expect(try newest([]).isEmpty)
        #expect(try newest([other]).isEmpty)
    }
}
