import CollarFormats
import CollarHost
import CollarJournal
import CollarWire
import Testing

@Suite("Lines of gaps and statuses")
struct EventLineTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func aGapLineNamesTheRange() throws {
        let range = try #require(SequenceRange(3, .max - 1))
        let change = GapChange(event: .missing, logID: 67_108_863, range: range, unixMilliseconds: 7)
        let expected =
            #"{"type":"gap","unix_ms":7,"event":"missing","collar":"00000000000000ab","log":67108863,"#
            + #""first_seq":3,"last_seq":4294967294}"#
        #expect(text(change.line(deviceID: 0xAB)) == expected + "\n")
    }

    @Test func whatIsNotKnownOfACollarIsNull() {
        let expected =
            #"{"type":"status","unix_ms":0,"collar":"0000000000000001","log":2,"tracking":false,"#
            + #""tracking_since_unix_ms":null,"gnss":"off","throttle":"none","stationary":false,"resting":false,"battery_pct":null,"#
            + #""battery_mv":null,"temperature_c":null,"uptime_s":0,"last_error":null,"last_error_name":null,"fixes_sent":0,"queue_depth":0,"#
            + #""drops":0,"duplicates":0,"retransmissions":0,"airtime_ms":0,"clock_unix_ms":null,"clock_uptime_ms":null}"#
        #expect(text(Status().line(unixMilliseconds: 0, deviceID: 1, logID: 2)) == expected + "\n")
        let named = text(Status().line(unixMilliseconds: 0, deviceID: 1, name: "Ωmega", logID: 2))
        #expect(named.hasPrefix(#"{"type":"status","unix_ms":0,"collar":"0000000000000001","name":"Ωmega","log":2,"#))
    }

    @Test func aPowerReportWithEverythingAndWithNothing() {
        var report = PowerReport()
        let empty =
            #"{"type":"power","unix_ms":0,"collar":"0000000000000001","log":2,"mode":"stopped","supply":"off","uptime_s":0,"#
            + #""next_search_s":null,"failures_in_row":0,"time_to_fix_s":null,"gnss_s":0,"listening_s":0.000,"awake_s":0.000,"#
            + #""searches":0,"failures":0}"#
        #expect(text(report.line(unixMilliseconds: 0, deviceID: 1, logID: 2)) == empty + "\n")
        (report.mode, report.supply) = (.noSky, .backup)
        (report.uptimeSeconds, report.secondsToSearch, report.failuresInRow) = (1, 16_777_214, 255)
        (report.timeToFixTenths, report.gnssSeconds) = (65_534, 4_294_967_295)
        (report.listeningMilliseconds, report.awakeMilliseconds) = (4_294_967_295, 1_001)
        (report.searches, report.failures) = (16_777_215, 7)
        let full =
            #"{"type":"power","unix_ms":-1,"collar":"0000000000000001","name":"Ωmega","log":2,"mode":"no_sky","supply":"backup","#
            + #""uptime_s":1,"next_search_s":16777214,"failures_in_row":255,"time_to_fix_s":6553.4,"gnss_s":4294967295,"#
            + #""listening_s":4294967.295,"awake_s":1.001,"searches":16777215,"failures":7}"#
        #expect(text(report.line(unixMilliseconds: -1, deviceID: 1, name: "Ωmega", logID: 2)) == full + "\n")
    }

    @Test func everyModeOfACollarHasItsName() {
        let names = (0...5 as ClosedRange<UInt8>).compactMap { PowerReport.Mode(rawValue: $0)?.name }
        #expect(names == ["stopped", "continuous", "moving", "resting", "no_sky", "find"])
        let supplies = (0...5 as ClosedRange<UInt8>).compactMap { PowerReport.Supply(rawValue: $0) }.map { supply in
            var report = PowerReport()
            report.supply = supply
            return text(report.line(unixMilliseconds: 0, deviceID: 1, logID: 2)).split(separator: #""supply":""#)[1].prefix { $0 != "\"" }
        }
        #expect(supplies == ["off", "backup", "searching", "settling", "collecting", "tracking"])
    }

    @Test func aStatusSaysThatTheReceiverRests() {
        var status = Status()
        status.isResting = true
        #expect(text(status.line(unixMilliseconds: 0, deviceID: 1, logID: 2)).contains(#""stationary":false,"resting":true,"#))
    }

    @Test func everyStateOfACollarHasItsName() {
        var names: [String] = []
        for state in [Status.GNSSState.off, .searching, .fix, .fault] {
            var status = Status()
            status.gnssState = state
            names.append(word(of: "gnss", in: status))
        }
        for state in [Status.ThrottleState.none, .lowBattery, .criticalBattery, .dutyCycle] {
            var status = Status()
            status.throttleState = state
            names.append(word(of: "throttle", in: status))
        }
        #expect(
            names == ["off", "searching", "fix", "fault", "none", "low_battery", "critical_battery", "duty_cycle"])
    }

    private func word(of key: String, in status: Status) -> String {
        let line = text(status.line(unixMilliseconds: 0, deviceID: 1, logID: 2))
        return line.split(separator: "\"\(key)\":\"").last?.split(separator: "\"").first.map(String.init) ?? ""
    }
}
