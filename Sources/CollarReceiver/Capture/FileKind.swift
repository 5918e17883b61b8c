import CollarErrors
import CollarFormats
import CollarWire

/// A kind of content that is easily given by mistake where lines, frames or a capture are expected.
package enum FileKind: Equatable, Sendable {
    /// Compressed; the program writes the content to stdout.
    case compressed(unpacker: String)
    /// Text in UTF-16; `name` is the encoding with its byte order, as iconv names it.
    case utf16(name: String)
    /// Frames of the Collar Link Protocol: those of a serial line, or bare ones after their lengths.
    case frames(isBare: Bool)
    /// A capture: blocks of pcapng.
    case capture
    /// GPX or another language of XML.
    case xml
    case nmea
    /// A table whose values commas, semicolons or tabs separate.
    case csv
    /// Objects of JSON, each on a line of its own.
    case jsonLines
    /// An object of JSON over several lines.
    case jsonObject
    case jsonArray

    /// The number of bytes at the start of the content that are examined.
    package static let examinedByteCount = 4096

    /// Recognises content by its first bytes; nil for any other content.
    package init?(startingWith bytes: [UInt8]) {
        let bytes = bytes.prefix(FileKind.examinedByteCount)
        if let (_, kind) = FileKind.marks.first(where: { bytes.starts(with: $0.mark) }) {
            self = kind
        } else if bytes.count >= 4, let name = FileKind.wideEncoding(bytes.prefix(4)) {
            self = .utf16(name: name)
        } else if FileKind.hasFrame(bytes) {
            self = .frames(isBare: false)
        } else if FileKind.beginsWithBareFrame(bytes) {
            self = .frames(isBare: true)
        } else if let kind = FileKind.text(Self.withoutByteOrderMark(bytes)) {
            self = kind
        } else {
            return nil
        }
    }

    /// The bytes without the mark with which a text in UTF-8 may begin (RFC 8259, section 8.1).
    package static func withoutByteOrderMark(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
    }

    /// The bytes with which formats begin: RFC 1952, the formats of xz, bzip2 and Zstandard (RFC 8878), UTF-16 and pcapng.
    private static let marks: [(mark: [UInt8], kind: FileKind)] = [
        ([0x1F, 0x8B], .compressed(unpacker: "zcat")), ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .compressed(unpacker: "xzcat")),
        ([0x42, 0x5A, 0x68], .compressed(unpacker: "bzcat")), ([0x28, 0xB5, 0x2F, 0xFD], .compressed(unpacker: "zstdcat")),
        ([0xFF, 0xFE], .utf16(name: "UTF-16")), ([0xFE, 0xFF], .utf16(name: "UTF-16")), (CaptureFormat.magic, .capture),
    ]

    /// The encoding of four bytes that are two characters of ASCII in UTF-16 without a byte order mark; nil if they are not. Without
    /// that mark, iconv takes UTF-16 for that of its machine.
    private static func wideEncoding(_ bytes: ArraySlice<UInt8>) -> String? {
        ["UTF-16BE", "UTF-16LE"].enumerated().first { parity, _ in
            bytes.indices.allSatisfy { ($0 - bytes.startIndex) % 2 == parity ? bytes[$0] == 0 : (0x09..<0x7F).contains(bytes[$0]) }
        }?.element
    }

    /// Whether there is a valid frame of the serial line that no log is needed for: an identity comes before all fixes.
    private static func hasFrame(_ bytes: ArraySlice<UInt8>) -> Bool {
        var stream = StreamDecoder()
        var index = 0
        let bytes = Array(bytes)
        while let event = stream.next(in: bytes.span, at: &index) {
            if case .frame = event, isFrame(stream.frame) { return true }
        }
        return false
    }

    private static func beginsWithBareFrame(_ bytes: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(bytes)
        guard bytes.count > 2, bytes[0] == 0, bytes.count >= 2 + Int(bytes[1]) else { return false }
        return isFrame(bytes.span.extracting(2..<(2 + Int(bytes[1]))))
    }

    private static func isFrame(_ bytes: Span<UInt8>) -> Bool {
        do throws(DecodeError) { return try FrameHeader(ofAny: bytes).type != nil && FrameCRC.isValid(bytes, log: nil) } catch { return false }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> FileKind? {
        let start = bytes.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let line = start.prefix { $0 != UInt8(ascii: "\n") }
        switch start.first {
        case UInt8(ascii: "<"): return .xml
        case UInt8(ascii: "["): return .jsonArray
        case UInt8(ascii: "$"), UInt8(ascii: "!"):
            let address = line.dropFirst().prefix { $0 != UInt8(ascii: ",") }
            return (3...9).contains(address.count) && address.allSatisfy(isCapitalOrDigit) && address.count + 1 < line.count ? .nmea : nil
        case UInt8(ascii: "{"):
            do throws(JSONSyntaxError) { _ = try JSONScanner.value(of: Array(line)) } catch {
                // A line that goes on after the examined bytes, or over a line feed.
                let spaceCount = line.reversed().prefix { [0x20, 0x09, 0x0D].contains($0) }.count
                return error.byteOffset >= line.count - spaceCount ? .jsonObject : nil
            }
            return .jsonLines
        default:
            let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")].map { separator in line.count { $0 == separator } }
            return (separators.max() ?? 0) >= 2 && line.allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0D } ? .csv : nil
        }
    }

    private static func isCapitalOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

