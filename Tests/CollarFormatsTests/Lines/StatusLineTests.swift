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
            + #""tracking_since_unix_ms":null,"gnss":"off","throttle":"none","stationary":false,"battery_pct":null,"#
            + #""battery_mv":null,"temperature_c":null,"uptime_s":0,"last_error":null,"last_error_name":null,"fixes_sent":0,"queue_depth":0,"#
            + #""drops":0,"duplicates":0,"retransmissions":0,"airtime_ms":0,"clock_unix_ms":null,"clock_uptime_ms":null}"#
        #expect(text(Status().line(unixMilliseconds: 0, deviceID: 1, logID: 2)) == expected + "\n")
        let named = text(Status().line(unixMilliseconds: 0, deviceID: 1, name: "Ωmega", logID: 2))
        #expect(named.hasPrefix(#"{"type":"status","unix_ms":0,"collar":"0000000000000001","name":"Ωmega","log":2,"#))
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
