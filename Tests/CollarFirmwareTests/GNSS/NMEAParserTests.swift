import CollarFirmware
import CollarWire
import Testing

/// NMEA sentences.
@Suite struct NMEAParserTests {
    private let rmc = "GNRMC,092721.50,A,2717.314567,S,15300.440000,E,1.944,271.567,240224,,,A"
    private let gga = "GNGGA,092721.50,2717.314567,S,15300.440000,E,1,08,0.9,25.4,M,39.5,M,,"
    private let gst = "GNGST,092721.50,6.0,,,,3.0,4.0,7.125"

    /// The event of one moment.
    private func moment(_ texts: String...) -> GNSSEvent? {
        var parser = NMEAParser()
        let events = parser.events(of: texts.flatMap { sentence($0) })
        return events.first { $0 != .other } ?? parser.endMoment()
    }

    private func reading(_ texts: String...) throws -> GNSSReading {
        var parser = NMEAParser()
        var events = parser.events(of: texts.flatMap { sentence($0) })
        if let last = parser.endMoment() { events.append(last) }
        return try #require(onlyReading(events), "\(events)")
    }

    @Test func theThreeSentencesOfAMoment() throws {
        // 27° 17.314567′ is 27.28857612°; 1.944 knots are 1.0001 m/s.
        let expected = GNSSReading(
            unixMilliseconds: 1_708_766_841_500, latitudeE7: -272_885_761, longitudeE7: 1_530_073_333, altitudeMillimeters: 25_400,
            horizontalAccuracyMillimeters: 5000, verticalAccuracyMillimeters: 7125, speedMillimetersPerSecond: 1000,
            courseCentidegrees: 27_156)
        for order in [[rmc, gga, gst], [gst, gga, rmc], [gga, rmc, gst], [gst, rmc, gga]] {
            var parser = NMEAParser()
            // The moment ends with its third sentence.
            #expect(parser.events(of: order.flatMap { sentence($0) }) == [.other, .other, .reading(expected)])
            #expect(!parser.isMomentOpen)
        }
    }

    /// GPS has two sentences and GLONASS one. A satellite without a signal has an empty field, and the last sentence is not full.
    private let view = [
        "GPGSV,2,1,06,02,50,123,38,05,30,200,,12,10,020,09,25,70,310,10", "GPGSV,2,2,06,29,05,350,44,31,,,",
        "GLGSV,1,1,02,65,40,100,21,66,20,200,00,1",
    ]

    @Test func theSatellitesOfAllSystems() {
        var parser = NMEAParser()
        #expect(parser.events(of: view.flatMap { sentence($0) }) == [.other, .other, .other])
        #expect(parser.events(of: sentence(rmc)) == [.satellites(4), .other])
        // Each RMC tells the satellites of the sentences since the one before; without such a sentence none.
        let later = "GNRMC,092722.50,A,2717.314567,S,15300.440000,E,1.944,271.567,240224,,,A"
        #expect(parser.events(of: sentence(later)).allSatisfy { if case .satellites = $0 { false } else { true } })
        let again = "GNRMC,092723.50,A,2717.314567,S,15300.440000,E,1.944,271.567,240224,,,A"
        #expect(parser.events(of: sentence("GAGSV,1,1,00") + sentence(again)).contains(.satellites(0)))
    }

    /// More sentences than there are satellites: the number stays in its range.
    @Test func tooManySatellites() {
        var parser = NMEAParser()
        let full = sentence("GPGSV,1,1,04,1,1,1,40,2,1,1,40,3,1,1,40,4,1,1,40")
        #expect(parser.events(of: (0..<100).flatMap { _ in full } + sentence(rmc)).contains(.satellites(255)))
        #expect(!parser.events(of: sentence("PGGSV,1,1,01,1,1,1,40") + sentence(rmc)).contains(.satellites(1)))
    }

    /// An address that begins with P is a maker's: Garmin's PGRMC is no RMC, though its letters are those.
    @Test func proprietarySentences() throws {
        for proprietary in ["PGRMC,A,218.8,100,,,,,,A,3,1,1,4,30", "PMGST,1,2,3", "PGGGA,092721.50,1"] {
            #expect(try reading(gga, proprietary, rmc).altitudeMillimeters == 25_400, "\(proprietary)")
        }
    }