extension FileKind {
    /// The content that a command reads.
    package enum Use: Sendable {
        case lines
        /// Frames of a serial line or bare ones, or a capture.
        case frames(isBare: Bool)
        case capture
    }

    /// That a file is of this kind and not of the wanted one, and what helps; nil if it is of the wanted kind.
    /// - Parameter command: the command that reads it, as it reads stdin.
    package func mismatch(path: String, _ use: Use, _ command: ShellCommand) -> UserMessage? {
        func mismatch(_ remedy: String) -> UserMessage { UserMessage(nil, "\(path): this is \(text), not \(use.text).", remedy) }
        let file = path == "stdin" ? "FILE" : path
        func piped(_ filter: [String], to command: ShellCommand) -> String {
            "`\(ShellCommand(words: filter + [file]).piped(to: command).text)`"
        }
        func converted(_ filter: String...) -> UserMessage { mismatch("Run \(piped(filter, to: command)).") }
        return switch (self, use) {
        case (.jsonLines, .lines), (.capture, .frames), (.capture, .capture): nil
        case (.frames(let isBare), .frames(let areBareWanted)):
            isBare == areBareWanted ? nil : mismatch(isBare ? "Give `--bare`." : "Leave out `--bare`.")
        case (.compressed(let unpacker), .lines): converted(unpacker)
        case (.compressed(let unpacker), .frames(let isBare)):
            mismatch(
                "If frames or a capture are in it: \(piped([unpacker], to: command)). If lines of JSON are: "
                    + "\(piped([unpacker], to: ShellCommand(words: FileKind.encoder(isBare: isBare)).piped(to: command))).")
        case (.compressed(let unpacker), .capture):
            mismatch(
                "If a capture is in it: \(piped([unpacker], to: command)). If lines of JSON are, they are a track: "
                    + "\(piped([unpacker], to: ShellCommand("collar-link", "simulate", "--track", "-"))).")
        case (.utf16(let name), .lines): converted("iconv", "-f", name, "-t", "UTF-8")
        case (.jsonObject, .lines): converted("jq", "-c", ".")
        case (.jsonArray, .lines): converted("jq", "-c", ".[]")
        case (.capture, .lines), (.frames(isBare: false), .lines): converted("collar-link", "decode")
        case (.frames(isBare: true), .lines): converted("collar-link", "decode", "--bare")
        case (_, .lines):
            mismatch(#"Each fix is a line, at least: {"ts_unix_ms":1498266133000,"lat":50.17028,"lon":-5.11399}."#)
        case (.jsonLines, .frames(let isBare)): mismatch("Run \(piped(FileKind.encoder(isBare: isBare), to: command)).")
        case (_, .frames): mismatch("Name the bytes of a serial line, or a file that `--write` has made.")
        case (.jsonLines, .capture):
            mismatch("Lines of JSON are a track: `\(ShellCommand("collar-link", "simulate", "--track", file).text)` plays it.")
        case (.frames(let isBare), .capture):
            mismatch("Print the fixes in it: `\(ShellCommand(words: ["collar-link", "decode"] + (isBare ? ["--bare"] : []) + [file]).text)`.")
        case (_, .capture): mismatch("Name a file that `--write` has made.")
        }
    }

    /// The command that makes frames of lines of JSON.
    private static func encoder(isBare: Bool) -> [String] { ["collar-link", "encode"] + (isBare ? ["--bare"] : []) }

    private var text: String {
        switch self {
        case .compressed: "compressed"
        case .utf16: "text in UTF-16"
        case .capture: "a capture"
        case .frames(let isBare): isBare ? "bare frames" : "frames of a serial line"
        case .xml: "XML, such as GPX"
        case .nmea: "NMEA"
        case .csv: "a table (CSV)"
        case .jsonLines: "lines of JSON"
        case .jsonObject: "JSON over several lines"
        case .jsonArray: "an array of JSON"
        }
    }
}

extension FileKind.Use {
    fileprivate var text: String {
        switch self {
        case .lines: "fixes as lines of JSON"
        case .frames(isBare: false): "frames of the Collar Link Protocol"
        case .frames(isBare: true): "bare frames of the Collar Link Protocol"
        case .capture: "a capture"
        }
    }
}
