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
