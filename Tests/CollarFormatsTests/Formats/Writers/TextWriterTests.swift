import CollarHost
import CollarJournal
import CollarWire
import Testing

@testable import CollarFormats

@Suite("Lines of text and JSON with names, times as text, and how long lines are")
struct LineFormatTests {
    @Test func text() {
        #expect(
            document(.text, [knownFix(), unknownFix(), edgeFix()], worn(by: "Athena\u{1B}[2J")) == """
                2023-11-07T23:53:54.567Z  37.77490, -122.41940  ±5.3 m  0.5 m/s  battery 85 %  Athena\\u{1B}[2J  collar 0123456789abcdef  fix 42
                2000-01-01T00:00:00.000Z  0.00000, 0.00000  ±? m  ? m/s  battery ? %  collar 00000000000000ab  fix 0
                1969-12-31T23:59:59.999Z  -90.0000000, 180.0000000  ±0.0 m  0.0 m/s  battery 0 %  collar 00000000000000ab  fix 1

                """)
        var value = knownFix()
        for (code, meters) in [(10, "0.1"), (62, "8.8"), (63, "9.6"), (64, "10"), (65, "11"), (126, "2195")] as [(UInt8, String)] {
            value.fix.horizontalAccuracy = AccuracyCode(rawValue: code)
            #expect(document(.text, [value]).contains("  ±\(meters) m  "))
        }
    }

    @Test("Messages and gaps name the animal of their time")
    func events() throws {
        let table = DeploymentTable([
            Deployment(animal: Animal(name: "Athena"), deviceID: 0xAB, endUnixMilliseconds: 1500),
            Deployment(animal: Animal(name: "Zeus"), deviceID: 0xAB, beginUnixMilliseconds: 1500),
        ])
        let range = try #require(SequenceRange(3, 5))
        var lines: [OutputFormat: String] = [:]
        for format in OutputFormat.allCases {
            var options = FormatOptions(format)
            options.deployments = table
            var formatter = EntryFormatter(options)
            var bytes: [UInt8] = []
            formatter.append(.message(try message(9)), deviceID: 0xAB, to: &bytes)
            formatter.append(.gap(GapChange(event: .missing, logID: 7, range: range, unixMilliseconds: 1500)), deviceID: 0xAB, to: &bytes)
            lines[format] = String(decoding: bytes, as: UTF8.self)
            #expect(bytes.isEmpty != format.hasEvents)
        }
        let json = try #require(lines[.json]).split(separator: "\n")
        #expect(json.map { $0.hasSuffix(#","rx_unix_ms":1000,"name":"Athena"}"#) } == [true, false])
        #expect(json.last?.hasSuffix(#","first_seq":3,"last_seq":5,"name":"Zeus"}"#) == true)
        let text = try #require(lines[.text]).split(separator: "\n")
        #expect(text.first?.hasPrefix("1970-01-01T00:00:01.000Z  ") == true)
        #expect(text.first?.hasSuffix("  Athena  collar 00000000000000ab  message 9") == true)
        #expect(text.last == "1970-01-01T00:00:01.500Z  Zeus  collar 00000000000000ab  fixes 3 to 5 missing")
    }

    @Test("A fix line of JSON ends with the name, where it is known")
    func names() {
        #expect(document(.json, [knownFix()], worn(by: "Zoë \"Z\"")).hasSuffix(#","rssi_dbm":-107,"snr_db":-0.5,"name":"Zoë \"Z\""}"# + "\n"))
        #expect(document(.json, [unknownFix()], worn(by: "Zoë")).hasSuffix(#","log":7,"rx_unix_ms":null}"# + "\n"))
    }

    @Test("OwnTracks has the initials of each animal, or the end of the collar's id")
    func initials() {
        let names = [(0xA1, "Zoë"), (0xA2, "-9 é"), (0xA3, "Ω!")] as [(DeviceID, String)]
        let table = DeploymentTable(names.map { Deployment(animal: Animal(name: $0.1), deviceID: $0.0) })
        let lines = document(.owntracks, [0xA1, 0xA2, 0xA1, 0xA3, 0xA4].map { fix(1, device: $0) }, table).split(separator: "\n")
        let expected = ["Zo", "9é", "Zo", "a3", "a4"].map { #"{"_type":"location","tid":"\#($0)","topic""# }
        #expect(zip(lines, expected).map { $0.hasPrefix($1) } == [true, true, true, true, true])
    }

    @Test("The clocks of a zone are changed at the right instant")
    func zones() {
        // Central European time at the end of October 2017.
        let berlin = TimeZoneOffset { $0 < 1_509_238_800 ? 7200 : 3600 }
        func times(_ list: [Int64], _ zone: TimeZoneOffset) -> [String] {
            var value = unknownFix()
            let fixes = list.map { time in
                value.fix.unixMilliseconds = time
                return value
            }
            return document(.text, fixes, zone: zone).split(separator: "\n").map { String($0.prefix(29)) }
        }
        #expect(
            times([1_509_238_799_999, 1_509_238_800_000, 1_509_238_799_000, 1_506_302_366_000], berlin) == [
                "2017-10-29T02:59:59.999+02:00", "2017-10-29T02:00:00.000+01:00", "2017-10-29T02:59:59.000+02:00",
                "2017-09-25T03:19:26.000+02:00",
            ])
        // A change in the middle of a quarter of an hour, an offset with seconds, and times before 1970.
        let odd = TimeZoneOffset { $0 < -1234 ? 3208 : -12_600 }
        #expect(
            times([-1_235_000, -1_234_001, -1_234_000, -1], odd) == [
                "1970-01-01T00:32:25.000+00:53", "1970-01-01T00:32:25.999+00:53", "1969-12-31T20:09:26.000-03:30",
                "1969-12-31T20:29:59.999-03:30",
            ])
    }

    @Test("Days of the calendar", arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        (-62_162_035_200_000, "0000-03-01T00:00:00.000Z"), (-62_162_035_200_001, "0000-02-29T23:59:59.999Z"),
        (140_737_488_355_327, "6429-10-17T02:45:55.327Z"), (-140_737_488_355_328, "-2490-03-17T21:14:04.672Z"),
        (253_402_300_800_000, "10000-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
    func days(unixMilliseconds: Int64, text: String) { #expect(utcText(unixMilliseconds: unixMilliseconds) == text) }

    @Test("The longest row of each format, and whether one of JSON fits the scratch memory", arguments: [
        (.json, 440), (.csv, 214), (.gpx, 413), (.geojson, 466), (.geojsonTrack, 80), (.movebank, 137), (.influx, 324), (.owntracks, 253), (.traccar, 259),
        (.homeassistant, 434), (.text, 133), (.nmea, 150),
    ] as [(OutputFormat, Int)])
    func longest(format: OutputFormat, byteCount: Int) {
        var formatter = EntryFormatter(FormatOptions(format))
        var bytes: [UInt8] = []
        var value = longestFix()
        // The formats with bounds of their own.
        if format == .influx { value.fix.unixMilliseconds = -9_223_372_036_854 }
        if format == .nmea { value.fix.unixMilliseconds = 1_699_401_234_567 }
        // A first fix, so that nothing else than the row is in the second one.
        for sequence in [value.fix.sequence - 1, value.fix.sequence] {
            value.fix.sequence = sequence
            bytes.removeAll()
            formatter.append(value, to: &bytes)
        }
        #expect(bytes.count == byteCount)
        if format == .json { #expect(bytes.count <= LineScratch.longestLine) }
    }
}