    /// The sentences and checksums of these lines are from NMEA's own examples and from a manual.
    @Test func publishedExamples() throws {
        var parser = NMEAParser()
        let lines = """
            $GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47
            $GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A
            $GPGST,172814.0,0.006,0.023,0.020,273.6,0.023,0.020,0.031*6A

            """
        let events = parser.events(of: lines.utf8)
        #expect(
            onlyReading(events)
                == GNSSReading(
                    unixMilliseconds: 764_426_119_000, latitudeE7: 481_173_000, longitudeE7: 115_166_667,
                    altitudeMillimeters: 545_400, speedMillimetersPerSecond: 11_524, courseCentidegrees: 8440))
        #expect(parser.endMoment() == .other)
    }

    @Test func whatIsMissingIsUnknown() throws {
        let alone = try reading(rmc)
        #expect(alone.altitudeMillimeters == nil && alone.horizontalAccuracyMillimeters == nil)
        #expect(alone.verticalAccuracyMillimeters == nil && alone.speedMillimetersPerSecond == 1000)
        let empty = try reading("GPRMC,092721,A,2717.3,S,15300.4,E,,,240224,,", "GPGGA,092721,2717.3,S,15300.4,E,1,08,0.9,,M,,M,,")
        #expect(empty.altitudeMillimeters == nil && empty.speedMillimetersPerSecond == nil && empty.courseCentidegrees == nil)
        let zero = try reading(rmc, gga, "GNGST,092721.50,,,,,0.0,0.0,0")
        #expect(zero.horizontalAccuracyMillimeters == nil && zero.verticalAccuracyMillimeters == nil)
    }

    @Test func noFixWithoutAValidStatusOrADate() {
        #expect(moment(gga, gst) == .other)
        #expect(moment(gga.replacing("E,1", with: "E,0"), gst) == .noFix)
        #expect(moment(rmc.replacing("50,A", with: "50,V")) == .noFix)
        for mode in ["N", "E", "M", "S"] { #expect(moment(String(rmc.dropLast()) + mode) == .noFix) }
        for quality in ["0", "6", "7", "8", ""] { #expect(moment(rmc, gga.replacing("E,1", with: "E,\(quality)")) == .noFix) }
        #expect(moment(rmc.replacing("240224", with: "")) == .noFix)
        #expect(moment(rmc.replacing("240224", with: "310224")) == .noFix)
        #expect(moment(rmc.replacing("240224", with: "99999999999")) == .noFix)
        #expect(moment("GNRMC,,V,,,,,,,,,,N") == .noFix)
        #expect(moment("GNRMC,092721.50,A,,,,,,,240224,,,A") == .noFix)
    }

    @Test(arguments: [
        ("9000.0", "N", 900_000_000), ("9000.0", "S", -900_000_000), ("9000.1", "N", nil), ("0000.00001", "N", 2),
        ("0000.0000029", "N", 0), ("4760.0", "N", nil), ("4759.9999999", "N", 480_000_000), ("4807.038", "X", nil),
        ("-4807.038", "N", nil), ("48O7.038", "N", nil), ("", "N", nil), ("4807.0.38", "N", nil), (".", "N", 0),
    ] as [(String, String, Int32?)])
    func latitudes(_ field: String, _ hemisphere: String, _ e7: Int32?) throws {
        let event = moment(rmc.replacing("2717.314567,S", with: "\(field),\(hemisphere)"))
        guard let e7 else { #expect(event == .noFix); return }
        #expect(onlyReading([event ?? .other])?.latitudeE7 == e7)
    }

    @Test func aYearOfTwoDigits() throws {
        for (digits, milliseconds) in [("311279", 3_471_240_441_000), ("060180", 315_998_841_000)] as [(String, Int64)] {
            let time = try reading(rmc.replacing("240224", with: digits)).unixMilliseconds
            #expect(time / 86_400_000 == milliseconds / 86_400_000)
        }
    }

    @Test func aLeapSecond() throws {
        let text = "GNRMC,235960.000,A,2717.3,S,15300.4,E,0,,311216,,,A"
        #expect(try reading(text).unixMilliseconds == 1_483_228_800_000)
        #expect(moment(text.replacing("235960", with: "235961")) == .noFix)
        #expect(moment(text.replacing("235960", with: "225960")) == .noFix)
    }

    @Test func momentsAreKeptApart() throws {
        var parser = NMEAParser()
        let later = rmc.replacing("092721.50", with: "092722.50")
        // The second sentence begins another moment, which ends the first one.
        let events = parser.events(of: sentence(rmc) + sentence(later))
        #expect(events.count == 2)
        #expect(onlyReading(events)?.unixMilliseconds == 1_708_766_841_500)
        guard case .reading(let second) = parser.endMoment() else { Issue.record("no second reading"); return }
        #expect(second.unixMilliseconds == 1_708_766_842_500)
        // A sentence that comes after the end of its moment has no effect.
        #expect(parser.events(of: sentence(gst.replacing("092721.50", with: "092722.50"))) == [.other])
        #expect(parser.endMoment() == nil)
    }

    @Test func damagedSentencesDoNotCount() throws {
        let good = sentence(rmc)
        for index in 1..<(good.count - 2) {
            var damaged = good
            damaged[index] ^= 0x01
            var parser = NMEAParser()
            let events = parser.events(of: damaged)
            #expect(events.isEmpty && parser.endMoment() == nil, "byte \(index)")
            // The next sentence counts.
            #expect(parser.events(of: good) == [.other])
        }
        var parser = NMEAParser()
        #expect(parser.events(of: good.dropLast(3)).isEmpty)
        #expect(parser.events(of: good.prefix(30) + good) == [.other])
        let unchecked = Array("$\(rmc)\r\n".utf8)
        #expect(parser.events(of: unchecked).isEmpty)
    }

    @Test func theLongestSentence() {
        var parser = NMEAParser()
        let text = "GNTXT," + String(repeating: "x", count: 94)
        #expect(parser.events(of: sentence(text)) == [.other])
        #expect(parser.events(of: sentence(text + "x")).isEmpty)
    }

    @Test func speedsAndAccuraciesBeyondTheirRange() throws {
        let fast = try reading(rmc.replacing("1.944", with: "999999.999"))
        #expect(fast.speedMillimetersPerSecond == 514_444_444)
        #expect(try reading(rmc.replacing("1.944", with: "1000000")).speedMillimetersPerSecond == nil)
        #expect(try reading(rmc.replacing("1.944", with: "-1")).speedMillimetersPerSecond == nil)
        #expect(try reading(rmc.replacing("271.567", with: "360.01")).courseCentidegrees == nil)
        let far = try reading(rmc, gga.replacing("25.4", with: "-99999999.9"), "GNGST,092721.50,,,,,2000000,2000000,2000000.1")
        #expect(far.altitudeMillimeters == nil && far.verticalAccuracyMillimeters == nil)
        #expect(far.horizontalAccuracyMillimeters == 2_828_427_125)
    }
}
