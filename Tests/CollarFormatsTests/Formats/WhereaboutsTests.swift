import CollarTracking
import CollarWire
import Testing

@testable import CollarFormats

@Suite struct WhereaboutsTests {
    /// Beside the fix of the samples, which is at 37.7749, -122.4194.
    private func place(_ name: String, radius: Double, isPrivate: Bool = false) throws -> Place {
        let center = try #require(Position(latitudeDegrees: 37.775, longitudeDegrees: -122.42))
        return Place(name: name, shape: .circle(center: center, radiusMeters: radius), isPrivate: isPrivate)
    }

    private func line(_ options: FormatOptions, _ received: ReceivedFix = received()) -> String {
        var formatter = EntryFormatter(options)
        var bytes: [UInt8] = []
        formatter.append(received, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func options(_ places: [Place], owner: Owner? = nil) -> FormatOptions {
        var options = FormatOptions()
        options.annotations.places = PlaceTable(places)
        options.owner = owner
        return options
    }

    @Test func aFixInAPlaceNamesIt() throws {
        let before = line(FormatOptions())
        #expect(line(options([try place("a \"b\"", radius: 100)])) == before.replacing("}\n", with: ",\"place\":\"a \\\"b\\\"\"}\n"))
        #expect(line(options([try place("far", radius: 10)])) == before)
    }

    /// The centre is 54.0 m away to the north-west.
    @Test func distanceAndDirectionCountFromTheOwner() throws {
        let owner = try #require(Position(latitudeDegrees: 37.775, longitudeDegrees: -122.42))
        let text = line(options([], owner: .at(owner)))
        #expect(text.hasSuffix(",\"distance_m\":54,\"bearing_deg\":102}\n"))
        #expect(line(options([try place("home", radius: 10)], owner: .home)) == text)
        #expect(line(options([], owner: .home)) == line(FormatOptions()))
        let there = try #require(Position(latitudeDegrees: 37.7749, longitudeDegrees: -122.4194))
        #expect(line(options([], owner: .at(there))).hasSuffix(",\"distance_m\":0}\n"))
    }

    /// Distances from the true position of the owner would show it.
    @Test func aPrivatePlaceHidesAlsoTheOwner() throws {
        let nearby = try #require(Position(latitudeDegrees: 37.7752, longitudeDegrees: -122.4203))
        let place = try place("den", radius: 50, isPrivate: true)
        var hidden = options([place], owner: .moving(.gpsd, nearby))
        #expect(line(hidden) == line(options([place], owner: .at(place.circle.center))))
        hidden.showsExactPositions = true
        #expect(line(hidden) != line(options([place], owner: .at(place.circle.center))))
    }

    @Test func theOwnerCountsFromTheNextFixOn() throws {
        var formatter = EntryFormatter(options([], owner: .moving(.nmea, nil)))
        let center = try place("", radius: 1).circle.center
        var bytes: [UInt8] = []
        for owner in [nil, center, nil] {
            formatter.owner = .moving(.nmea, owner)
            formatter.append(received(), to: &bytes)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.map { $0.contains("\"distance_m\":54,\"bearing_deg\":102") } == [false, true, false])
    }

    @Test(arguments: OutputFormat.allCases) func noFormatShowsAPositionInAPrivatePlace(format: OutputFormat) throws {
        var options = options([try place("home", radius: 100, isPrivate: true)])
        options.format = format
        var formatter = EntryFormatter(options)
        var bytes: [UInt8] = []
        formatter.begin(into: &bytes)
        formatter.append(received(), to: &bytes)
        formatter.end(into: &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(bytes.count > 20)
        for digits in ["37.7749", "122.4194", "3746.494", "12225.164"] { #expect(!text.contains(digits), "\(text)") }
        #expect(text.contains("37.775") || text.contains("3746.50"), "\(text)")
    }

    @Test func aPrivatePlaceHidesPositionAccuracyAndMotion() throws {
        var options = options([try place("home", radius: 100, isPrivate: true)], owner: .home)
        var fix = received()
        fix.fix.heading = AngleCode(steps: 3)
        let text = line(options, fix)
        #expect(text.contains("\"latitude\":37.775,\"longitude\":-122.42}"))
        // The code of an accuracy that is nearest to 100 m.
        #expect(text.contains("\"h_accuracy_m\":\(AccuracyCode(nearestToMillimeters: 100_000).meters.text),"))
        #expect(text.contains("\"speed_mps\":-1,\"course_deg\":-1,\"heading_deg\":null"))
        #expect(text.hasSuffix(",\"place\":\"home\",\"private\":true,\"distance_m\":0}\n"))
        options.showsExactPositions = true
        let exact = line(options, fix)
        #expect(exact.contains("\"latitude\":37.7749,\"longitude\":-122.4194}"))
        #expect(exact.hasSuffix(",\"place\":\"home\",\"distance_m\":54,\"bearing_deg\":102}\n"))
    }

    /// A place whose name each format must write in its own way.
    @Test(arguments: [
        (.text, "  at a, \"b\" & \\ (private)  0 m from the owner  fix 42\n"),
        (.csv, ",\"a, \"\"b\"\" & \\\",true,0,\n"),
        (.gpx, "<collar:place>a, \"b\" &amp; \\</collar:place><collar:private>true</collar:private>"
            + "<collar:distance_m>0</collar:distance_m></extensions></trkpt>\n"),
        (.geojson, ",\"place\":\"a, \\\"b\\\" & \\\\\",\"private\":true,\"distance_m\":0}}"),
        (.influx, ",place=\"a, \\\"b\\\" & \\\\\",private=true,distance_m=0 1699401234567000042\n"),
    ] as [(OutputFormat, String)])
    func everyFormatWithPlacesNamesThem(format: OutputFormat, end: String) throws {
        let center = try #require(Position(latitudeDegrees: 37.775, longitudeDegrees: -122.42))
        var options = options([try place("a, \"b\" & \\", radius: 100, isPrivate: true)], owner: .at(center))
        options.format = format
        #expect(line(options).hasSuffix(end), "\(line(options))")
    }

    @Test(arguments: [
        (.text, "  collar 0123456789abcdef  54 m at 102° from the owner  fix 42\n"), (.csv, ",,,,,,54,102\n"),
        (.gpx, "</collar:battery_pct><collar:distance_m>54</collar:distance_m><collar:bearing_deg>102</collar:bearing_deg>"
            + "</extensions></trkpt>\n"),
        (.geojson, ",\"distance_m\":54,\"bearing_deg\":102}}"), (.influx, ",distance_m=54,bearing_deg=102i 1699401234567000042\n"),
    ] as [(OutputFormat, String)])
    func everyFormatWithPlacesHasDistances(format: OutputFormat, end: String) throws {
        let owner = try #require(Position(latitudeDegrees: 37.775, longitudeDegrees: -122.42))
        var options = options([], owner: .at(owner))
        options.format = format
        #expect(format.hasWhereabouts)
        #expect(line(options).hasSuffix(end), "\(line(options))")
    }

    /// The lines for Home Assistant have the place alone.
    @Test(arguments: OutputFormat.allCases.filter { !$0.hasWhereabouts && $0 != .homeassistant }) func theOtherFormatsAreTheSameWithPlaces(format: OutputFormat) throws {
        var options = options([try place("home", radius: 100)], owner: .home)
        options.format = format
        #expect(line(options) == line(FormatOptions(format)))
    }

    @Test func aTerminalShowsThePlaceAndTheDistance() throws {
        var options = options([try place("home\u{200E}", radius: 100)], owner: .at(try place("", radius: 1).circle.center))
        (options.format, options.terminalWidth) = (.text, 200)
        #expect(line(options).hasSuffix("  01234567  at home\\u{200E}  54 m at 102° from the owner  fix 42\n"), "\(line(options))")
    }

    @Test func changedPlacesCountFromTheNextFixOn() throws {
        var formatter = EntryFormatter(FormatOptions())
        formatter.annotations.places = PlaceTable([try place("field", radius: 100)])
        var bytes: [UInt8] = []
        formatter.append(received(), to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self).hasSuffix(",\"place\":\"field\"}\n"))
    }
}
