import CollarLink
import CollarLinkTesting
import FoundationEssentials
import Testing

@Suite("LocationFix as JSON")
struct LocationFixJSONTests {
    private func encoded(_ fix: LocationFix) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(fix), as: UTF8.self)
    }

    private func decoded(_ text: String) throws -> LocationFix {
        try JSONDecoder().decode(LocationFix.self, from: Data(text.utf8))
    }

    @Test("Keys and numbers are those of the table")
    func keys() throws {
        let expected = """
            {"alt_m":10,"battery_pct":85,"coordinate":{"latitude":37.7749,"longitude":-122.4194},"course_deg":180,\
            "h_accuracy_m":5,"heading_deg":null,"id":"910A2DEC-8902-85CC-842D-8CCB0000002A","seq":42,\
            "source":"collar","speed_mps":0.5,"ts_unix_ms":1699401275567,"v_accuracy_m":10}
            """
        #expect(try encoded(.sample(sequence: 42)) == expected)
    }

    @Test("The example of the original decodes")
    func example() throws {
        let fix = try decoded(
            #"{"id":"11111111-2222-3333-4444-555555555555","ts_unix_ms":1699401234567.0,"source":"iOS","coordinate":{"latitude":37.7749,"longitude":-122.4194},"alt_m":10.0,"h_accuracy_m":5.0,"v_accuracy_m":10.0,"speed_mps":0.5,"course_deg":180.0,"heading_deg":12.5,"battery_pct":85.0,"seq":42,"type":"x","collar":[1]}"#
        )
        #expect(fix.id == UUID(uuidString: "11111111-2222-3333-4444-555555555555"))
        #expect(fix.timestamp == Date(unixMilliseconds: 1_699_401_234_567))
        #expect(fix.source == .iOS)
        #expect(fix.coordinate == LocationFix.Coordinate(latitude: 37.7749, longitude: -122.4194))
        #expect(fix.altitudeMeters == 10 && fix.horizontalAccuracyMeters == 5 && fix.verticalAccuracyMeters == 10)
        #expect(fix.speedMetersPerSecond == 0.5 && fix.courseDegrees == 180 && fix.headingDegrees == 12.5)
        #expect(fix.batteryFraction == 0.85 && fix.sequence == 42)
    }

    @Test("The compact flavour, with nothing that may be left out")
    func compact() throws {
        let text = #"{"ts_unix_ms":1500,"lat":-90,"lon":180,"seq":0}"#
        let fix = try decoded(text)
        #expect(fix.coordinate == LocationFix.Coordinate(latitude: -90, longitude: 180))
        #expect(fix.timestamp == Date(timeIntervalSince1970: 1.5))
        #expect(fix.altitudeMeters == nil && fix.headingDegrees == nil && fix.source == .collar)
        #expect(fix.horizontalAccuracyMeters == -1 && fix.verticalAccuracyMeters == -1)
        #expect(fix.speedMetersPerSecond == -1 && fix.courseDegrees == -1 && fix.batteryFraction == -1)
        // A text without an id gives a fix with a new id each time.
        #expect(try decoded(text).id != fix.id)
    }

    @Test("Any negative value is unknown")
    func negatives() throws {
        let fix = try decoded(
            #"{"ts_unix_ms":0,"lat":0,"lon":0,"seq":0,"h_accuracy_m":-5,"v_accuracy_m":-0.1,"speed_mps":-3,"course_deg":-90,"heading_deg":-1,"battery_pct":-100}"#
        )
        #expect(fix.horizontalAccuracyMeters == -1 && fix.verticalAccuracyMeters == -1)
        #expect(fix.speedMetersPerSecond == -1 && fix.courseDegrees == -1 && fix.batteryFraction == -1)
        #expect(fix.headingDegrees == nil)
    }

    @Test("A fix comes back exactly, whatever its time and battery")
    func roundTrip() throws {
        var generator = SystemRandomNumberGenerator()
        var times = [Date(), .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0)]
        for _ in 0..<300 {
            // Times of our days in the full resolution of a Date, 0.12 µs, and times from 1937 to 2032.
            times.append(Date(timeIntervalSinceReferenceDate: .random(in: 7e8...9e8, using: &generator)))
            times.append(Date(timeIntervalSinceReferenceDate: .random(in: -2e9...1e9, using: &generator)))
        }
        for timestamp in times {
            let fix = makeFix(
                timestamp: timestamp, latitude: .random(in: -90...90, using: &generator), altitude: 0.1 + 0.2,
                speed: 1e-7, battery: .random(in: 0...1, using: &generator))
            let text = try encoded(fix)
            let back = try decoded(text)
            #expect(back == fix, "\(text)")
        }
    }

    @Test("Battery charges have no stray digits")
    func batteryDigits() throws {
        for percent in 0...100 {
            let fix = makeFix(battery: Double(percent) / 100)
            #expect(try encoded(fix).contains("\"battery_pct\":\(percent),"))
            #expect(try decoded(try encoded(fix)).batteryFraction == Double(percent) / 100)
        }
    }

    @Test(
        "Errors name the field and what is wrong",
        arguments: [
            (#"{"ts_unix_ms":0,"coordinate":{"latitude":95.2,"longitude":0},"seq":0}"#, "coordinate.latitude", "95.2 is outside -90…90"),
            (#"{"ts_unix_ms":0,"coordinate":{"latitude":0,"longitude":-180.5},"seq":0}"#, "coordinate.longitude", "-180.5 is outside -180…180"),
            (#"{"ts_unix_ms":0,"coordinate":{"latitude":0},"seq":0}"#, "coordinate.longitude", "it is missing"),
            (#"{"ts_unix_ms":0,"lat":91,"lon":0,"seq":0}"#, "lat", "91 is outside -90…90"),
            (#"{"ts_unix_ms":0,"lat":1,"seq":0}"#, "lon", "it is missing"),
            (#"{"ts_unix_ms":0,"seq":0}"#, "coordinate", "it is missing"),
            (#"{"lat":0,"lon":0,"seq":0}"#, "ts_unix_ms", "it is missing"),
            (#"{"ts_unix_ms":0,"lat":0,"lon":0}"#, "seq", "it is missing"),
            (#"{"ts_unix_ms":0,"lat":0,"lon":0,"seq":-1}"#, "seq", "-1 is negative"),
            (#"{"ts_unix_ms":0,"lat":0,"lon":0,"seq":-9223372036854775808}"#, "seq", "-9223372036854775808 is negative"),
            (#"{"ts_unix_ms":0,"lat":0,"lon":0,"seq":1.5}"#, "seq", "1.5 is not a whole number"),
            (#"{"ts_unix_ms":0,"lat":0,"lon":0,"seq":0,"battery_pct":100.1}"#, "battery_pct", "100.1 is outside 0…100"),
            (#"{"ts_unix_ms":0,"lat":0,"lon":0,"seq":0,"course_deg":360.5}"#, "course_deg", "360.5 is outside 0…360"),
            (#"{"ts_unix_ms":0,"lat":0,"lon":0,"seq":0,"heading_deg":361}"#, "heading_deg", "361 is outside 0…360"),
            (#"{"ts_unix_ms":0,"lat":0,"lon":0,"seq":0,"source":"dog"}"#, "source", "\"dog\" is not one of watchOS, iOS, collar"),
        ])
    func errors(text: String, field: String, problem: String) throws {
        let error = try #require(throws: DecodingError.self) { try decoded(text) }
        switch error {
        case .keyNotFound(let key, let context):
            #expect((context.codingPath.map(\.stringValue) + [key.stringValue]).joined(separator: ".") == field)
            #expect(context.debugDescription == "\(field): \(problem)")
        case .dataCorrupted(let context):
            #expect(context.codingPath.map(\.stringValue).joined(separator: ".") == field)
            #expect(context.debugDescription == "\(field): \(problem)")
        default: Issue.record("\(error)")
        }
    }

    @Test("Values of the wrong type are refused with their key")
    func wrongType() throws {
        let error = try #require(throws: DecodingError.self) {
            try decoded(#"{"ts_unix_ms":0,"lat":"1","lon":0,"seq":0}"#)
        }
        guard case .typeMismatch(_, let context) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["lat"])
    }

    @Test("What is not a number is not encoded")
    func notFinite() {
        #expect(throws: EncodingError.self) { try encoded(makeFix(latitude: .nan)) }
        #expect(throws: EncodingError.self) { try encoded(makeFix(timestamp: Date(timeIntervalSince1970: .infinity))) }
        #expect(throws: EncodingError.self) { try encoded(makeFix(battery: .nan)) }
    }
}
