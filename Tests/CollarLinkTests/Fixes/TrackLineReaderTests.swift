import CollarFormats
import CollarLink
import CollarLinkTesting
import FoundationEssentials
import Testing

@Suite("Reading lines of a track")
struct TrackLineReaderTests {
    private let reader = TrackLineReader()

    @Test("A line of the corpus, without id")
    func corpusLine() throws {
        let fix = try reader.fix(
            fromLine:
                #"{"ts_unix_ms":1506302366000.0,"source":"watchOS","coordinate":{"latitude":50.163425,"longitude":-5.204854},"alt_m":153.35,"h_accuracy_m":-1.0,"v_accuracy_m":-1.0,"speed_mps":0.41,"course_deg":-1.0,"heading_deg":null,"battery_pct":97.74,"seq":3}"#,
            lineNumber: 1)
        #expect(fix.timestamp == Date(unixMilliseconds: 1_506_302_366_000))
        #expect(fix.coordinate == LocationFix.Coordinate(latitude: 50.163425, longitude: -5.204854))
        #expect(fix.altitudeMeters == 153.35 && fix.speedMetersPerSecond == 0.41 && fix.batteryFraction == 0.9774)
        #expect(fix.horizontalAccuracyMeters == -1 && fix.headingDegrees == nil)
        #expect(fix.source == .watchOS && fix.sequence == 3)
    }

    @Test("It reads what JSONDecoder reads")
    func sameAsDecoder() throws {
        for fix in [LocationFix.sample(sequence: 5), .samplePoorAccuracy(), makeFix(timestamp: Date(), heading: 3)] {
            let data = try JSONEncoder().encode(fix)
            #expect(try reader.fix(fromLine: data, lineNumber: 1) == fix)
            #expect(try JSONDecoder().decode(LocationFix.self, from: data) == fix)
        }
    }

    @Test("Compact, in any order, with spaces, escapes and things of others")
    func compact() throws {
        let fix = try reader.fix(
            fromLine: " {\"lon\" : 1E1,\t\"x\":[{\"a\":[]},\"\\u00e9\\ud83d\\ude00\\n\",true,false,null], \"l\\u0061t\":-2e-1,\"ts_unix_ms\":5} \r\n",
            lineNumber: 1, defaultSequence: 17)
        #expect(fix.coordinate == LocationFix.Coordinate(latitude: -0.2, longitude: 10))
        #expect(fix.sequence == 17 && fix.source == .collar)
    }

