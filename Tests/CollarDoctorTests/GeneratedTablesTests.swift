import CollarErrors
import FoundationEssentials
import Testing

@testable import CollarDoctor

/// The tables of documents and the lists of schemas that are made from the tables of codes. A test fails where one of them differs;
/// `Tools/tables` writes them.
@Suite struct GeneratedTablesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    private static let isWriting = ProcessInfo.processInfo.environment["COLLAR_LINK_WRITE_TABLES"] != nil

    /// A code as its source file has it: the section, and the comment, which says what triggers it.
    private struct CommentedCode {
        var code, section, comment: String
    }

    private static func codes(in file: String) throws -> [CommentedCode] {
        var codes: [CommentedCode] = [], section = "", comment: [Substring] = []
        for line in try String(contentsOf: root.appending(path: file), encoding: .utf8).split(separator: "\n") {
            let text = line.drop { $0 == " " }
            let words = text.split(separator: "\"", omittingEmptySubsequences: false)
            if text.hasPrefix("/// ") {
                comment.append(text.dropFirst(4))
            } else if text.hasPrefix("// ") {
                section = String(text.dropFirst(3))
            } else {
                if text.hasPrefix("case ") || words[0].hasSuffix("= ErrorCode(") {
                    let code = words.count > 1 ? words[1] : text.dropFirst(5)
                    codes.append(CommentedCode(code: String(code), section: section, comment: comment.joined(separator: " ")))
                }
                comment = []
            }
        }
        return codes
    }

    /// Checks, or writes, the lines of a file after the lines that begin with some texts, up to the next that is another.
    private func check(_ file: String, after starts: [String], upTo end: String, are expected: [String]) throws {
        let url = Self.root.appending(path: "Protocol").appending(path: file)
        var lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var first = 0
        for start in starts { first = try #require(lines[first...].firstIndex { $0.hasPrefix(start) }) + 1 }
        let last = try #require(lines[first...].firstIndex { $0 == end })
        if Self.isWriting, Array(lines[first..<last]) != expected {
            lines.replaceSubrange(first..<last, with: expected)
            try lines.joined(separator: "\n").write(to: url, atomically: true, encoding: .utf8)
        }
        #expect(Array(lines[first..<last]) == expected, "run Tools/tables")
    }

    private func checkList(_ schema: String, of codes: [CommentedCode], in member: String) throws {
        let lines = codes.map { "        \"\($0.code)\"," }
        let last = String(try #require(lines.last).dropLast())
        try check("schema/\(schema).schema.json", after: ["    \"code\": {", "      \"\(member)\": ["], upTo: "      ]", are: lines.dropLast() + [last])
    }

    @Test func errors() throws {
        let codes = try Self.codes(in: "Sources/CollarErrors/ErrorCode.swift").filter { ErrorCode(rawValue: $0.code) != nil }
        #expect(codes.map(\.code) == ErrorCode.allCases.map(\.rawValue))
        let rows = zip(codes, ErrorCode.allCases).map { source, code in
            let exit = code.exitCode.map { "\($0.rawValue)" } ?? "–"
            return "| `\(source.code)` | \(code.severity.rawValue) | \(code.isRetryable ? "yes" : "no") | \(exit) | \(source.comment) |"
        }
        try check("ERRORS.md", after: ["| code |"], upTo: "", are: ["|---|---|---|---|---|"] + rows)
        let rejected = "Requests that are rejected."
        try checkList("error", of: codes.filter { ![rejected, "Errors that end a command."].contains($0.section) }, in: "examples")
        // A request is also rejected for a reason that is a state of the receiver.
        let alsoRejected: [ErrorCode] = [.pairedElsewhere, .storageFailing]
        try checkList(
            "result", of: codes.filter { $0.section == rejected || alsoRejected.map(\.rawValue).contains($0.code) }, in: "enum")
    }

    @Test func findings() throws {
        let codes = try Self.codes(in: "Sources/CollarDoctor/FindingCode.swift").filter { FindingCode(rawValue: $0.code) != nil }
        #expect(codes.map(\.code) == FindingCode.allCases.map(\.rawValue))
        let rows = zip(codes, FindingCode.allCases).map { source, code in
            let exit = code.severity == .warning ? ExitCode.warnings : code.exitCode
            return "| `\(source.code)` | \(code.severity.rawValue) | \(exit.rawValue) | \(source.comment) |"
        }
        try check("FINDINGS.md", after: ["| code |"], upTo: "", are: ["|---|---|---|---|"] + rows)
    }
}
