import CollarARQ
import CollarFormats
import CollarWire
import Testing

@testable import CollarControl

/// Members of a request with a value of another kind, at a bound, or together with others.
@Suite struct RequestMembersTests {
    private func fault(in line: String) -> String? {
        do throws(ControlRequest.Fault) {
            _ = try ControlRequest(line: line.utf8)
            return nil
        } catch { return error.reason }
    }

    @Test(arguments: [
        (#"{"do":"locate","type":5}"#, #""type""#), (#"{"do":"locate","type":"request","type":"request"}"#, #""type""#),
        (#"{"do":"locate","collar":5}"#, #""collar""#), (#"{"do":"locate","collar":"0910a2dec89025cc1"}"#, #""collar""#),
        (#"{"do":"locate","collar":"000000000000000a","collar":"000000000000000a"}"#, #""collar""#),
        (#"{"do":"locate","mode":5}"#, #""mode""#), (#"{"do":"locate","mode":"NOW"}"#, #""mode""#),
        (#"{"do":"locate","timeout_ms":"5"}"#, #""timeout_ms""#), (#"{"do":"sound","ms":"5"}"#, #""ms""#),
        (#"{"do":"sound","ms":1.5}"#, #""ms""#), (#"{"do":"sound","ms":1,"ms":2}"#, #""ms""#),
        (#"{"do":"find"}"#, #""seconds""#), (#"{"do":"find","seconds":65536}"#, #""seconds""#), (#"{"do":"find","ms":5}"#, #""seconds""#),
        (#"{"do":"sound","ms":1,"seconds":1}"#, #""seconds""#),
        (#"{"do":"await","request":-1}"#, #""request""#),
        (#"{"do":"await","request":"1"}"#, #""request""#), (#"{"do":"set_settings","settings":[]}"#, #""settings""#),
        (#"{"do":"set_settings","settings":5}"#, #""settings""#),
        (#"{"do":"set_settings","settings":{"heartbeat_s":65536}}"#, "5 to 65535"),
        (#"{"do":"set_settings","settings":{"heartbeat_s":9,"interval_ms":-1}}"#, #""interval_ms""#),
        (#"{"do":"set_settings","settings":{"heartbeat_s":9,"speed":1}}"#, #""speed""#),
        (#"{"do":"set_settings","heartbeat_s":9}"#, #""settings""#),
        (#"{"do":"pair","receiver":"0000000a"}"#, #""receiver""#), (#"{"do":"unpair","to":"0000000a"}"#, #""to""#),
        (#""locate""#, "an object"),
    ])
    func whatIsWrongIsNamed(line: String, part: String) throws {
        let reason = try #require(fault(in: line))
        #expect(reason.contains(part), "\(reason)")
    }

    @Test func everyMemberIsReadBesideTheOthers() throws {
        let line = """
            {"timeout_ms":2500,"mode":"latest","collar":"00000000000000FF","do":"set_settings","settings":{"heartbeat_s":5},\
            "type":"request"}
            """
        let read = try ControlRequest(line: line.utf8)
        var list = SettingList()
        list.append(Setting(key: try #require(SettingKey(name: "heartbeat_s")).rawValue, value: 5))
        #expect(
            read
                == ControlRequest(
                    .command(.settingsUpdate(version: .defaults, list)), deviceID: 0xFF, mode: .latest, timeoutMicroseconds: 2_500_000))
    }

    @Test func theLineOfEachRequestHasItsOwnMembers() throws {
        var list = SettingList()
        for (name, value) in [("interval_ms", 1000), ("heartbeat_s", 5)] as [(String, UInt32)] {
            list.append(Setting(key: try #require(SettingKey(name: name)).rawValue, value: value))
        }
        let requests = [
            ControlRequest(.command(.command(.sound(milliseconds: 7))), deviceID: 0xA, mode: .now, timeoutMicroseconds: 1_500_000),
            ControlRequest(.command(.settingsUpdate(version: .defaults, list)), mode: .latest, timeoutMicroseconds: 5_000),
            ControlRequest(.command(.command(.find(seconds: 3600))), deviceID: 0xA, timeoutMicroseconds: 5_000),
            ControlRequest(.command(.command(.reportPower)), timeoutMicroseconds: 5_000),
            ControlRequest(.command(.command(.pair(receiverID: 0xA))), mode: .queue, timeoutMicroseconds: 5_000),
            ControlRequest(.await(requestID: 3), deviceID: 0xA, mode: .now),
        ]
        #expect(
            requests.map { String(decoding: $0.line, as: UTF8.self) } == [
                #"{"type":"request","do":"sound","collar":"000000000000000a","ms":7,"mode":"now","timeout_ms":1500}"# + "\n",
                #"{"type":"request","do":"set_settings","settings":{"interval_ms":1000,"heartbeat_s":5},"mode":"latest"}"# + "\n",
                #"{"type":"request","do":"find","collar":"000000000000000a","seconds":3600,"mode":"queue"}"# + "\n",
                #"{"type":"request","do":"report","mode":"queue"}"# + "\n",
                #"{"type":"request","do":"pair","to":"0000000a","mode":"queue"}"# + "\n",
                #"{"type":"request","do":"await","collar":"000000000000000a","request":3}"# + "\n",
            ])
    }
}
