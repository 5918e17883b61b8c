import CollarWire
import Foundation
import FuzzCore

/// The parts of a file of Protocol/vectors, or of a finding, that fuzzing needs.
struct VectorFile: Decodable {
    var bare: String?
    var serial: String?
    var reference: UInt32?
    var anchor: FixCodes?
    var canonical: Bool?
    var error: String?
    /// The steps of a session.
    var steps: [Step]?
    /// The target of a finding.
    var target: String?
    /// The input of a finding, in hexadecimal digits.
    var input: String?

    struct Step: Decodable {
        var radio: String?
        var host: String?
    }

    /// Reads a file.
    init(path: String) throws {
        do {
            self = try JSONDecoder().decode(VectorFile.self, from: try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw UnusableFile(path: path, reason: "\(error)")
        }
    }

    /// The vectors from which seeds are made: one frame, or the serial line and the host's frames of a session.
    var seedVectors: [SeedVector] {
        guard let steps else {
            return [seedVector(bare: bare, serial: serial)]
        }
        let line = steps.compactMap(\.radio).joined()
        return [seedVector(bare: nil, serial: line)]
            + steps.compactMap(\.host).map { seedVector(bare: $0, serial: nil) }
    }

    private func seedVector(bare: String?, serial: String?) -> SeedVector {
        SeedVector(
            bare: bare.flatMap(Hexadecimal.bytes(of:)), serial: serial.flatMap(Hexadecimal.bytes(of:)),
            reference: reference ?? 0, anchor: anchor?.fix,
            isCanonical: error == nil && steps == nil && input == nil && canonical ?? true)
    }
}

/// A file that cannot be used, and why.
struct UnusableFile: Error, CustomStringConvertible {
    let path: String
    let reason: String
    var description: String { "\(path): \(reason)" }
}
