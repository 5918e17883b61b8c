import CollarWire
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

extension Vector {
    /// The bare frame; nil if the vector has only a serial form.
    var bare: [UInt8]? { get throws { try contents.bare.map([UInt8].init(hexadecimal:)) } }

    /// The bytes on a serial line; nil if the vector has only a bare frame.
    var serial: [UInt8]? { get throws { try contents.serial.map([UInt8].init(hexadecimal:)) } }

    /// The log to which the CRC is bound; nil for a frame that is not bound.
    var log: LogIdentity? {
        get throws {
            guard let device = contents.deviceID, let logID = contents.logID else { return nil }
            let deviceID = DeviceID(rawValue: try #require(UInt64(device, radix: 16)))
            return LogIdentity(deviceID: deviceID, logID: try #require(LogID(rawValue: logID)))
        }
    }
}

/// An end of the link that knows the log, the reference and the anchor that a vector names.
struct VectorPeer {
    let log: LogIdentity?
    let reference: UInt32
    let anchor: Fix?

    init(_ vector: Vector) throws {
        log = try vector.log
        reference = vector.contents.reference ?? 0
        anchor = try vector.contents.anchor.map { try Fix(vectorFields: $0) }
    }

    /// Decodes a bare frame. The anchor of a live fix is the anchor of the vector.
    func read(_ bytes: [UInt8]) throws(DecodeError) -> Message {
        guard try FrameHeader(bytes.span).type == .liveFix else {
            return try decoded(bytes, log: log, reference: reference)
        }
        let header = try FrameHeader(bytes.span)
        guard let names = LiveFix.sequences(of: bytes.span, header: header, reference: reference) else {
            throw .invalidField(.anchor, code: 0)
        }
        guard let log, let anchor, anchor.sequence == names.anchor else { throw .crcMismatch }
        return .fix(try LiveFix.decode(bytes.span, sequence: names.sequence, anchor: anchor, log: log))
    }

    /// Encodes `message` with the address, the flags and the form of `bytes`.
    func write(_ message: Message, like bytes: [UInt8], room: Int) throws -> [UInt8] {
        let header = try FrameHeader(bytes.span)
        if case .fix(let fix) = message, header.type == .liveFix, let anchor, let log {
            return try frame(room: room) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try LiveFix.encode(
                    fix, anchor: anchor, address: header.address, flags: header.flags, log: log, into: &output)
            }
        }
        // An encoder writes the short form of a sequence only if it gets a reference near that sequence.
        var near: UInt32?
        if case .fix(let fix) = message, bytes[5] & 0x80 == 0 { near = fix.sequence }
        return try frame(
            of: message, address: header.address, flags: header.flags, log: log ?? .sample, reference: near,
            room: room)
    }
}
