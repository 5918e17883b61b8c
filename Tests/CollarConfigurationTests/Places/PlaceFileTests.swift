import CollarFormats
import Testing

@testable import CollarTracking
@testable import CollarConfiguration

private let square = #"{"type":"Polygon","coordinates":[[[5,50],[5.01,50],[5.01,50.01],[5,50.01],[5,50]]]}"#

/// Reads a places file that lies in the folder `/x`.
private func places(_ text: String, areas: [String: String] = [:]) throws(PlaceFileError) -> PlaceFile {
    try PlaceFile(Array(text.utf8), folder: "/x") { path throws(PlaceFileError.Problem) in
        guard let content = areas[path] else { throw .unreadableArea(path: path, reason: "No such file or directory") }
        return try Area(geoJSON: Array(content.utf8), path: path)
    }
}

private func error(_ text: String, areas: [String: String] = [:]) -> PlaceFileError? {
    do throws(PlaceFileError) { _ = try places(text, areas: areas) } catch { return error }
    return nil
}

@Suite struct PlaceFileTests {
    @Test func circlesAndAreasAreRead() throws {
        let file = try places(
            """
            # where the cats are
            [place home]
            at = 50.1703 -5.1140   # the front door
            radius = 60
            private = yes

            [place meadow behind the house]\r
            area = meadow.geojson
            [place far]
            area = /y/far.geojson
            [place vet]
            at = -17,179.9
            radius = 12.5
            private = no
            """, areas: ["/x/meadow.geojson": square, "/y/far.geojson": square])
        #expect(file.areaPaths == ["/x/meadow.geojson", "/y/far.geojson"])
        #expect(file.places.map(\.name) == ["home", "meadow behind the house", "far", "vet"])
        #expect(file.places.map(\.isPrivate) == [true, false, false, false])
        let center = try #require(Position(latitudeDegrees: 50.1703, longitudeDegrees: -5.114))
        #expect(file.places[0].shape == .circle(center: center, radiusMeters: 60))
        let vet = try #require(Position(latitudeDegrees: -17, longitudeDegrees: 179.9))
        #expect(file.places[3].shape == .circle(center: vet, radiusMeters: 12.5))
        let inside = try #require(Position(latitudeDegrees: 50.005, longitudeDegrees: 5.005))
        #expect(file.places[1].distanceMeters(from: inside) < -300)
        #expect(try places("").places.isEmpty)
    }

    @Test(arguments: [
        ("[place a]\nat = 1 2\nradius = 3\nat = 1 2", 4, .repeatedKey("at", line: 2)),
        ("[place a]\nat = 1 2\nradius = 3\n[place a]", 4, .repeatedPlace("a", line: 1)),
        ("[alerts]\n[place a]\nat = 1 2\nradius = 3\n[alerts]", 5, .repeatedAlerts(line: 1)),
        ("[alerts]\nquiet = 22:00-07:00\nquiet = 1:00-2:00", 3, .repeatedKey("quiet", line: 2)),
        ("[alerts]\nradius = 5", 2, .unknownAlertKey("radius", keys: ["farther", "silent", "quiet"])),
        ("[alerts]\nfarther = 0", 2, .wrongDistance("0")),
        ("[alerts]\nsilent = 59", 2, .wrongSilence("59")), ("[alerts]\nsilent = 366d", 2, .wrongSilence("366d")),
        ("[alerts]\nsilent = 99999999999999999999d", 2, .wrongSilence("99999999999999999999d")),
        ("[alerts]\nquiet = 22:00", 2, .wrongQuietHours("22:00")), ("[alerts]\nquiet = 22:00-24:00", 2, .wrongQuietHours("22:00-24:00")),
        ("[alerts]\nquiet = 22:0-23:00", 2, .wrongQuietHours("22:0-23:00")),
        ("[alerts]\nquiet = 22:00-22:00", 2, .wrongQuietHours("22:00-22:00")),
        ("radius = 3", 1, .keyWithoutPlace("radius")),
        ("\n[animal a]", 2, .unknownSection("[animal a]")),
        ("[place]", 1, .unknownSection("[place]")),
        ("[place a\u{7}]", 1, .wrongName("a\u{7}")),
        ("[place a]\nradius", 2, .notAnAssignment("radius")),
        ("[place a]\nradios = 1", 2, .unknownKey("radios", keys: ["at", "radius", "area", "private"])),
        ("[place a]\nat = 90.1 0", 2, .wrongPosition("90.1 0")),
        ("[place a]\nat = 1 2 3", 2, .wrongPosition("1 2 3")),
        ("[place a]\nat = 1 inf", 2, .wrongPosition("1 inf")),
        ("[place a]\nradius = 0.5", 2, .wrongRadius("0.5")),
        ("[place a]\nradius = 1e7", 2, .wrongRadius("1e7")),
        ("[place a]\nprivate = true", 2, .wrongChoice("true")),
        ("\n[place a]\nat = 1 2\n", 2, .noShape("a")),
        ("[place a]\nradius = 5\n[place b]", 1, .noShape("a")),
        ("[place a]\nat = 1 2\nradius = 5\narea = b", 1, .noShape("a")),
        ("[place a]\narea = b", 2, .unreadableArea(path: "/x/b", reason: "No such file or directory")),
    ] as [(String, Int, PlaceFileError.Problem)])
    func theFirstWrongLineIsNamed(text: String, line: Int, problem: PlaceFileError.Problem) {
        #expect(error(text) == PlaceFileError(problem, line: line))
    }

