import CollarControl
import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials
import Testing

@testable import CollarDoctor

/// The overview of a collar, made from its journal.
@Suite final class OverviewOfAJournalTests {
    private static let (one, two): (DeviceID, DeviceID) = (0xA, 0xB)
    private static let hour: Int64 = 3_600_000

    private let state = FileManager.default.temporaryDirectory.appending(path: "overview-\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true) }

    deinit {
        do { try FileManager.default.removeItem(atPath: state) } catch {}
    }

    /// A journal with fixes, each that many hours old, with its charge.
    private func store(_ fixes: [(sequence: UInt32, hoursAgo: Int64, percent: UInt8?)], of deviceID: DeviceID) throws {
        let journal = try Journal.open(stateDirectory: state, deviceID: deviceID, receiverID: 9, nowUnixMilliseconds: overviewTime)
        for fix in fixes {
            let time = overviewTime - fix.hoursAgo * Self.hour
            let record = JournaledFix(
                logID: 1, receivedUnixMilliseconds: time, signal: nil,
                fix: Fix(sequence: fix.sequence, unixMilliseconds: time, latitudeSteps: 1, longitudeSteps: 2, batteryPercent: fix.percent))
            try #require(try journal.append(record))
        }
        try journal.commit()
    }

    private func collars(
        _ figures: ReceiverFigures? = nil, animals: [Deployment] = [], status: StatusLine? = nil
    ) throws -> [Overview.Collar] {
        var overview = overview()
        var annotations = Annotations()
        annotations.deployments = DeploymentTable(animals)
        for id in [Self.one, Self.two] {
            try overview.add(
                try JournalReader(stateDirectory: state, deviceID: id), figures: figures, status: status, annotations: annotations)
        }
        return overview.collars
    }

    private func worn(_ name: String, _ deviceID: DeviceID, from begin: Int64?, to end: Int64?) -> Deployment {
        Deployment(
            animal: Animal(name: name), deviceID: deviceID, beginUnixMilliseconds: begin.map { overviewTime - $0 * Self.hour },
            endUnixMilliseconds: end.map { overviewTime - $0 * Self.hour })
    }

    @Test func eachCollarHasItsOwnJournalAndFigures() throws {
        try store([(0, 4, 90), (1, 2, 80), (4, 0, 70)], of: Self.one)
        try store([], of: Self.two)
        var figures = ReceiverFigures()
        figures.collars = [Self.two: [.missing: 7, .reachable: 1], 0xC: [.missing: 9]]
        let found = try collars(figures)
        #expect(found.map(\.deviceID) == [Self.one, Self.two])
        #expect(found.map(\.summary.storedCount) == [3, 0])
        #expect(found.map(\.missingCount) == [2, 7])
        #expect(found.map(\.isReachable) == [nil, true])
        #expect(found.map(\.drainMilliPercentPerHour) == [5000, nil])
        #expect(found.map { $0.fixLine == nil } == [false, true])
        #expect(try collars().map(\.missingCount) == [2, 0])
    }

    /// The collar has the name of its wearer now; the fix has that of the wearer when it was made.
    @Test func theNameIsThatOfTheWearerAtTheTime() throws {
        try store([(0, 3, nil), (1, 2, nil)], of: Self.one)
        try store([(0, 2, nil)], of: Self.two)
        let found = try collars(animals: [worn("Athena", Self.one, from: nil, to: 1), worn("Zeus", Self.one, from: 1, to: nil)])
        #expect(found.map(\.name) == ["Zeus", nil])
        let lines = found.map { String(decoding: $0.fixLine ?? [], as: UTF8.self) }
        #expect(lines[0].contains(#""seq":1,"#) && lines[0].contains(#""name":"Athena""#), "\(lines[0])")
        #expect(lines.allSatisfy { $0.hasPrefix(#"{"type":"fix""#) && $0.hasSuffix("}\n") })
        #expect(!lines[1].contains(#""name""#) && !lines[0].contains("Zeus"))
    }

    @Test func theStatusIsPassedOn() throws {
        try store([], of: Self.one)
        try store([], of: Self.two)
        let status = try statusLine()
        #expect(try collars(status: status).map(\.status?.bytes) == [status.bytes, status.bytes])
    }

    @Test func theFiguresOfAReceiverAreItsUptimeAndItsRadios() {
        var figures = ReceiverFigures()
        figures.values = [.uptime: 60_000, .fixes: 7]
        figures.radios = [
            RadioFigures(port: "/dev/b", state: .gone, dialect: nil), RadioFigures(port: "/dev/a", state: .open, dialect: "kiss"),
        ]
        let overview = Overview(unixMilliseconds: 1, version: "1", stateDirectory: state, activity: .running, figures: figures)
        #expect(overview.uptimeMilliseconds == 60_000)
        #expect(overview.radios.map(\.port) == ["/dev/b", "/dev/a"])
        #expect(overview.radios.compactMap(\.figures) == figures.radios)
    }
}
