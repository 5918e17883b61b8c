import CollarBridge
import CollarDomain
import FoundationEssentials
import CollarHost
import CollarWire
import Testing

@Suite("Lines of events")
struct EventLineTests {
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

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func aLinkLineHasWhatIsKnown() {
        let line = LinkLine(event: .late, unixMilliseconds: 1_700_000_000_000, deviceID: 0xAB, silentMilliseconds: 75_000)
        #expect(
            text(line.bytes)
                == #"{"type":"link","unix_ms":1700000000000,"event":"late","collar":"00000000000000ab","silent_ms":75000}"# + "\n")
        let opened = LinkLine(event: .opened, unixMilliseconds: -1, port: "/dev/ttyUSB0")
        #expect(text(opened.bytes) == #"{"type":"link","unix_ms":-1,"event":"opened","port":"/dev/ttyUSB0"}"# + "\n")
    }

    @Test func aGapLineNamesTheRange() throws {
        let range = try #require(SequenceRange(3, .max - 1))
        let line = GapLine(
            GapChange(event: .missing, logID: 67_108_863, range: range, unixMilliseconds: 7), deviceID: 0xAB)
        let expected =
            #"{"type":"gap","unix_ms":7,"event":"missing","collar":"00000000000000ab","log":67108863,"#
            + #""first_seq":3,"last_seq":4294967294}"#
        #expect(text(line.bytes) == expected + "\n")
    }

    @Test func anErrorLineHasEveryKeyAPersonNeeds() {
        let line = ErrorLine(
            code: "storage_failing", title: "Storage failing", reason: "full", remedy: nil, severity: .critical,
            isRetryable: true, unixMilliseconds: 5, deviceID: .max)
        let expected =
            #"{"type":"error","unix_ms":5,"code":"storage_failing","title":"Storage failing","reason":"full","remedy":null,"#
            + #""severity":"critical","retryable":true,"collar":"ffffffffffffffff"}"#
        #expect(text(line.bytes) == expected + "\n")
    }

    @Test(arguments: ["\"", "\\", "a\nb", "\u{0}\u{1F}\u{7F}", "/dev/é👍", "\\u0041", "\r\n\t"])
    func whateverTheTextItComesBackFromOneLine(text: String) throws {
        let link = LinkLine(event: .opened, unixMilliseconds: 0, port: text).bytes
        #expect(link.filter { $0 == 0x0A }.count == 1)
        #expect(
            try JSONDecoder().decode(Link.self, from: Data(link))
                == Link(type: "link", unix_ms: 0, event: "opened", port: text))
        let error = ErrorLine(
            code: "unknown", title: text, reason: text, remedy: text, severity: .info, isRetryable: false,
            unixMilliseconds: 0, port: text
        ).bytes
        #expect(error.filter { $0 == 0x0A }.count == 1)
        #expect(
            try JSONDecoder().decode(Failure.self, from: Data(error))
                == Failure(
                    type: "error", unix_ms: 0, code: "unknown", title: text, reason: text, remedy: text, severity: "info",
                    retryable: false, port: text))
    }
}
