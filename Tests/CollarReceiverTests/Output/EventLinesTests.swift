import CollarFormats
import CollarPorts
import CollarWire
import FoundationEssentials
import SerialDevices
import Testing

@testable import CollarHost
@testable import CollarJournal
@testable import CollarReceiver

@Suite("Lines of links, errors and figures")
struct EventLinesTests {
    private struct Link: Decodable, Equatable {
        var type: String
        var unix_ms: Int64
        var event: String
        var port: String?
        var collar: String?
        var silent_ms: Int64?
    }

    private struct Failure: Decodable, Equatable {
        var type: String
        var unix_ms: Int64
        var code: String
        var title: String
        var reason: String
        var remedy: String?
        var severity: String
        var retryable: Bool
        var port: String?
        var collar: String?
    }

    private func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

    @Test func aLinkLineHasWhatIsKnown() {
        let late = ReceiverNotice.host(.collar(0xAB, .health(.late(silentMicroseconds: 75_000_999))))
        let expected =
            #"{"type":"link","unix_ms":1700000000000,"event":"late","collar":"00000000000000ab","silent_ms":75000}"#
        #expect(text(late.linkLine(1_700_000_000_000)) == expected + "\n")
        let opened = ReceiverNotice.port(path: "/dev/ttyUSB0", .opened(node: nil))
        let closed = ReceiverNotice.port(path: "/dev/ttyUSB0", .unmarked)
        #expect(text(closed.linkLine(-1)) == #"{"type":"link","unix_ms":-1,"event":"closed","port":"/dev/ttyUSB0"}"# + "\n")
        #expect(text(opened.linkLine(-1)) == #"{"type":"link","unix_ms":-1,"event":"opened","port":"/dev/ttyUSB0"}"# + "\n")
    }

    @Test func linesHaveTheNameOfTheWearerAtTheirTime() {
        let animals = DeploymentTable([
            Deployment(animal: Animal(name: "A \"x\""), deviceID: 0xAB, endUnixMilliseconds: 1000),
            Deployment(animal: Animal(name: "B"), deviceID: 0xAB, beginUnixMilliseconds: 2000),
        ])
        let late = ReceiverNotice.host(.collar(0xAB, .health(.condition(.unhealthy))))
        func link(_ now: Int64, name: String) -> String {
            #"{"type":"link","unix_ms":\#(now),"event":"unhealthy","collar":"00000000000000ab"\#(name)}"# + "\n"
        }
        #expect(text(late.linkLine(999, animals)) == link(999, name: #","name":"A \"x\"""#))
        #expect(text(late.linkLine(1000, animals)) == link(1000, name: ""))
        #expect(text(late.linkLine(2000, animals)) == link(2000, name: #","name":"B""#))
        #expect(text(ReportedNotice(late).errorLine(2000, animals)).hasSuffix(#","collar":"00000000000000ab","name":"B"}"# + "\n"))
    }

