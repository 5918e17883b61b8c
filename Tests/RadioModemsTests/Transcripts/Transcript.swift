import CheckedNumbers
import CollarARQ
import Foundation
import CollarWire
import RadioModems

/// A dialogue between a host and the published firmware of a stick, as `Tests/Transcripts/README.md` describes it.
struct Transcript: Sendable, CustomStringConvertible {
    /// A line of the dialogue.
    enum Item: Equatable, Sendable {
        /// The host writes a line or a frame.
        case host(String)
        /// The firmware writes one.
        case firmware(String)
        /// A packet ends on the air.
        case hear([UInt8], RadioSignal)
        /// The firmware sends a packet.
        case air([UInt8])
        /// The board loses its power for a moment.
        case restart
    }

    struct Malformed: Error { let file: String, line: String }

    let name: String
    let dialect: Dialect
    let release: String
    let settings: RadioSettings
    let items: [Item]

    var description: String { name }

    /// Every transcript of the repository.
    static let all: [Transcript] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Transcripts")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted().compactMap { name in
            guard let text = try? String(contentsOf: folder.appending(path: name), encoding: .utf8) else { return nil }
            return try? Transcript(name: String(name.dropLast(4)), text: text)
        }
    }()

    init(name: String, text: String) throws {
        var dialect: Dialect?
        var release = ""
        var settings: RadioSettings?
        var items: [Item] = []
        for line in text.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) where !line.hasPrefix("#") && !line.isEmpty {
            let words = line.split(separator: " ").map(String.init)
            let rest = words.dropFirst().joined(separator: " ")
            switch words[0] {
            case "dialect": dialect = Dialect(rawValue: rest)
            case "release": release = rest
            case "settings":
                let numbers = words.dropFirst().compactMap { UInt32($0, in: 0 ... .max) }
                guard numbers.count == 5 else { throw Malformed(file: name, line: line) }
                settings = RadioSettings(
                    frequencyHertz: numbers[0], bandwidthHertz: numbers[1], spreadingFactor: UInt8(numbers[2]),
                    codingRateDenominator: UInt8(numbers[3]), powerDBm: Int8(numbers[4]))
            case ">": items.append(.host(rest))
            case "<": items.append(.firmware(rest))
            case "hear":
                guard words.count == 4, let strength = Int16(words[2], in: -200...0), let noise = Int16(words[3], in: -30...30)
                else { throw Malformed(file: name, line: line) }
                items.append(
                    .hear(Transcript.bytes(words[1]), RadioSignal(strengthDBm: strength, signalToNoiseTenthsDB: noise * 10)))
            case "air": items.append(.air(Transcript.bytes(rest)))
            case "restart": items.append(.restart)
            default: throw Malformed(file: name, line: line)
            }
        }
        guard let dialect, let settings, !items.isEmpty else { throw Malformed(file: name, line: "its head") }
        (self.name, self.dialect, self.release, self.settings, self.items) = (name, dialect, release, settings, items)
    }

    /// Whether a line or frame is the one of a transcript, in which `?` after a byte says that it may be another.
    static func matches(_ pattern: String, _ text: String) -> Bool {
        let (wanted, actual) = (pattern.split(separator: " "), text.split(separator: " "))
        return pattern == text || wanted.count == actual.count && zip(wanted, actual).allSatisfy { $0.hasSuffix("?") || $0 == $1 }
    }

    /// The bytes of hexadecimal digits, with or without spaces.
    static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits.filter { $0 != " " && $0 != "?" })
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
    }

    /// What is written for a line or a frame of the dialogue.
    func encoded(_ unit: String) -> [UInt8] { dialect == .rui3 ? Array("\(unit)\r\n".utf8) : Transcript.bytes(unit) }
}

/// Cuts bytes into the lines or frames of a transcript.
struct TranscriptReader {
    private let isText: Bool
    private var bytes: [UInt8] = []

    init(_ dialect: Dialect) { isText = dialect == .rui3 }

    /// Takes bytes.
    /// - Returns: the lines or frames that end in them. Empty lines, and frames of 0xFF, which end unfinished ones, are left out.
    mutating func take(_ new: [UInt8]) -> [String] {
        var units: [String] = []
        for byte in new {
            if isText {
                guard byte == 10 || byte == 13 else {
                    bytes.append(byte)
                    continue
                }
                if !bytes.isEmpty { units.append(String(decoding: bytes, as: UTF8.self)) }
                bytes = []
            } else if byte == 0xC0 {
                if let type = bytes.first, type != 0xFF { units.append(TranscriptReader.frame(bytes)) }
                bytes = []
            } else {
                bytes.append(byte)
            }
        }
        return units
    }

    private static func frame(_ bytes: [UInt8]) -> String {
        ([0xC0] + bytes + [0xC0]).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
            .joined(separator: " ")
    }
}
