import CollarARQ
import CollarFormats
import CollarWire
import Testing

@testable import CollarControl

/// The lines of the control socket: requests and results.
@Suite struct ControlRequestTests {
    private static var settings: SettingList {
        var list = SettingList()
        list.append(Setting(key: 8, value: 30))
        list.append(Setting(key: 10, value: 0))
        return list
    }

    private let wishes: [ControlRequest.Content] = [
        .command(.command(.locateNow)), .command(.command(.sound(milliseconds: 65_535))), .command(.command(.startTracking)),
        .command(.command(.stopTracking)), .command(.command(.reboot)), .command(.command(.pair(receiverID: 0))),
        .command(.command(.find(seconds: 0))), .command(.command(.find(seconds: 65_535))), .command(.command(.reportPower)),
        .command(.command(.unpair)), .command(.settingsRequest), .command(.settingsUpdate(version: .defaults, ControlRequestTests.settings)), .await(requestID: 9),
    ]

    private func fault(in line: String) -> String? {
        do throws(ControlRequest.Fault) {
            _ = try ControlRequest(line: line.utf8)
            return nil
        } catch { return error.reason }
    }

    @Test func everyRequestIsReadBack() throws {
        for wish in wishes {
            for request in [
                ControlRequest(wish), ControlRequest(wish, deviceID: 0x0123_4567_89AB_CDEF),
                ControlRequest(wish, mode: .now, timeoutMicroseconds: 3_600_000_000), ControlRequest(wish, mode: .latest),
            ] {
                var expected = request
                if case .await = wish { expected = ControlRequest(wish, deviceID: request.deviceID) }
                #expect(try ControlRequest(line: request.line.dropLast()) == expected)
                #expect(request.line.last == UInt8(ascii: "\n"))
                #expect(request.line.count < ControlRequest.byteLimit)
            }
        }
    }

    @Test func whatAPersonWouldWrite() throws {
        #expect(try ControlRequest(line: #" { "do" : "locate" } "#.utf8) == ControlRequest(.command(.command(.locateNow))))
        let sound = #"{"do":"sound","ms":5000,"collar":"910a2dec89025cc1","mode":"now","timeout_ms":30000}"#
        #expect(
            try ControlRequest(line: sound.utf8)
                == ControlRequest(.command(.command(.sound(milliseconds: 5000))), deviceID: 0x910A_2DEC_8902_5CC1, mode: .now))
    }

    @Test(arguments: [
        ("", "not JSON"), ("nonsense", "not JSON"), ("[]", "an array"), ("{}", #""do" is missing"#),
        (#"{"do":5}"#, #""do" is missing"#), (#"{"do":"fly"}"#, "not a known request"),
        (#"{"do":"locate","do":"unpair"}"#, #""do" is missing"#), (#"{"do":"locate","type":"result"}"#, #""type""#),
        (#"{"do":"locate","moed":"now"}"#, #""moed" is not expected"#),
        (#"{"do":"locate","mode":"now","mode":"queue"}"#, "given twice"),
        (#"{"do":"locate","mode":"soon"}"#, #""mode""#), (#"{"do":"locate","collar":"12"}"#, #""collar""#),
        (#"{"do":"locate","collar":"+10a2dec89025cc1"}"#, #""collar""#),
        (#"{"do":"locate","timeout_ms":0}"#, #""timeout_ms""#), (#"{"do":"locate","timeout_ms":1e9}"#, #""timeout_ms""#),
        (#"{"do":"find"}"#, #""seconds""#), (#"{"do":"find","seconds":65536}"#, #""seconds""#),
        (#"{"do":"find","seconds":-1}"#, #""seconds""#), (#"{"do":"report","seconds":1}"#, #""seconds""#),
        (#"{"do":"sound"}"#, #""ms""#), (#"{"do":"sound","ms":65536}"#, #""ms""#), (#"{"do":"sound","ms":-1}"#, #""ms""#),
        (#"{"do":"locate","ms":5}"#, #""ms" is not expected"#), (#"{"do":"await"}"#, #""request""#),
        (#"{"do":"set_settings"}"#, #""settings""#), (#"{"do":"set_settings","settings":{}}"#, "1 to 5"),
        (#"{"do":"set_settings","settings":{"speed":1}}"#, "no setting"),
        (#"{"do":"set_settings","settings":{"heartbeat_s":4}}"#, "5 to 65535"),
        (#"{"do":"set_settings","settings":{"heartbeat_s":"9"}}"#, "5 to 65535"),
        (#"{"do":"set_settings","settings":{"heartbeat_s":9,"heartbeat_s":9}}"#, "given twice"),
    ])
    func whatIsWrongIsNamed(_ line: String, _ part: String) throws {
        let reason = try #require(fault(in: line))
        #expect(reason.contains(part), "\(reason)")
    }

    /// A line that was damaged in a few places is refused, or read as a valid request.
    @Test func damagedLines() {
        var generator = SystemRandomNumberGenerator()
        var refusedCount = 0
        let letters = Array("{}[]\",:0123456789-+.eE \\untf\u{0}\u{FF}".utf8)
        for _ in 0..<20_000 {
            var line = ControlRequest(wishes.randomElement(using: &generator) ?? .await(requestID: 1), mode: .now).line
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: line.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: line[place] = letters.randomElement(using: &generator) ?? 0
                case 1: if line.count > 1 { line.remove(at: place) }
                default: line.insert(.random(in: .min ... .max, using: &generator), at: place)
                }
            }
            do throws(ControlRequest.Fault) {
                let read = try ControlRequest(line: line)
                #expect(try ControlRequest(line: read.line) == read)
            } catch { refusedCount += 1 }
            _ = ResultLine(bytes: line)
        }
        #expect(refusedCount > 10_000)
    }

    @Test func resultsAreReadBack() {
        var line = ResultLine(outcome: .ok, unixMilliseconds: -5, deviceID: 0xFFFF_FFFF_FFFF_FFFF, requestID: 65_535, verb: "get_settings")
        line.settingsVersion = SettingsVersion(rawValue: .max)
        line.settings = SettingKey.all.map { Setting(key: $0.rawValue, value: $0.range.upperBound) }
        #expect(ResultLine(bytes: line.bytes) == line)
        line.name = "B \"b\""
        #expect(ResultLine(bytes: line.bytes) == line)
        #expect(String(decoding: line.bytes, as: UTF8.self).contains(#""collar":"ffffffffffffffff","name":"B \"b\"","request""#))
        for outcome in ResultLine.Outcome.allCases where outcome != .rejected {
            let line = ResultLine(outcome: outcome, unixMilliseconds: 1, deviceID: 0, requestID: 1, verb: "locate")
            #expect(ResultLine(bytes: line.bytes) == line)
        }
        let rejection = ResultLine(rejectedAt: 7, code: "bad_request", reason: "a \"quoted\\\n word", verb: nil)
        #expect(ResultLine(bytes: rejection.bytes) == rejection)
        for other in ["", "{}", #"{"type":"fix"}"#, #"{"type":"result","unix_ms":1,"outcome":"fine"}"#] {
            #expect(ResultLine(bytes: other.utf8) == nil)
        }
    }

    @Test func settingsHaveTheirNames() {
        #expect(SettingKey.all.map(\.rawValue) == Array(1...23))
        #expect(Set(SettingKey.all.map(\.name)).count == 23)
        for key in SettingKey.all { #expect(SettingKey(name: key.name) == key) }
        #expect(SettingKey(name: "heartbeat") == nil)
    }
}
