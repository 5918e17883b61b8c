import Foundation
import Testing

/// One file of Protocol/vectors.
struct Vector: Sendable, CustomTestStringConvertible {
    let file: String
    let contents: Contents

    var testDescription: String { file }

    /// The keys of section 21 of PROTOCOL.md that a test needs.
    struct Contents: Decodable, Sendable {
        var meaning: String
        var origin: String
        var bare: String?
        var serial: String?
        var deviceID: String?
        var logID: UInt32?
        var reference: UInt32?
        var anchor: [String: FieldValue]?
        var canonical: Bool?
        var decoded: [String: FieldValue]?
        var error: String?
        var field: String?

        enum CodingKeys: String, CodingKey {
            case meaning, origin, bare, serial
            case deviceID = "device_id"
            case logID = "log_id"
            case reference, anchor, canonical, decoded, error, field
        }
    }

    /// The vectors in a folder of Protocol/vectors and in the folders below it.
    static func all(in folder: String) throws -> [Vector] {
        let root = try Repository.root().appendingPathComponent("Protocol/vectors/\(folder)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        return try files.filter { $0.hasSuffix(".json") }.sorted().map { file in
            let data = try Data(contentsOf: root.appendingPathComponent(file))
            do {
                return Vector(file: file, contents: try JSONDecoder().decode(Contents.self, from: data))
            } catch {
                throw Unreadable(file: file, reason: error)
            }
        }
    }

    struct Unreadable: Error {
        let file: String
        let reason: any Error
    }
}

/// The value of a field in a vector. True and false become 1 and 0, the bits that are sent for them.
enum FieldValue: Equatable, Sendable, Decodable {
    case unknown
    case integer(Int128)
    case text(String)
    case list([FieldValue])
    case fields([String: FieldValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .unknown
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(Int128(integer))
        } else if let integer = try? container.decode(UInt64.self) {
            self = .integer(Int128(integer))
        } else if let flag = try? container.decode(Bool.self) {
            self = .integer(flag ? 1 : 0)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let fields = try? container.decode([String: FieldValue].self) {
            self = .fields(fields)
        } else {
            self = .list(try container.decode([FieldValue].self))
        }
    }

    init(_ integer: some BinaryInteger) { self = .integer(Int128(integer)) }

    init(_ integer: (some BinaryInteger)?) { self = integer.map { .integer(Int128($0)) } ?? .unknown }
}
