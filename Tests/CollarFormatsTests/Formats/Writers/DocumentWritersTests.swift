import CollarHost
import CollarJournal
import CollarWire
import Testing

@testable import CollarFormats

@Suite("GPX and GeoJSON")
struct DocumentFormatTests {
    private let head = """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" creator="collar-link" xmlns="http://www.topografix.com/GPX/1/1" xmlns:collar="urn:collar-link:gpx:1">

        """

    @Test func gpx() {
        #expect(document(.gpx, []) == head + "</gpx>\n")
        #expect(
            document(.gpx, [knownFix(), unknownFix(), edgeFix()], worn(by: awkwardName, species: "Felis <catus>")) == head + """
                <trk><name>Al, "the" &lt;&amp;&gt;&#10;=Zoë\\</name><desc>Felis &lt;catus&gt;</desc><src>collar 0123456789abcdef</src>
                <trkseg>
                <trkpt lat="37.7749" lon="-122.4194"><ele>10</ele><time>2023-11-07T23:53:54.567Z</time><extensions>\
                <collar:h_accuracy_m>5.268</collar:h_accuracy_m><collar:v_accuracy_m>12.471</collar:v_accuracy_m>\
                <collar:speed_mps>0.5</collar:speed_mps><collar:course_deg>180</collar:course_deg>\
                <collar:heading_deg>90</collar:heading_deg><collar:battery_pct>85</collar:battery_pct></extensions></trkpt>
                </trkseg>
                </trk>
                <trk><name>collar 00000000000000ab</name><src>collar 00000000000000ab</src>
                <trkseg>
                <trkpt lat="0" lon="0"><time>2000-01-01T00:00:00.000Z</time></trkpt>
                <trkpt lat="-90" lon="-180"><ele>-0.4</ele><time>1969-12-31T23:59:59.999Z</time><extensions>\
                <collar:h_accuracy_m>0</collar:h_accuracy_m><collar:speed_mps>0</collar:speed_mps>\
                <collar:course_deg>0</collar:course_deg><collar:battery_pct>0</collar:battery_pct></extensions></trkpt>
                </trkseg>
                </trk>
                </gpx>

                """)
    }

    /// The tracks and segments of a document, with the seconds of the points: `A[0 1][3]`.
    private func shape(_ text: String) -> String {
        var shape = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("<trk>") { shape += line.dropFirst(11).prefix { $0 != "<" } }
            if line == "<trkseg>" { shape += "[" }
            if line == "</trkseg>" { shape += "]" }
            if line.hasPrefix("<trkpt") { shape += line.split(separator: "00:00:0")[1].prefix(1) }
        }
        return shape
    }

    private func points(_ list: [(sequence: UInt32, log: LogID, device: DeviceID)]) -> [ReceivedFix] {
        list.enumerated().map { fix($1.sequence, device: $1.device, log: $1.log, second: Int64($0)) }
    }

    @Test("A segment ends where a sequence does not follow the one before it")
    func segments() {
        #expect(shape(document(.gpx, points([(5, 7, 1), (6, 7, 1), (8, 7, 1), (7, 7, 1), (8, 7, 1)]))) == "collar 0000000000000001[01][2][34]")
        // Another log, another collar, and back: tracks follow the fixes.
        #expect(
            shape(document(.gpx, points([(5, 7, 1), (6, 8, 1), (7, 8, 2), (7, 8, 1)])))
                == "collar 0000000000000001[0][1]collar 0000000000000002[2]collar 0000000000000001[3]")
    }

    @Test("An animal has a track of its own")
    func animals() throws {
        let change: Int64 = 946_684_802_000
        let table = DeploymentTable([
            Deployment(animal: Animal(name: "Athena"), deviceID: 1, endUnixMilliseconds: change),
            Deployment(animal: Animal(name: "Zeus"), deviceID: 1, beginUnixMilliseconds: change, endUnixMilliseconds: change + 2000),
        ])
        let fixes = points((0..<6).map { ($0, 7, 1) })
        #expect(shape(document(.gpx, fixes, table)) == "Athena[01]Zeus[23]collar 0000000000000001[45]")
        #expect(document(.csv, fixes, table).split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false)[18] } == [
            "name", "Athena", "Athena", "Zeus", "Zeus", "", "",
        ])
    }

    @Test("Where a message stands in the log, no fix is missing; a gap that is reported ends no segment")
    func messages() throws {
        var formatter = EntryFormatter(FormatOptions(.gpx))
        var bytes: [UInt8] = []
        func append(_ sequence: UInt32, second: Int64) {
            formatter.append(fix(sequence, second: second), to: &bytes)
        }
        let lost = try #require(SequenceRange(1, 2))
        append(5, second: 0)
        formatter.append(.message(try message(6)), deviceID: 0xAB, to: &bytes)
        append(7, second: 1)
        formatter.append(.message(try message(9)), deviceID: 0xAB, to: &bytes)
        append(8, second: 2)
        formatter.append(.message(try message(9)), deviceID: 0xAC, to: &bytes)
        formatter.append(.gap(GapChange(event: .lost, logID: 7, range: lost, unixMilliseconds: 0)), deviceID: 0xAB, to: &bytes)
        append(9, second: 3)
        append(11, second: 4)
        #expect(shape(String(decoding: bytes, as: UTF8.self)) == "collar 00000000000000ab[0123][4")
    }

    @Test("A second document has its own names")
    func secondDocument() {
        for format in [OutputFormat.gpx, .geojson, .geojsonTrack, .homeassistant] {
            var formatter = EntryFormatter(FormatOptions(format))
            var documents: [[UInt8]] = []
            for table in [DeploymentTable(), DeploymentTable(), worn(by: "Athena")] {
                formatter.annotations.deployments = table
                var bytes: [UInt8] = []
                formatter.begin(into: &bytes)
                formatter.append(knownFix(), to: &bytes)
                formatter.end(into: &bytes)
                documents.append(bytes)
            }
            #expect(documents[0] == documents[1])
            #expect(String(decoding: documents[2], as: UTF8.self) == document(format, [knownFix()], worn(by: "Athena")))
            #expect(documents[2] != documents[1])
        }
    }

    @Test func geojson() {
        #expect(document(.geojson, []) == "{\"type\":\"FeatureCollection\",\"features\":[\n]}\n")
        #expect(
            document(.geojson, [knownFix(), unknownFix(), edgeFix()], worn(by: awkwardName)) == #"""
                {"type":"FeatureCollection","features":[
                {"type":"Feature","id":"01234567-89ab-8cde-bcbc-614e0000002a","geometry":{"type":"Point","coordinates":[-122.4194,37.7749]},"properties":{"ts_unix_ms":1699401234567,"source":"collar","alt_m":10,"h_accuracy_m":5.268,"v_accuracy_m":12.471,"speed_mps":0.5,"course_deg":180,"heading_deg":90,"battery_pct":85,"seq":42,"collar":"0123456789abcdef","log":12345678,"rx_unix_ms":1699401239999,"rssi_dbm":-107,"snr_db":-0.5,"name":"Al, \"the\" <&>\u000a=Zoë\\"}},
                {"type":"Feature","id":"00000000-0000-800a-ac00-000700000000","geometry":{"type":"Point","coordinates":[0,0]},"properties":{"ts_unix_ms":946684800000,"source":"collar","alt_m":null,"h_accuracy_m":null,"v_accuracy_m":null,"speed_mps":null,"course_deg":null,"heading_deg":null,"battery_pct":null,"seq":0,"collar":"00000000000000ab","log":7,"rx_unix_ms":null}},
                {"type":"Feature","id":"00000000-0000-800a-ac00-000700000001","geometry":{"type":"Point","coordinates":[180,-90]},"properties":{"ts_unix_ms":-1,"source":"iOS","alt_m":-0.4,"h_accuracy_m":0,"v_accuracy_m":null,"speed_mps":0,"course_deg":0,"heading_deg":null,"battery_pct":0,"seq":1,"collar":"00000000000000ab","log":7,"rx_unix_ms":-1}}
                ]}

                """#)
    }
}

/// A message with this sequence, received a second after 1970.
func message(_ sequence: UInt32) throws -> JournaledMessage {
    let data: [UInt8] = []
    let made = ApplicationMessage(kind: .notice, code: 3, unixSeconds: 0, data: data.span)
    let content = try #require(made)
    return JournaledMessage(
        logID: 7, receivedUnixMilliseconds: 1000, message: CollarMessage(sequence: sequence, content: content))
}