    @Test("A sequence of its own comes before the default")
    func ownSequence() throws {
        let fix = try reader.fix(
            fromLine: #"{"ts_unix_ms":5,"lat":0,"lon":0,"seq":3}"#, lineNumber: 1, defaultSequence: 9)
        #expect(fix.sequence == 3)
    }

    @Test(
        "Errors say the line, the field and what is wrong",
        arguments: [
            (7, #"{"ts_unix_ms":0,"coordinate":{"latitude":95.2,"longitude":0},"seq":0}"#, "The field coordinate.latitude in line 7 is wrong: 95.2 is outside -90…90."),
            (9, #"{"lat":0,"lon":0,"seq":0}"#, "The field ts_unix_ms in line 9 is wrong: it is missing."),
            (2, #"{"ts_unix_ms":null,"lat":0,"lon":0,"seq":0}"#, "The field ts_unix_ms in line 2 is wrong: it is missing."),
            (1, #"{"ts_unix_ms":0,"lat":"1","lon":0}"#, "The field lat in line 1 is wrong: it is a string, where a number is expected."),
            (1, #"{"ts_unix_ms":0,"coordinate":[1,2]}"#, "The field coordinate in line 1 is wrong: it is an array, where an object is expected."),
            (1, #"{"ts_unix_ms":0,"lat":1,"lon":0}"#, "The field seq in line 1 is wrong: it is missing."),
            (1, #"{"ts_unix_ms":0,"lat":1,"lon":0,"seq":1e30}"#, "The field seq in line 1 is wrong: 1000000000000000000000000000000 is too large."),
            (1, #"{"ts_unix_ms":0,"lat":1,"lat":2,"lon":0}"#, "The field lat in line 1 is wrong: it is given twice."),
            (1, #"{"ts_unix_ms":0,"lat":1,"lon":0,"seq":0,"id":"x"}"#, "The field id in line 1 is wrong: \"x\" is not a UUID."),
            (1, #"{"ts_unix_ms":0,"lat":1,"lon":0,"seq":0,"id":7}"#, "The field id in line 1 is wrong: it is a number, where a string is expected."),
            (1, #"{"ts_unix_ms":0,"lat":1,"lon":0,"seq":0,"alt_m":1e999}"#, "The field alt_m in line 1 is wrong: 1e999 is too large."),
            (1, #"{"ts_unix_ms":1e300,"lat":1,"lon":0,"seq":0}"#, "The field ts_unix_ms in line 1 is wrong: 1e300 is not a time in milliseconds since 1970."),
            (4, #"{"type":"gap","from":1}"#, "The field type in line 4 is wrong: \"gap\" is not \"fix\"."),
            (3, "[1]", "Line 3 is an array, where an object {…} is expected."),
            (3, "hello", "Line 3 is not JSON: a value is expected (byte offset 0)."),
            (3, #"{"a":1} x"#, "Line 3 is not JSON: something after the end of the value (byte offset 8)."),
            (3, #"{"a":012}"#, "Line 3 is not JSON: a comma or } is expected (byte offset 6)."),
            (3, #"{"a":tru}"#, "Line 3 is not JSON: neither a value nor \"true\" (byte offset 5)."),
            (3, #"{"a":NaN}"#, "Line 3 is not JSON: a value is expected (byte offset 5)."),
            (3, #"{"a":1."#, "Line 3 is not JSON: a digit is expected after the point (byte offset 7)."),
            (3, #"{"a"#, "Line 3 is not JSON: the text ends inside a string (byte offset 3)."),
            (3, #"{"a" 1}"#, "Line 3 is not JSON: a colon is expected after the key \"a\" (byte offset 5)."),
            (3, #"{"a":"\ud800"}"#, "Line 3 is not JSON: half a surrogate pair in a string (byte offset 12)."),
            (3, #"{1:2}"#, "Line 3 is not JSON: a key in quotes is expected (byte offset 1)."),
        ])
    func errors(lineNumber: Int, line: String, message: String) throws {
        let error = try #require(throws: TrackLineError.self) {
            try reader.fix(fromLine: line, lineNumber: lineNumber)
        }
        #expect("\(error)" == message)
    }

    @Test("Deep nesting is refused, not followed")
    func nesting() throws {
        let error = try #require(throws: TrackLineError.self) {
            try reader.fix(fromLine: String(repeating: "[", count: 100_000), lineNumber: 1)
        }
        #expect(error.problem == "nested too deeply" && error.byteOffset == 32)
    }

    @Test("No prefix and no damaged byte makes it crash")
    func damage() throws {
        let line = Array(try JSONEncoder().encode(LocationFix.sample()))
        for length in 0..<line.count {
            #expect(throws: TrackLineError.self) { try reader.fix(fromLine: line.prefix(length), lineNumber: 1) }
        }
        for index in line.indices {
            for byte: UInt8 in [0, 0x22, 0x5C, 0x7B, 0x7D, 0x2C, 0x2D, 0x39, 0x65, 0xFF] {
                var damaged = line
                damaged[index] = byte
                do {
                    _ = try reader.fix(fromLine: damaged, lineNumber: 1)
                } catch {
                    #expect(error.lineNumber == 1)
                }
            }
        }
    }
}

extension TrackLineReader {
    func fix(
        fromLine line: String, lineNumber: Int, defaultSequence: Int? = nil
    ) throws(TrackLineError) -> LocationFix {
        try fix(fromLine: line.utf8, lineNumber: lineNumber, defaultSequence: defaultSequence)
    }
}