    @Test func everyChangeOfALinkHasItsName() throws {
        let health: [LinkHealth.Event] = [
            .reachable(silentMicroseconds: nil), .late(silentMicroseconds: 1), .unreachable(silentMicroseconds: 1),
            .condition(.healthy), .condition(.degraded), .condition(.unhealthy),
        ]
        let notices: [ReceiverNotice] =
            [.port(path: "p", .opened(node: nil)), .port(path: "p", .unplugged(then: .isAwaited)), .port(path: "p", .unmarked), .host(.collar(1, .heard(logID: 2, link: "p", isSealed: true)))]
            + health.map { .host(.collar(1, .health($0))) }
        let events = try notices.map { notice in
            let line = try #require(notice.linkLine(0))
            return try JSONDecoder().decode(Link.self, from: Data(line)).event
        }
        #expect(
            events == [
                "opened", "unplugged", "closed", "heard", "reachable", "late", "unreachable", "healthy", "degraded", "unhealthy",
            ])
    }

    @Test func aRepeatedChangeOfALinkHasItsLine() {
        let closed = ReceiverNotice.port(path: "/dev/ttyUSB0", .unmarked)
        let repeated = ReceiverNotice.repeated(closed, leftOutCount: 3)
        #expect(repeated.linkLine(5) != nil)
        #expect(text(repeated.linkLine(5)) == text(closed.linkLine(5)))
    }

    @Test func aRestartHasItsCause() {
        func line(_ cause: CollarFault?) -> String { text(ReceiverNotice.host(.collar(0xAB, .restarted(cause: cause))).linkLine(5)) }
        let start = #"{"type":"link","unix_ms":5,"event":"restarted","collar":"00000000000000ab""#
        #expect(line(nil) == start + "}\n")
        #expect(line(CollarFault.none) == start + #","cause":"none"}"# + "\n")
        #expect(line(.lowVoltageReset) == start + #","cause":"low_voltage_reset"}"# + "\n")
        #expect(ReportedNotice(.host(.collar(1, .restarted(cause: CollarFault.none)))).errorLine(5) == nil)
    }

    @Test func anErrorLineHasEveryKeyAPersonNeeds() {
        let notice = ReceiverNotice.host(.collar(0xFFFF_FFFF_FFFF_FFFF, .misbehaving(.sequenceJump(from: 1, to: 2))))
        let expected =
            #"{"type":"error","unix_ms":5,"code":"sequence_jumped","title":"Collar misbehaves","#
            + #""reason":"Collar ffffffffffffffff jumped from fix 1 to fix 2.","#
            + #""remedy":"Its firmware is faulty, or somebody else sends in its name: see section 20 of PROTOCOL.md.","#
            + #""severity":"warning","retryable":false,"collar":"ffffffffffffffff"}"#
        #expect(text(ReportedNotice(notice).errorLine(5)) == expected + "\n")
    }

    @Test func anErrorWithoutARemedyHasNull() {
        let damage = ReceiverNotice.host(.collar(1, .journalDamage(.init(segment: 2, offset: 3, byteCount: 4))))
        #expect(text(ReportedNotice(damage).errorLine(5)).contains(#","remedy":null,"severity":"error","#))
    }

    @Test(arguments: ["\"", "\\", "a\nb", "\u{0}\u{1F}\u{7F}", "/dev/é👍", "\\u0041", "\r\n\t"])
    func whateverTheTextItComesBackFromOneLine(text: String) throws {
        let link = try #require(ReceiverNotice.port(path: text, .opened(node: nil)).linkLine(0))
        #expect(link.filter { $0 == 0x0A }.count == 1)
        #expect(
            try JSONDecoder().decode(Link.self, from: Data(link))
                == Link(type: "link", unix_ms: 0, event: "opened", port: text))
        let failure = SerialPortError.busy(path: text, holder: nil)
        let error = try #require(ReportedNotice(.port(path: "p", .cannotOpen(failure))).errorLine(0))
        #expect(error.filter { $0 == 0x0A }.count == 1)
        #expect(
            try JSONDecoder().decode(Failure.self, from: Data(error))
                == Failure(
                    type: "error", unix_ms: 0, code: "device_in_use", title: "Radio in use", reason: failure.message.reason,
                    remedy: failure.message.remedy, severity: "critical", retryable: true, port: text))
    }

    @Test func whatIsNotKnownOfACollarIsNull() {
        let reading = CollarReading(deviceID: 0xAB, fixCount: 0, messageCount: 0, duplicateCount: 0, missingCount: 0)
        let expected =
            #"{"type":"stats","unix_ms":5,"collar":"00000000000000ab","log":null,"fixes_stored":0,"messages_stored":0,"duplicates":0,"#
            + #""highest_seq":null,"missing":0,"journal_bytes":null,"lag_bytes":null,"lag_ms":null}"#
        #expect(text(reading.line(5, DeploymentTable())) == expected + "\n")
        let animals = DeploymentTable([Deployment(animal: Animal(name: "B"), deviceID: 0xAB)])
        #expect(text(reading.line(5, animals)).hasPrefix(#"{"type":"stats","unix_ms":5,"collar":"00000000000000ab","name":"B","log""#))
    }

    @Test func theReceiversLineHasEveryCounter() {
        var counts = HostStatistics()
        counts.frames = 2
        counts.damagedFrames = 3
        counts.unknownFrames = 4
        counts.unsupportedFrames = 5
        counts.malformedFrames = 6
        counts.fixes = 8
        counts.messages = 7
        counts.duplicates = 9
        let host = HostReading(
            statistics: counts, journalByteCount: 10, lag: EmissionLag(byteCount: 11, milliseconds: 12),
            isStorageFailing: true, collars: [])
        let reading = ReceiverReading(host: host, lineCount: 1, uptimeMicroseconds: 60_999_999, outputBlockedMicroseconds: 7_000)
        let expected =
            #"{"type":"stats","unix_ms":-1,"fixes_stored":8,"messages_stored":7,"duplicates":9,"uptime_s":60,"lines":1,"frames":2,"#
            + #""frames_damaged":3,"frames_unknown":4,"frames_unsupported":5,"frames_malformed":6,"#
            + #""output_blocked_ms":7,"storage_failing":true,"journal_bytes":10,"lag_bytes":11,"lag_ms":12}"#
        #expect(text(reading.line(-1)) == expected + "\n")
    }
}
