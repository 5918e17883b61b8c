import CollarControl
import CollarFormats
import CollarJournal
import CollarTracking
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
        _ figures: ReceiverFigures? = nil, animals: [Deployment] = [], places: [Place] = [], told: ToldLines = ToldLines()
    ) throws -> [Overview.Collar] {
        var overview = overview()
        var annotations = Annotations()
        annotations.deployments = DeploymentTable(animals)
        annotations.places = PlaceTable(places)
        for id in [Self.one, Self.two] {
            try overview.add(
                try JournalReader(stateDirectory: state, deviceID: id), figures: figures, told: told, annotations: annotations)
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

    /// The fixes of these tests are 3 m from the centre of home.
    private func home(isPrivate: Bool) throws -> Place {
        let center = try #require(Position(latitudeDegrees: 0.00001, longitudeDegrees: 0.00005))
        return Place(name: "home", shape: .circle(center: center, radiusMeters: 40), isPrivate: isPrivate)
    }

    @Test func aFixHasItsPlaceAndItsDistanceFromHome() throws {
        try store([(0, 2, nil)], of: Self.one)
        try store([], of: Self.two)
        let found = try collars(places: [try home(isPrivate: false)])
        #expect(found[0].fix?.whereabouts?.items(from: "home") == ["at home", "3 m at 270° from home"])
        let line = String(decoding: found[0].fixLine ?? [], as: UTF8.self)
        #expect(line.contains(#""place":"home","distance_m":3.3,"bearing_deg":270"#), "\(line)")
        #expect(try collars()[0].fix?.whereabouts == nil)
    }

    @Test func aPrivatePlaceHidesThePosition() throws {
        try store([(0, 2, nil)], of: Self.one)
        try store([], of: Self.two)
        let found = try collars(places: [try home(isPrivate: true)])
        #expect(found[0].fix?.fix.longitudeSteps == 5)
        #expect(found[0].accuracyGrade == nil)
        var overview = overview()
        overview.collars = found
        let text = overview.text(width: 200, rows: 100, zone: nil).map(\.text)
        #expect(text.contains { $0.contains("at home (private)  0 m from home  0.00001, 0.00005  ±42 m") }, "\(text)")
        #expect(!text.contains { $0.contains("0.00002") }, "\(text)")
        #expect(!String(decoding: overview.line, as: UTF8.self).contains("0.00002"))
    }

    @Test func aFixIsStaleByTheIntervalOfItsLog() throws {
        try store([(0, 9, nil), (1, 8, nil), (3, 4, nil)], of: Self.one)
        try store([(0, 1, nil)], of: Self.two)
        #expect(try collars().map(\.isStale) == [false, nil])
        try store([(4, 3, nil)], of: Self.one)
        #expect(try collars().map(\.isStale) == [true, nil])
        var overview = overview()
        overview.collars = try collars()
        #expect(overview.text(width: 200, rows: 100, zone: nil).contains { $0.text.hasPrefix("    last fix 3 h ago, stale  at ") })
        #expect(String(decoding: overview.line, as: UTF8.self).contains(#""accuracy":null,"stale":true,"fix":{"#))
    }

    @Test func whatTheCollarSaidIsPassedOn() throws {
        try store([], of: Self.one)
        try store([], of: Self.two)
        let (status, power) = (try statusLine(), try powerLine())
        let shown = try collars(told: ToldLines(status: status, power: power))
        #expect(shown.map(\.told.status?.bytes) == [status.bytes, status.bytes])
        #expect(shown.map(\.told.power?.bytes) == [power.bytes, power.bytes])
    }

    /// The receiver knows the schedule of a collar. Two fixes do not show it.
    @Test(arguments: [(10_799_999, true), (10_800_000, true), (10_800_001, false)] as [(Int64, Bool)])
    func theScheduleDecidesWhetherAFixIsStale(age: Int64, isStale: Bool) throws {
        try store([(0, 4, 90), (1, 3, 80)], of: Self.one)
        try store([(0, 4, 90), (1, 3, 80)], of: Self.two)
        var figures = ReceiverFigures()
        figures.collars[Self.one] = [.staleAge: age]
        #expect(try collars(figures).map(\.isStale) == [isStale, true])
        #expect(try collars().map(\.isStale) == [true, true])
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
