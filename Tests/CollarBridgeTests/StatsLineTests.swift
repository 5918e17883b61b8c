import CollarBridge
import CollarWire
import Testing

@Suite("Lines of figures and statuses")
struct StatsLineTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func whatIsNotKnownIsNull() {
        let line = StatsLine(.collar(.init(deviceID: 0xAB)), unixMilliseconds: 5)
        let expected =
            #"{"type":"stats","unix_ms":5,"collar":"00000000000000ab","log":null,"fixes_stored":0,"duplicates":0,"#
            + #""highest_seq":null,"missing":0,"journal_bytes":null,"lag_bytes":null,"lag_ms":null}"#
        #expect(text(line.bytes) == expected + "\n")
    }

    @Test func theReceiversLineHasEveryCounter() {
        var receiver = StatsLine.Receiver()
        receiver.uptimeSeconds = 60
        receiver.lineCount = 1
        receiver.frameCount = 2
        receiver.damagedFrameCount = 3
        receiver.unknownFrameCount = 4
        receiver.unsupportedFrameCount = 5
        receiver.malformedFrameCount = 6
        receiver.outputBlockedMilliseconds = 7
        receiver.isStorageFailing = true
        var line = StatsLine(.receiver(receiver), unixMilliseconds: -1)
        line.fixCount = 8
        line.duplicateCount = 9
        line.journalByteCount = 10
        line.lagByteCount = 11
        line.lagMilliseconds = 12
        let expected =
            #"{"type":"stats","unix_ms":-1,"fixes_stored":8,"duplicates":9,"uptime_s":60,"lines":1,"frames":2,"#
            + #""frames_damaged":3,"frames_unknown":4,"frames_unsupported":5,"frames_malformed":6,"#
            + #""output_blocked_ms":7,"storage_failing":true,"journal_bytes":10,"lag_bytes":11,"lag_ms":12}"#
        #expect(text(line.bytes) == expected + "\n")
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
        let line = text(StatusLine(unixMilliseconds: 0, deviceID: 1, logID: 2, status: status).bytes)
        return line.split(separator: "\"\(key)\":\"").last?.split(separator: "\"").first.map(String.init) ?? ""
    }
}
