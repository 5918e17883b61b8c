import CollarARQ
import CollarErrors
import CollarFormats
import CollarHost
import Glibc
import Testing

@testable import CollarReceiver

@Suite struct LogTests {
    @Test func levelsAreInOrder() {
        #expect(LogLevel.allCases == LogLevel.allCases.sorted())
        #expect(LogLevel.allCases.map(\.priority) == [7, 6, 4, 3, 2])
    }

    @Test func aCategoryGoesBeforeTheGeneralLevel() throws {
        var filter = LogFilter()
        #expect(filter.passes(LogMark(.info)) && !filter.passes(LogMark(.debug)))
        try filter.set("crash:debug")
        try filter.set("error")
        #expect(filter.passes(LogMark(.debug, .crash)))
        #expect(!filter.passes(LogMark(.warning, .power)))
        #expect(filter.passes(LogMark(.fault, .power)))
        try filter.set("crash:fault")
        #expect(!filter.passes(LogMark(.error, .crash)))
    }

    @Test(arguments: [
        ("loud", LogFilter.Problem.level("loud")), ("", .level("")), ("crash:", .level("")), ("noise:info", .category("noise")),
        (":info", .category("")), ("crash:info:x", .level("info:x")),
    ])
    func whatIsNoFilter(text: String, problem: LogFilter.Problem) {
        var filter = LogFilter()
        var found: LogFilter.Problem?
        do throws(LogFilter.Problem) { try filter.set(text) } catch { found = error }
        #expect(found == problem)
        #expect(filter == LogFilter())
    }

    @Test func marksOfNotices() {
        #expect(ReceiverNotice.port(path: "x", .opened(node: nil)).mark == LogMark(.info, .connectivity))
        #expect(ReceiverNotice.host(.link("x", .noIdentity(microseconds: 5_000_000))).mark == LogMark(.info, .connectivity, code: .sessionTimeout))
        #expect(ReceiverNotice.host(.collar(1, .lost(first: 2, last: 3))).mark == LogMark(.warning, .collarLocation))
        #expect(ReceiverNotice.host(.link("x", .keyMissing)).mark == LogMark(.warning, .connectivity, code: .keyMissing))
        #expect(ReceiverNotice.modem(path: "x", .dutyCycleReached(microseconds: 1_000_000, isStart: false)).mark == LogMark(.warning, .performance, code: .dutyCycleReached))
        #expect(ReceiverNotice.traffic(path: "x", isInbound: true, bytes: []).mark.level == .debug)
        #expect(ReceiverNotice.crashed(EndOfRun(processID: 1, signal: nil)).mark == LogMark(.error, .crash, code: .runCrashed))
        #expect(ReceiverNotice.crashed(EndOfRun(processID: 1, signal: SIGSEGV)).mark == LogMark(.fault, .crash, code: .runCrashed))
    }

    @Test func bytesInDigits() {
        #expect([UInt8]([0, 10, 255]).hexadecimalText == "000aff")
        #expect([UInt8](repeating: 1, count: 257).hexadecimalText == String(repeating: "01", count: 256) + "…")
    }

    /// What the journal gets, byte by byte.
    @Test func datagrams() {
        let one = JournalSocket.datagram(["no room"], LogMark(.fault, .collarLocation, code: .storageFailing))
        #expect(
            String(decoding: one, as: UTF8.self) == """
                PRIORITY=2
                SYSLOG_IDENTIFIER=collar-link
                COLLAR_LINK_CATEGORY=collar-location
                COLLAR_LINK_LEVEL=fault
                COLLAR_LINK_CODE=storage_failing
                MESSAGE=no room

                """)
        let two = JournalSocket.datagram(["a", "b"], LogMark())
        let text = "PRIORITY=6\nSYSLOG_IDENTIFIER=collar-link\nCOLLAR_LINK_CATEGORY=connectivity\nCOLLAR_LINK_LEVEL=info\nMESSAGE\n"
        #expect(two == Array(text.utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + Array("a\nb\n".utf8))
        // The length counts bytes, also of a long message.
        let name = String(repeating: "Zoë", count: 100)
        #expect(JournalSocket.datagram([name, "b"], LogMark()) == Array(text.utf8) + [0x92, 1, 0, 0, 0, 0, 0, 0] + Array("\(name)\nb\n".utf8))
    }

    @Test(arguments: [
        ("process=7\nboot=abc\n", EndOfRun(processID: 7, signal: nil)), ("process=7\nboot=abc\nsignal=11\n", EndOfRun(processID: 7, signal: 11)),
        ("process=7\nboot=other\n", nil), ("process=7\n", nil), ("boot=abc\n", nil), ("", nil), ("noise", nil),
    ])
    func endsOfRuns(text: String, end: EndOfRun?) {
        #expect(RunMarker.end(in: CaptureFields(Array(text.utf8)), boot: "abc") == end)
        #expect(RunMarker.end(in: CaptureFields(Array(text.utf8)), boot: "") == nil)
    }

    /// The gate, the filter and the lines know a notice by its code: a sentence is built only for an error line, or for a person.
    @Test func aFilteredMessageBuildsNoText() {
        let notices: [ReceiverNotice] = [
            .port(path: "/dev/ttyUSB0", .waiting), .port(path: "/dev/ttyUSB0", .opened(node: nil)), .udevElsewhere, .port(path: "/dev/ttyUSB0", .unmarked),
            .traffic(path: "/dev/ttyUSB0", isInbound: true, bytes: [1]), .host(.collar(1, .heard(logID: 2, link: "a", isSealed: true))),
            .host(.collar(1, .lost(first: 1, last: 2))), .host(.collar(1, .health(.late(silentMicroseconds: 1)))),
            .cannotSend(path: "/dev/ttyUSB0"), .host(.link("a", .keyMissing)), .host(.collar(1, .keyLost)),
        ]
        var gate = NoticeGate()
        var builtCount = 0
        for notice in notices {
            let reported = ReportedNotice(notice)
            let isAdmitted = gate.admits(notice, at: Instant(microseconds: 0))
            #expect(isAdmitted)
            _ = LogFilter(.fault).passes(notice.mark)
            #expect(!reported.isMessageBuilt)
            reported.forEachLine(at: 0, DeploymentTable()) { _, _ in }
            #expect(reported.isMessageBuilt == (notice.code != nil))
            if reported.isMessageBuilt { builtCount += 1 }
            #expect(reported.message == notice.message)
        }
        #expect(builtCount == 3)
    }
}