    @Test func alertsAreRead() throws {
        #expect(try places("").alerts == nil && places("[alerts]").alerts == AlertRules())
        let file = try places("[alerts]\nfarther = 500\nsilent = 90 m\nquiet = 22:30 - 7:00\n[place a]\nat = 1 2\nradius = 3")
        let rules = try #require(file.alerts)
        #expect(rules.fartherMeters == 500 && rules.silentMilliseconds == 5_400_000)
        #expect(rules.quietHours == QuietHours(startMinute: 1350, endMinute: 420) && file.places.count == 1)
        #expect(try places("[alerts]\nsilent = off").alerts?.silentMilliseconds == .some(nil))
        #expect(try places("[ alerts ] # all\nsilent = 365d").alerts?.silentMilliseconds == 31_536_000_000)
    }

    @Test func textThatIsNoTextOrTooLong() {
        do throws(PlaceFileError) {
            _ = try PlaceFile([0x0A, 0xFF], folder: "/x") { _ throws(PlaceFileError.Problem) in throw .notText }
            Issue.record("a line that is not UTF-8 was read")
        } catch { #expect(error == PlaceFileError(.notText, line: 2)) }
        #expect(error(String(repeating: "#", count: PlaceFile.byteLimit)) == nil)
        #expect(error(String(repeating: "#", count: PlaceFile.byteLimit + 1)) == PlaceFileError(.tooLong(byteLimit: 1 << 20), line: 1))
    }

    @Test(arguments: [
        (square, 1, 4), (#"{"type":"Feature","geometry":\#(square),"properties":null}"#, 1, 4),
        (#"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}},{"type":"Feature","geometry":\#(square)}]}"#, 1, 4),
        (#"{"type":"GeometryCollection","geometries":[\#(square),\#(square)]}"#, 2, 8),
        (#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]],[[0.2,0.1],[0.3,0.1],[0.3,0.2],[0.2,0.1]]],[[[2,2,9],[3,2,9],[3,3,9],[2,2,9]]]]}"#, 2, 9),
    ]) func polygonsAreFoundInEachKindOfGeoJSON(text: String, polygonCount: Int, edgeCount: Int) throws {
        let file = try places("[place a]\narea = a", areas: ["/x/a": text])
        guard case .area(let area) = file.places[0].shape else { throw PlaceFileError(.noShape("a"), line: 1) }
        let polygons = area.parts.joined()
        #expect(polygons.count == polygonCount && polygons.flatMap(\.edges).count == edgeCount)
    }

    @Test(arguments: [
        (#"{"type":"Point","coordinates":[1,2]}"#, .noPolygons(path: "/x/a", .noGeometry)), ("[]", .noPolygons(path: "/x/a", .noGeometry)),
        (#"{"type":"Polygon","coordinates":[[[5,50],[6,50],[6,51],[5,51]]]}"#, .noPolygons(path: "/x/a", .openRing)),
        (#"{"type":"Polygon","coordinates":[[[5,50],[6,50],[5,50]]]}"#, .noPolygons(path: "/x/a", .openRing)),
        (#"{"type":"Polygon","coordinates":[[]]}"#, .noPolygons(path: "/x/a", .openRing)),
        // A polar cap, in three ways, and more than half of the Earth.
        (#"{"type":"Polygon","coordinates":[[[-180,80],[180,80],[180,90],[-180,90],[-180,80]]]}"#, .noPolygons(path: "/x/a", .tooWide)),
        (#"{"type":"Polygon","coordinates":[[[-180,80],[0,80],[180,80],[180,90],[-180,90],[-180,80]]]}"#, .noPolygons(path: "/x/a", .tooWide)),
        (#"{"type":"Polygon","coordinates":[[[0,80],[120,80],[-120,80],[0,80]]]}"#, .noPolygons(path: "/x/a", .tooWide)),
        (#"{"type":"Polygon","coordinates":[[[-95,0],[0,0],[95,0],[95,10],[0,10],[-95,10],[-95,0]]]}"#, .noPolygons(path: "/x/a", .tooWide)),
        (#"{"type":"Polygon","coordinates":[[[5,91],[6,50],[6,51],[5,91]]]}"#, .noPolygons(path: "/x/a", .wrongPosition)),
        (#"{"type":"Polygon","coordinates":[[[5],[6],[7],[5]]]}"#, .noPolygons(path: "/x/a", .wrongPosition)),
    ] as [(String, PlaceFileError.Problem)]) func aFileWithoutPolygonsIsRefused(text: String, problem: PlaceFileError.Problem) {
        #expect(error("[place a]\narea = a", areas: ["/x/a": text]) == PlaceFileError(problem, line: 2))
    }

    @Test func aFileThatIsNoJSONIsRefusedWithThePlace() {
        guard case .noJSON(path: "/x/a", let fault)? = error("[place a]\narea = a", areas: ["/x/a": #"{"type""#])?.problem else {
            Issue.record("half of an object was read")
            return
        }
        #expect(fault.byteOffset == 7)
    }

    @Test func aPlaceIsFoundInAFileWithCarriageReturns() {
        let lines = ["[place a]\r", "at = 1 2\r", "radius = 3\r", "[place b]\r", "at = 4 5\r", "radius = 6\r", ""]
        #expect(PlaceFile.text(lines, removing: "a") == Array(lines[3...]))
        #expect(PlaceFile.text(lines, removing: "c") == nil)
    }

    @Test func messages() {
        let message = PlaceFileError(.wrongRadius("x"), line: 3).message(path: "/x/places")
        #expect(message.reason == "/x/places, line 3: 'x' is no radius.")
        #expect(message.remedy == "Write a number of metres from 1 to 6000000.")
        #expect(message.code == .placesUnusable)
        let area = PlaceFileError(.noPolygons(path: "/x/a", .openRing), line: 2).message(path: "/x/places")
        #expect(area.reason == "/x/places, line 2: /x/a has a ring that does not end where it begins, or has fewer than four positions.")
    }
}
