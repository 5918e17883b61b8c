import CollarBridge

/// A kind of content that is easily given by mistake where lines, frames or a capture are expected.
public enum FileKind: Equatable, Sendable {
    /// Compressed; the program writes the content to stdout.
    case compressed(unpacker: String)
    /// Text in UTF-16.
    case utf16
    /// A capture: blocks of pcapng.
    case capture
    /// GPX or another language of XML.
    case xml
    /// Sentences of NMEA 0183.
    case nmea
    /// A table whose values commas, semicolons or tabs separate.
    case csv
    /// Objects of JSON, each on a line of its own.
    case jsonLines
    /// An object of JSON over several lines.
    case jsonObject
    /// An array of JSON.
    case jsonArray

    /// The number of bytes at the start of the content that are examined.
    public static let examinedByteCount = 4096

    /// Recognises content by its first bytes; nil for any other content.
    public init?(startingWith bytes: [UInt8]) {
        let bytes = bytes.prefix(FileKind.examinedByteCount)
        if let (_, kind) = FileKind.marks.first(where: { bytes.starts(with: $0.mark) }) {
            self = kind
        } else if bytes.count >= 4, FileKind.isWideText(bytes.prefix(4)) {
            self = .utf16
        } else if let kind = FileKind.text(Self.withoutByteOrderMark(bytes)) {
            self = kind
        } else {
            return nil
        }
    }

    /// The bytes without the mark with which a text in UTF-8 may begin (RFC 8259, section 8.1).
    public static func withoutByteOrderMark(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
    }

    /// The bytes with which formats begin: RFC 1952, the formats of xz, bzip2 and Zstandard (RFC 8878), UTF-16 and pcapng.
    private static let marks: [(mark: [UInt8], kind: FileKind)] = [
        ([0x1F, 0x8B], .compressed(unpacker: "zcat")), ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .compressed(unpacker: "xzcat")),
        ([0x42, 0x5A, 0x68], .compressed(unpacker: "bzcat")), ([0x28, 0xB5, 0x2F, 0xFD], .compressed(unpacker: "zstdcat")),
        ([0xFF, 0xFE], .utf16), ([0xFE, 0xFF], .utf16), (CaptureFormat.magic, .capture),
    ]

    /// Whether four bytes are two characters of ASCII in UTF-16.
    private static func isWideText(_ bytes: ArraySlice<UInt8>) -> Bool {
        [0, 1].contains { parity in
            bytes.indices.allSatisfy { ($0 - bytes.startIndex) % 2 == parity ? bytes[$0] == 0 : (0x09..<0x7F).contains(bytes[$0]) }
        }
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
                return error.byteOffset >= line.trimmed.count ? .jsonObject : nil
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

extension ArraySlice<UInt8> {
    /// The bytes without the white space at their end.
    fileprivate var trimmed: ArraySlice<UInt8> {
        var rest = self
        while let last = rest.last, [0x20, 0x09, 0x0D].contains(last) { rest.removeLast() }
        return rest
    }
}
