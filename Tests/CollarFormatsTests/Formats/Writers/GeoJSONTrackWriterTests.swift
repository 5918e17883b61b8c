import CollarJournal
import CollarWire
import Testing

@testable import CollarFormats

@Suite("Lines of GeoJSON")
struct GeoJSONTrackWriterTests {
    /// Fixes whose sequences follow one another, at positions in 10^-5 degrees.
    private func walk(_ positions: [(latitude: Int32, longitude: Int32)], from first: UInt32 = 0) -> [ReceivedFix] {
        positions.enumerated().map { index, position in
            var value = fix(first + UInt32(index), second: Int64(index))
            (value.fix.latitudeSteps, value.fix.longitudeSteps) = (position.latitude, position.longitude)
            return value
        }
    }

    /// The types and coordinates of the features.
    private func shapes(_ document: String) -> [String] {
        document.split(separator: "\n").filter { $0.hasPrefix(#"{"type":"Feature","#) }.map { line in
            let geometry = line.split(separator: #""geometry":{"type":""#)[1].split(separator: "}")[0]
            return String(geometry.replacing(#"","coordinates":"#, with: " "))
        }
    }

    @Test("A run of fixes is a LineString, a single fix a Point")
    func wholeDocument() {
        let fixes = walk([(0, 0), (150, 200), (300, 400)], from: 5) + [fix(9, second: 9)]
        let table = DeploymentTable([Deployment(animal: Animal(name: "Zoë \"Z\""), deviceID: 0xAB, endUnixMilliseconds: 946_684_809_000)])
        #expect(document(.geojsonTrack, []) == "{\"type\":\"FeatureCollection\",\"features\":[\n]}\n")
        #expect(
            document(.geojsonTrack, fixes, table) == #"""
                {"type":"FeatureCollection","features":[
                {"type":"Feature","id":"00000000-0000-800a-ac00-000700000005","geometry":{"type":"LineString","coordinates":[[0,0],[0.002,0.0015],[0.004,0.003]]},"properties":{"first_ts_unix_ms":946684800000,"last_ts_unix_ms":946684802000,"fixes":3,"first_seq":5,"last_seq":7,"collar":"00000000000000ab","log":7,"name":"Zoë \"Z\""}},
                {"type":"Feature","id":"00000000-0000-800a-ac00-000700000009","geometry":{"type":"Point","coordinates":[0,0]},"properties":{"first_ts_unix_ms":946684809000,"last_ts_unix_ms":946684809000,"fixes":1,"first_seq":9,"last_seq":9,"collar":"00000000000000ab","log":7}}
                ]}

                """#)
    }

    @Test("A line ends where a fix is missing, and where log, collar or animal change")
    func runs() {
        let change: Int64 = 946_684_804_000
        let table = DeploymentTable([Deployment(animal: Animal(name: "Zeus"), deviceID: 2, beginUnixMilliseconds: change)])
        let list = [(5, 7, 1), (6, 7, 1), (8, 7, 1), (9, 8, 1), (10, 8, 2), (11, 8, 2), (12, 8, 2)] as [(UInt32, LogID, DeviceID)]
        let fixes = list.enumerated().map { fix($1.0, device: $1.2, log: $1.1, second: Int64($0)) }
        // The last two are made when the animal wears the collar: the change is between them and the fix before them.
        let counts = document(.geojsonTrack, fixes, table).split(separator: "\n").compactMap { line in
            line.split(separator: #""fixes":"#).dropFirst().first?.prefix { $0 != "," }
        }
        #expect(counts == ["2", "1", "1", "3"])
        let earlier = fixes.map { value in
            var value = value
            if value.fix.sequence == 10 { value.fix.unixMilliseconds = change - 1 }
            return value
        }
        #expect(shapes(document(.geojsonTrack, earlier, table)).map { $0.prefix(1) } == ["L", "P", "P", "P", "L"])
    }

    @Test("Where a message stands in the log, no fix is missing")
    func messages() throws {
        var formatter = EntryFormatter(FormatOptions(.geojsonTrack))
        var bytes: [UInt8] = []
        formatter.begin(into: &bytes)
        formatter.append(fix(5), to: &bytes)
        formatter.append(.message(try message(6)), deviceID: 0xAB, to: &bytes)
        formatter.append(fix(7), to: &bytes)
        formatter.end(into: &bytes)
        #expect(shapes(String(decoding: bytes, as: UTF8.self)) == ["LineString [[0,0],[0,0]]"])
    }

    @Test("A line over the antimeridian is cut where its straight way crosses it", arguments: [
        // The crossing is a quarter of the way along, so the latitude is too.
        ([(-1_000_000, 17_999_990), (-1_000_400, -17_999_970)], ["LineString [[179.9999,-10],[180,-10.001]]", "LineString [[-180,-10.001],[-179.9997,-10.004]]"]),
        ([(0, -17_999_000), (30, 17_999_500), (40, 17_999_000)], ["LineString [[-179.99,0],[-180,0.0002]]", "LineString [[180,0.0002],[179.995,0.0003],[179.99,0.0004]]"]),
        // To and fro.
        ([(0, 17_999_999), (0, -17_999_999), (0, 17_999_999)], [
            "LineString [[179.99999,0],[180,0]]", "LineString [[-180,0],[-179.99999,0],[-180,0]]", "LineString [[180,0],[179.99999,0]]",
        ]),
        // Over the pole, half of the Earth away: the way is not known, and stays on the map.
        ([(8_900_000, -9_000_000), (8_900_000, 9_000_000)], ["LineString [[-90,89],[90,89]]"]),
    ] as [([(Int32, Int32)], [String])])
    func antimeridian(positions: [(Int32, Int32)], expected: [String]) {
        #expect(shapes(document(.geojsonTrack, walk(positions))) == expected)
    }

    @Test("A fix at the antimeridian belongs to both edges of the map", arguments: [
        ([(0, 17_999_000), (1, -18_000_000), (2, 18_000_000), (3, 17_999_000)], ["LineString [[179.99,0],[180,0.00001],[180,0.00002],[179.99,0.00003]]"]),
        ([(0, -17_999_000), (1, 18_000_000), (2, 17_999_000)], [
            "LineString [[-179.99,0],[-180,0.00001]]", "LineString [[180,0.00001],[179.99,0.00002]]",
        ]),
        ([(0, 18_000_000), (1, -17_999_000)], ["Point [180,0]", "LineString [[-180,0],[-179.99,0.00001]]"]),
    ] as [([(Int32, Int32)], [String])])
    func edge(positions: [(Int32, Int32)], expected: [String]) {
        #expect(shapes(document(.geojsonTrack, walk(positions))) == expected)
    }

    @Test("The parts of a cut line have the fixes on their sides, and no fix counts twice")
    func partsOfALine() {
        let text = document(.geojsonTrack, walk([(0, 17_999_998), (0, 17_999_999), (0, -17_999_999)]))
        #expect(text.contains(#""fixes":2,"first_seq":0,"last_seq":1,"#))
        #expect(text.contains(#""last_ts_unix_ms":946684802000,"fixes":1,"first_seq":2,"last_seq":2,"#))
        #expect(text.contains(#""id":"00000000-0000-800a-ac00-000700000002","geometry":{"type":"LineString""#))
    }

    @Test("Positions of every resolution stand in one line")
    func resolutions() {
        var fixes = walk([(1, 2), (0, 0), (0, 0)])
        for (index, step) in [(1, PositionStep.e6), (2, .e7)] {
            fixes[index].fix.positionStep = step
            (fixes[index].fix.latitudeSteps, fixes[index].fix.longitudeSteps) = (-12_345_678, 23_456_789)
        }
        #expect(
            shapes(document(.geojsonTrack, fixes))
                == ["LineString [[0.00002,0.00001],[23.456789,-12.345678],[2.3456789,-1.2345678]]"])
    }
}
