import CollarHost
import CollarJournal
import CollarWire
import Testing

@testable import CollarFormats

@Suite("Lines for people at a terminal")
struct TerminalWriterTests {
    private func formatter(width: Int, _ deployments: DeploymentTable = DeploymentTable(), zone: TimeZoneOffset? = nil) -> EntryFormatter {
        var options = FormatOptions(.text)
        options.terminalWidth = width
        options.deployments = deployments
        options.zone = zone
        return EntryFormatter(options)
    }

    private func text(_ fix: ReceivedFix, width: Int, _ deployments: DeploymentTable = DeploymentTable(), zone: TimeZoneOffset? = nil) -> String {
        var formatter = formatter(width: width, deployments, zone: zone)
        var bytes: [UInt8] = []
        formatter.begin(into: &bytes)
        formatter.append(fix, to: &bytes)
        formatter.end(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func text(_ content: EmittedEntry.Content, width: Int, _ deployments: DeploymentTable = DeploymentTable()) -> String {
        var formatter = formatter(width: width, deployments)
        var bytes: [UInt8] = []
        formatter.append(content, deviceID: 0x0123_4567_89AB_CDEF, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("at 80 columns, a fix is one line; a collar without a name has the first 8 digits of its id")
    func fixAt80Columns() {
        #expect(
            text(knownFix(), width: 80)
                == "23:53:54  37.77490, -122.41940  ±5.3 m  0.5 m/s  battery 85 %  01234567  fix 42\n")
    }

    @Test("a collar with a name has the name in place of the id")
    func name() {
        #expect(
            text(knownFix(), width: 80, worn(by: "Athena"))
                == "23:53:54  37.77490, -122.41940  ±5.3 m  0.5 m/s  battery 85 %  Athena  fix 42\n")
    }

    @Test("control characters in a name are shown, not sent to the terminal")
    func controlCharacters() {
        #expect(text(knownFix(), width: 100, worn(by: "Athena\u{1B}[2J")).hasSuffix("  Athena\\u{1B}[2J  fix 42\n"))
    }

    @Test("at 40 columns, a fix is broken between values, and its further lines are indented")
    func fixAt40Columns() {
        #expect(
            text(knownFix(), width: 40) == """
                23:53:54  37.77490, -122.41940  ±5.3 m
                  0.5 m/s  battery 85 %  01234567
                  fix 42

                """)
    }

    @Test("a fix that was made on another day than it was received has a date")
    func anotherDay() {
        var fix = knownFix()
        fix.receivedUnixMilliseconds = fix.fix.unixMilliseconds + 86_400_000
        #expect(text(fix, width: 100).hasPrefix("2023-11-07 23:53:54  37.77490, "))
    }

    @Test("a fix of unknown reception has a date")
    func unknownReception() {
        var fix = knownFix()
        fix.receivedUnixMilliseconds = nil
        #expect(text(fix, width: 100).hasPrefix("2023-11-07 23:53:54  37.77490, "))
    }

    @Test("times are in the time zone")
    func zone() {
        #expect(text(knownFix(), width: 80, zone: TimeZoneOffset { _ in -3600 }).hasPrefix("22:53:54  "))
    }

    @Test("an unknown value is a question mark")
    func unknownValues() {
        #expect(
            text(unknownFix(), width: 90)
                == "2000-01-01 00:00:00  0.00000, 0.00000  ±? m  ? m/s  battery ? %  00000000  fix 0\n")
    }

    @Test("an accuracy has a decimal place below 10 m, and none from 10 m up", arguments: [
        (0, "0.0"), (10, "0.1"), (63, "9.6"), (64, "10"), (126, "2195"),
    ] as [(UInt8, String)])
    func accuracy(code: UInt8, meters: String) {
        var fix = knownFix()
        fix.fix.horizontalAccuracy = AccuracyCode(rawValue: code)
        #expect(text(fix, width: 100).contains("  ±\(meters) m  "))
    }

    @Test("a gap names its collar and its fixes")
    func gap() throws {
        let gap = GapChange(event: .missing, logID: 7, range: try #require(SequenceRange(3, 5)), unixMilliseconds: 1500)
        #expect(text(.gap(gap), width: 80) == "00:00:01  01234567  fixes 3 to 5 missing\n")
        #expect(text(.gap(gap), width: 80, worn(by: "Athena")) == "00:00:01  Athena  fixes 3 to 5 missing\n")
        #expect(text(.gap(gap), width: 30) == "00:00:01  01234567\n  fixes 3 to 5 missing\n")
    }

    @Test("a message has its code, its collar and its sequence")
    func messageAndItsCollar() throws {
        let message = try message(9)
        #expect(text(.message(message), width: 80) == "00:00:01  notice of code 3  01234567  message 9\n")
        #expect(text(.message(message), width: 40) == "00:00:01  notice of code 3  01234567\n  message 9\n")
    }

    @Test("a later name is used for the lines after it")
    func renaming() {
        var formatter = formatter(width: 80, worn(by: "Athena"))
        formatter.annotations.deployments = worn(by: "Zeus")
        var bytes: [UInt8] = []
        formatter.append(knownFix(), to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self).contains("  Zeus  fix 42"))
    }

    @Test("without a width, lines for people have whole times and ids")
    func noTerminal() {
        #expect(document(.text, [knownFix()]).hasPrefix("2023-11-07T23:53:54.567Z  "))
        #expect(document(.text, [knownFix()]).hasSuffix("  collar 0123456789abcdef  fix 42\n"))
    }

    @Test("the width of the terminal changes no other format", arguments: OutputFormat.allCases.filter { $0 != .text })
    func otherFormats(format: OutputFormat) {
        var options = FormatOptions(format)
        options.terminalWidth = 10
        var formatter = EntryFormatter(options)
        var bytes: [UInt8] = []
        formatter.begin(into: &bytes)
        formatter.append(knownFix(), to: &bytes)
        formatter.end(into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == document(format, [knownFix()]))
    }
}
