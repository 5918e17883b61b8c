import CollarARQ
import CollarFormats
import CollarJournal
import CollarWire
import Testing

@testable import CollarControl

/// Each member of a request by itself, above all those of a message for a collar's application.
@Suite struct MessageRequestTests {
    private func message(_ kind: ApplicationMessage.Kind, code: UInt8, _ data: [UInt8] = []) throws -> ControlRequest.Content {
        let message = ApplicationMessage(kind: kind, code: code, unixSeconds: 0, data: data.span)
        return .command(.message(try #require(message)))
    }

    private func content(_ line: String) throws -> ControlRequest.Content { try ControlRequest(line: line.utf8).content }

    private func fault(in line: String) -> String? {
        do throws(ControlRequest.Fault) {
            _ = try ControlRequest(line: line.utf8)
            return nil
        } catch { return error.reason }
    }

    private func text(_ request: ControlRequest) -> String { String(decoding: request.line, as: UTF8.self) }

    @Test func messagesAreReadBack() throws {
        let outcomes = (0...UInt8.max).compactMap { CommandResult.Outcome(rawValue: $0) }
        #expect(outcomes.count >= 9)
        let kinds: [ApplicationMessage.Kind] = [.notice, .request] + outcomes.map { .reply(to: 4_000_000_001, $0) }
        for kind in kinds {
            for data in [[], [0], [1, 0xAB, 0xFF], [UInt8](1...20)] as [[UInt8]] {
                let request = ControlRequest(try message(kind, code: 200, data), deviceID: 7, mode: .latest)
                #expect(try ControlRequest(line: request.line) == request)
            }
        }
    }

    @Test func theLineOfAMessageHasAllItsMembers() throws {
        let reply = ControlRequest(try message(.reply(to: 77, .busy), code: 5, [0x0A, 0xBC]), deviceID: 0xF)
        #expect(
            text(reply) == """
                {"type":"request","do":"message","collar":"000000000000000f","kind":"reply","code":5,"reply_to":77,"outcome":"busy",\
                "data":"0abc","mode":"queue"}

                """)
        let notice = ControlRequest(try message(.notice, code: 0), mode: .now, timeoutMicroseconds: 1_500_000)
        #expect(
            text(notice) == """
                {"type":"request","do":"message","kind":"notice","code":0,"data":"","mode":"now","timeout_ms":1500}

                """)
    }

