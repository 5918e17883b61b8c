import CollarErrors
import Testing

@testable import CollarReceiver

/// Content of another kind than expected: its recognition, and the remedy.
@Suite struct FileKindTableTests {
    private static let contents: [([UInt8], FileKind?)] = [
        ([0x1F, 0x8B, 8], .compressed(unpacker: "zcat")), ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .compressed(unpacker: "xzcat")),
        ([0x42, 0x5A, 0x68, 0x39], .compressed(unpacker: "bzcat")), ([0x28, 0xB5, 0x2F, 0xFD], .compressed(unpacker: "zstdcat")),
        ([0x1F], nil), ([0xFD, 0x37, 0x7A, 0x58, 0x5A], nil), ([0xFF, 0xFE, 0x7B, 0], .utf16(name: "UTF-16")),
        ([0x0A, 0x0D, 0x0D, 0x0A, 9], .capture), ([0x0A, 0x0D, 0x0D], nil),
        ([0x7B, 0, 0x0A, 0], .utf16(name: "UTF-16LE")), ([0x7B, 0, 0x08, 0], nil), ([0x7B, 0, 0x7F, 0], nil), ([0x7B, 0, 0x22], nil),
        ([0, 0x09, 0, 0x7E], .utf16(name: "UTF-16BE")), ([0, 0], nil), ([0, 0, 0], nil),
    ]

    @Test(arguments: contents.indices)
    func bytesAreRecognisedByTheirMarks(index: Int) {
        let (bytes, kind) = Self.contents[index]
        #expect(FileKind(startingWith: bytes) == kind)
    }

    private static let texts: [(String, FileKind?)] = [
        ("<?xml version=\"1.0\"?>", .xml), ("\u{FEFF}<gpx>", .xml), (" \t\r\n<gpx>", .xml), ("\u{FEFF}[1]", .jsonArray),
        ("$GP,1", nil), ("$GPR,1", .nmea), ("$GPRMCABCD,1", .nmea), ("$GPRMCABCDE,1", nil), ("$GPgga,1", nil),
        ("$GPGGA", nil), ("$GP5GA,", .nmea), ("!AIVDM\n,1", nil),
        ("a,b,c", .csv), ("a\tb\tc\n1", .csv), ("a,b;c", nil), ("a,b,c\u{1}", nil), ("a,b\nc,d", nil), ("a,b\tc,d", .csv),
        ("{\"a\":1}", .jsonLines), ("{\"a\":1} \t\r\n", .jsonLines), ("{\"a\":1", .jsonObject), ("{\"a\": \r\n1}", .jsonObject),
        ("{\"a\":1}}\n", nil), ("{a:1}\n", nil), ("plain text", nil),
    ]

    @Test(arguments: texts.indices)
    func textIsRecognisedByItsFirstLine(index: Int) {
        let (text, kind) = Self.texts[index]
        #expect(FileKind(startingWith: Array(text.utf8)) == kind)
    }

    /// Only the start of a long content is examined: an object that goes on after it is one over several lines.
    @Test func aLongLineIsExaminedAtItsStart() {
        let long = "{\"a\":\"" + String(repeating: "x", count: 5000) + "\"}\n"
        #expect(FileKind(startingWith: Array(long.utf8)) == .jsonObject)
        let fitting = "{\"a\":\"" + String(repeating: "x", count: 4088) + "\"}\n"
        #expect(FileKind(startingWith: Array(fitting.utf8)) == .jsonLines)
    }

    private static let command = ShellCommand("collar-link", "reader")

    private func remedy(_ kind: FileKind, _ use: FileKind.Use, path: String = "/x") -> String? {
        kind.mismatch(path: path, use, Self.command)?.remedy
    }

    /// Content of the expected kind is no mistake.
    @Test func theWantedKindIsRight() {
        let rights: [(FileKind, FileKind.Use)] = [
            (.jsonLines, .lines), (.capture, .frames(isBare: false)), (.capture, .frames(isBare: true)), (.capture, .capture),
            (.frames(isBare: true), .frames(isBare: true)), (.frames(isBare: false), .frames(isBare: false)),
        ]
        for (kind, use) in rights { #expect(kind.mismatch(path: "/x", use, Self.command) == nil, "\(kind) \(use)") }
        let wrongs: [(FileKind, FileKind.Use)] = [
            (.capture, .lines), (.jsonLines, .capture), (.jsonLines, .frames(isBare: true)),
            (.frames(isBare: true), .frames(isBare: false)),
            (.frames(isBare: false), .frames(isBare: true)), (.frames(isBare: false), .capture), (.xml, .lines),
            (.nmea, .frames(isBare: false)),
            (.csv, .capture), (.jsonArray, .lines), (.jsonArray, .capture),
        ]
        for (kind, use) in wrongs { #expect(kind.mismatch(path: "/x", use, Self.command) != nil, "\(kind) \(use)") }
    }

    /// The commands that help, with the file, and with the options of what was wanted.
    @Test func theRemedyIsACommandForTheFile() {
        let remedies: [(FileKind, FileKind.Use, String)] = [
            (.compressed(unpacker: "xzcat"), .lines, "`xzcat /x | collar-link reader`"),
            (.utf16(name: "UTF-16BE"), .lines, "iconv -f UTF-16BE -t UTF-8 /x |"),
            (.jsonObject, .lines, "`jq -c . /x |"), (.jsonArray, .lines, "jq -c '.[]' /x |"),
            (.capture, .lines, "`collar-link decode /x |"), (.frames(isBare: false), .lines, "`collar-link decode /x |"),
            (.frames(isBare: true), .lines, "`collar-link decode --bare /x |"),
            (.jsonLines, .frames(isBare: false), "`collar-link encode /x |"),
            (.jsonLines, .frames(isBare: true), "`collar-link encode --bare /x |"),
            (.frames(isBare: true), .frames(isBare: false), "Give `--bare`"),
            (.frames(isBare: false), .frames(isBare: true), "Leave out `--bare`"),
            (.compressed(unpacker: "zcat"), .frames(isBare: true), "`zcat /x | collar-link encode --bare | collar-link reader`"),
            (.compressed(unpacker: "zcat"), .frames(isBare: false), "`zcat /x | collar-link encode | collar-link reader`"),
            (.compressed(unpacker: "zcat"), .capture, "`zcat /x | collar-link simulate --track -`"),
            (.jsonLines, .capture, "collar-link simulate --track /x"), (.frames(isBare: true), .capture, "collar-link decode --bare /x"),
            (.frames(isBare: false), .capture, "collar-link decode /x"),
        ]
        for (kind, use, text) in remedies { #expect(remedy(kind, use)?.contains(text) == true, "\(remedy(kind, use) ?? "none")") }
        #expect(remedy(.jsonArray, .lines, path: "stdin")?.contains(" FILE |") == true)
    }
}
