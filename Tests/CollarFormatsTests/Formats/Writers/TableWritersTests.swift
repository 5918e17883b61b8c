import CollarWire
import Testing

@testable import CollarFormats

@Suite("Formats that are tables or lines of other programs")
struct TableFormatTests {
    private let csvHeader = """
        id,ts_unix_ms,source,latitude_deg,longitude_deg,alt_m,h_accuracy_m,v_accuracy_m,speed_mps,course_deg,heading_deg,\
        battery_pct,seq,collar,log,rx_unix_ms,rssi_dbm,snr_db,name,place,private,distance_m,bearing_deg

        """
    private let movebankHeader = """
        timestamp,location-long,location-lat,height-above-msl,ground-speed,heading,gps-horizontal-accuracy-estimate,\
        location-error-numerical,tag-local-identifier,individual-local-identifier,individual-taxon-canonical-name,sensor-type

        """

    @Test func csv() {
        #expect(document(.csv, []) == csvHeader)
        #expect(
            document(.csv, [knownFix(), unknownFix(), edgeFix()], worn(by: "Athena")) == csvHeader + """
                01234567-89ab-8cde-bcbc-614e0000002a,1699401234567,collar,37.7749,-122.4194,10,5.268,12.471,0.5,180,90,85,42,\
                0123456789abcdef,12345678,1699401239999,-107,-0.5,Athena,,,,
                00000000-0000-800a-ac00-000700000000,946684800000,collar,0,0,,,,,,,,0,00000000000000ab,7,,,,,,,,
                00000000-0000-800a-ac00-000700000001,-1,iOS,-90,180,-0.4,0,,0,0,,0,1,00000000000000ab,7,-1,,,,,,,

                """)
        #expect(document(.csv, [knownFix()], worn(by: awkwardName)).hasSuffix(",-0.5,\"Al, \"\"the\"\" <&>\n=Zoë\\\",,,,\n"))
    }

    @Test func movebank() {
        #expect(document(.movebank, []) == movebankHeader)
        #expect(
            document(.movebank, [knownFix(), unknownFix(), edgeFix()], worn(by: "Athena", species: "Felis catus"))
                == movebankHeader + """
                    2023-11-07 23:53:54.567,-122.4194,37.7749,10,0.5,180,5.268,5.268,0123456789abcdef,Athena,Felis catus,gps
                    2000-01-01 00:00:00.000,0,0,,,,,,00000000000000ab,collar 00000000000000ab,,gps
                    1969-12-31 23:59:59.999,180,-90,-0.4,0,0,0,0,00000000000000ab,collar 00000000000000ab,,gps

                    """)
        #expect(
            document(.movebank, [knownFix()], worn(by: awkwardName, species: "a,b"))
                .hasSuffix(",0123456789abcdef,\"Al, \"\"the\"\" <&>\n=Zoë\\\",\"a,b\",gps\n"))
    }

    @Test func influx() {
        #expect(document(.influx, []) == "")
        #expect(
            document(.influx, [knownFix(), unknownFix(), edgeFix()], worn(by: "Al, = b")) == """
                collar_fix,collar=0123456789abcdef,name=Al\\,\\ \\=\\ b latitude=37.7749,longitude=-122.4194,alt_m=10,\
                h_accuracy_m=5.268,v_accuracy_m=12.471,speed_mps=0.5,course_deg=180i,heading_deg=90i,battery_pct=85i,seq=42i,\
                log=12345678i,rx_unix_ms=1699401239999i,rssi_dbm=-107i,snr_db=-0.5 1699401234567000042
                collar_fix,collar=00000000000000ab latitude=0,longitude=0,seq=0i,log=7i 946684800000000000
                collar_fix,collar=00000000000000ab latitude=-90,longitude=180,alt_m=-0.4,h_accuracy_m=0,speed_mps=0,course_deg=0i,\
                battery_pct=0i,seq=1i,log=7i,rx_unix_ms=-1i -999999

                """)
    }

    @Test("A tag cannot be empty, nor have a line feed, nor end with a backslash")
    func influxNames() {
        for name in ["", "a\nb", "a\\"] {
            #expect(document(.influx, [knownFix()], worn(by: name)).hasPrefix("collar_fix,collar=0123456789abcdef latitude="))
        }
        #expect(document(.influx, [knownFix()], worn(by: "a\\b ë")).hasPrefix(#"collar_fix,collar=0123456789abcdef,name=a\b\ ë latitude"#))
    }

    @Test("Nanoseconds of 64 bits end in 2262")
    func influxTimes() {
        var value = unknownFix()
        for (time, text) in [
            (9_223_372_036_853, "9223372036853000000"), (9_223_372_036_854, nil), (-9_223_372_036_854, "-9223372036854000000"),
            (-9_223_372_036_855, nil),
        ] as [(Int64, String?)] {
            value.fix.unixMilliseconds = time
            let line = text.map { "collar_fix,collar=00000000000000ab latitude=0,longitude=0,seq=0i,log=7i \($0)\n" } ?? ""
            #expect(document(.influx, [value]) == line)
        }
    }

    @Test func owntracks() {
        #expect(
            document(.owntracks, [knownFix(), unknownFix(), edgeFix()], worn(by: "É \"4")) == """
                {"_type":"location","tid":"É4","topic":"owntracks/collar-link/0123456789abcdef","_id":"01234567-89ab-8cde-bcbc-614e0000002a","lat":37.7749,"lon":-122.4194,"tst":1699401234,\
                "acc":6,"alt":10,"vac":13,"vel":2,"cog":180,"batt":85}
                {"_type":"location","tid":"ab","topic":"owntracks/collar-link/00000000000000ab","_id":"00000000-0000-800a-ac00-000700000000","lat":0,"lon":0,"tst":946684800}
                {"_type":"location","tid":"ab","topic":"owntracks/collar-link/00000000000000ab","_id":"00000000-0000-800a-ac00-000700000001","lat":-90,"lon":180,"tst":-1,"acc":0,"alt":0,\
                "vel":0,"cog":0,"batt":0}

                """)
        var value = knownFix()
        value.fix.altitudeStep = .decimeter
        for (steps, text) in [(-5, "-1"), (-4, "0"), (14, "1"), (15, "2"), (-8_388_608, "-838861")] as [(Int32, String)] {
            value.fix.altitudeSteps = steps
            #expect(document(.owntracks, [value]).contains("\"alt\":\(text),"))
        }
        for (speed, text) in [(0, "0"), (1, "0"), (2, "1"), (10, "4"), (1_048_575, "377487")] as [(UInt32, String)] {
            value.fix.speedDecimetersPerSecond = speed
            #expect(document(.owntracks, [value]).contains("\"vel\":\(text),"))
        }
    }

    @Test func traccar() {
        #expect(
            document(.traccar, [knownFix(), unknownFix()]) == """
                {"location":{"timestamp":"2023-11-07T23:53:54.567Z","coords":{"latitude":37.7749,"longitude":-122.4194,\
                "accuracy":5.268,"speed":0.5,"heading":180,"altitude":10},"battery":{"level":0.85,"is_charging":false}},"device_id":"0123456789abcdef"}
                {"location":{"timestamp":"2000-01-01T00:00:00.000Z","coords":{"latitude":0,"longitude":0,"accuracy":-1,"speed":-1,\
                "heading":-1}},"device_id":"00000000000000ab"}

                """)
        var value = knownFix()
        for (percent, text) in [
            (0, "0"), (5, "0.05"), (10, "0.1"), (29, "0.29000000000000004"), (99, "0.99"), (100, "1"),
        ] as [(UInt8, String)] {
            value.fix.batteryPercent = percent
            #expect(document(.traccar, [value]).contains("\"level\":\(text),"))
        }
    }

    @Test func nmea() {
        #expect(
            document(.nmea, [knownFix(), unknownFix(), edgeFix()]) == [
                "$GPGGA,235354.567,3746.494000,N,12225.164000,W,1,,,10,M,,,,*14",
                "$GPRMC,235354.567,A,3746.494000,N,12225.164000,W,0.972,180,071123,,,A*69",
                "$GPGGA,000000.000,0000.000000,N,00000.000000,E,1,,,,,,,,*42",
                "$GPRMC,000000.000,A,0000.000000,N,00000.000000,E,,,010100,,,A*6E", "",
            ].joined(separator: "\r\n"))
        let longest = longestFix()
        var value = knownFix()
        value.fix = longest.fix
        value.fix.unixMilliseconds = 1_699_401_234_567
        #expect(document(.nmea, [value]).contains("$GPRMC,235354.567,A,8907.407402,S,17907.407402,W,203826.674,358,071123,,,A*"))
    }

    @Test("The years with two digits are 1980 to 2079")
    func nmeaYears() {
        var value = unknownFix()
        for (time, isWritten) in [
            (315_532_799_999, false), (315_532_800_000, true), (3_471_292_799_999, true), (3_471_292_800_000, false),
        ] as [(Int64, Bool)] {
            value.fix.unixMilliseconds = time
            #expect(document(.nmea, [value]).isEmpty != isWritten)
        }
    }
}