    @Test func whatIsLeftOutHasItsUsualValue() throws {
        #expect(try content(#"{"do":"message","code":3}"#) == message(.notice, code: 3))
        #expect(try content(#"{"do":"message","code":3,"reply_to":8}"#) == message(.reply(to: 8, .ok), code: 3))
        #expect(try content(#"{"do":"message","code":3,"reply_to":8,"outcome":"failed"}"#) == message(.reply(to: 8, .failed), code: 3))
        #expect(try content(#"{"do":"message","code":255,"kind":"request","data":"FF00"}"#) == message(.request, code: 255, [0xFF, 0]))
        let request = try ControlRequest(line: #"{"do":"message","code":3}"#.utf8)
        #expect(request.deviceID == nil && request.mode == .queue && request.timeoutMicroseconds == 30_000_000)
    }

    @Test(arguments: [
        (#"{"do":"message"}"#, #""code" is not from 0 to 255"#), (#"{"do":"message","code":256}"#, #""code" is not from 0 to 255"#),
        (#"{"do":"message","code":-1}"#, #""code""#), (#"{"do":"message","code":"1"}"#, #""code""#),
        (#"{"do":"message","code":1,"kind":"answer"}"#, #""kind" is not "notice", "request" or "reply""#),
        (#"{"do":"message","code":1,"kind":5}"#, #""kind""#), (#"{"do":"message","code":1,"kind":"reply"}"#, #""reply_to" is not"#),
        (#"{"do":"message","code":1,"reply_to":4294967296}"#, #""reply_to" is not"#),
        (#"{"do":"message","code":1,"reply_to":-1}"#, #""reply_to" is not"#),
        (#"{"do":"message","code":1,"reply_to":1,"outcome":"fine"}"#, #""outcome" is not"#),
        (#"{"do":"message","code":1,"reply_to":1,"outcome":0}"#, #""outcome" is not"#),
        (#"{"do":"message","code":1,"kind":"notice","reply_to":1}"#, #"go with the kind "reply""#),
        (#"{"do":"message","code":1,"kind":"request","reply_to":1}"#, #"go with the kind "reply""#),
        (#"{"do":"message","code":1,"outcome":"ok"}"#, #"go with the kind "reply""#),
        (#"{"do":"message","code":1,"data":"0"}"#, #""data" is not"#), (#"{"do":"message","code":1,"data":"0g"}"#, #""data" is not"#),
        (#"{"do":"message","code":1,"data":12}"#, #""data" is not"#),
        (#"{"do":"message","code":1,"data":"000102030405060708090a0b0c0d0e0f1011121314"}"#, "at most 20 bytes"),
        (#"{"do":"message","code":1,"ms":1}"#, #""ms" is not expected here"#),
    ])
    func whatIsWrongInAMessageIsNamed(_ line: String, _ part: String) throws {
        let reason = try #require(fault(in: line))
        #expect(reason.contains(part), "\(reason)")
    }

    @Test(arguments: ["kind", "code", "data", "reply_to", "outcome", "ms", "seconds", "to", "settings", "request", "seq"])
    func aRequestTakesOnlyItsOwnMembers(key: String) throws {
        for verb in ["locate", "track_on", "track_off", "reboot", "unpair", "report", "get_settings"] {
            let reason = try #require(fault(in: "{\"do\":\"\(verb)\",\"\(key)\":1}"))
            #expect(reason.contains("\"\(key)\" is not expected here"), "\(verb): \(reason)")
        }
    }

    @Test func anAwaitedRequestHasNoMode() throws {
        #expect(try content(#"{"do":"await","request":0}"#) == .await(requestID: 0))
        #expect(try content(#"{"do":"await","request":65535,"collar":"000000000000000f"}"#) == .await(requestID: 65_535))
        for member in [#""mode":"now""#, #""timeout_ms":5"#] {
            let reason = try #require(fault(in: #"{"do":"await","request":1,"# + member + "}"))
            #expect(reason.contains("is not expected here"))
        }
        #expect(fault(in: #"{"do":"await","request":65536}"#) != nil)
    }

    @Test func aPairingNamesItsReceiverOrNone() throws {
        #expect(try content(#"{"do":"pair"}"#) == .command(.command(.pair(receiverID: 0))))
        #expect(try content(#"{"do":"pair","to":"0000000A"}"#) == .command(.command(.pair(receiverID: 10))))
        let request = ControlRequest(.command(.command(.pair(receiverID: 0xDEAD_BEEF))))
        #expect(text(request).contains(#""to":"deadbeef""#))
        #expect(try ControlRequest(line: request.line) == request)
        #expect(!text(ControlRequest(.command(.command(.pair(receiverID: 0))))).contains("to\":\""))
        for to in [#""00000000""#, #""a""#, #""0000000g""#, #""000000001""#, "10", "null"] {
            #expect(try #require(fault(in: #"{"do":"pair","to":"# + to + "}")).contains(#""to" is not 8 hexadecimal digits"#))
        }
    }

    @Test func timesHaveTheirBounds() throws {
        func time(_ text: String) throws -> Int64 {
            try ControlRequest(line: #"{"do":"locate","mode":"now","timeout_ms":\#(text)}"#.utf8).timeoutMicroseconds
        }
        #expect(try time("1") == 1000)
        #expect(try time("3600000") == 3_600_000_000)
        for text in ["0", "-1", "3600001", "1.5", "\"5\""] { #expect(throws: ControlRequest.Fault.self) { try time(text) } }
        #expect(try content(#"{"do":"sound","ms":0}"#) == .command(.command(.sound(milliseconds: 0))))
        #expect(try content(#"{"do":"sound","ms":65535}"#) == .command(.command(.sound(milliseconds: 65_535))))
        #expect(try content(#"{"do":"find","seconds":0}"#) == .command(.command(.find(seconds: 0))))
        #expect(try content(#"{"do":"find","seconds":65535}"#) == .command(.command(.find(seconds: 65_535))))
    }

    @Test func eachModeHasItsPatience() {
        func patience(_ mode: ControlRequest.Mode) -> RequestPatience {
            ControlRequest(.command(.settingsRequest), mode: mode, timeoutMicroseconds: 7).patience
        }
        #expect(patience(.queue) == .untilHeard)
        #expect(patience(.latest) == .latest)
        #expect(patience(.now) == .now(microseconds: 7))
    }

    @Test func eachVerbIsItsRequest() throws {
        let verbs: [(String, HostRequest)] = [
            ("track_on", .command(.startTracking)), ("track_off", .command(.stopTracking)), ("locate", .command(.locateNow)),
            ("reboot", .command(.reboot)), ("unpair", .command(.unpair)), ("get_settings", .settingsRequest),
            ("report", .command(.reportPower)),
        ]
        for (verb, request) in verbs {
            #expect(try content("{\"do\":\"\(verb)\"}") == .command(request))
            #expect(ControlRequest(.command(request)).verb == verb)
        }
        #expect(HostRequest.plain.count == verbs.count)
        #expect(ControlRequest(.await(requestID: 1)).verb == "await")
        #expect(ControlRequest(try message(.notice, code: 1)).verb == "message")
    }

    @Test func settingsAreKeptInTheirOrderUpToFive() throws {
        let five = #"{"heartbeat_s":9,"interval_ms":1000,"stationary_s":60,"position_digits":6,"spreading_factor":7}"#
        guard case .command(.settingsUpdate(let version, let list)) = try content(#"{"do":"set_settings","settings":"# + five + "}") else {
            Issue.record("It is no update.")
            return
        }
        #expect(version == .defaults)
        #expect((0..<list.count).map { list[$0].value } == [9, 1000, 60, 6, 7])
        let six = five.dropLast() + #","altitude_digits":1}"#
        #expect(try #require(fault(in: #"{"do":"set_settings","settings":"# + six + "}")).contains("1 to 5"))
    }

    @Test func everyOutcomeIsToldInItsOwnWords() {
        let lines = ResultLine.Outcome.allCases.map { ResultLine(outcome: $0, unixMilliseconds: 1) }
        #expect(Set(lines.map(\.outcomeText)).count == lines.count)
        let rejection = ResultLine(rejectedAt: 1, code: "no_contact", reason: "It is away.")
        #expect(rejection.outcomeText == "It is away.")
        #expect(rejection.remedy == "Bring the collar in range, or wait for it: leave out `--now`.")
        #expect(ResultLine(outcome: .ok, unixMilliseconds: 1).remedy == nil)
        #expect(ResultLine(rejectedAt: 1, code: "of_a_later_version", reason: "x").remedy == nil)
    }
}
