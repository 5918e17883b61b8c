import CollarWire
import Foundation
import FuzzCore

/// An input for which the codec did what it must not do, in the form of a vector.
struct Finding: Encodable {
    let target: String
    /// What went wrong.
    let problem: String
    let input: [UInt8]
    /// Seed and number of the execution; nil under libFuzzer, which has no such numbers.
    let execution: (seed: UInt64, number: UInt64)?
    /// Empty until a separate process has described the input, because the description may crash as well.
    var description = InputDescription()

    /// The name of the file. The same input of the same target always has the same name.
    var fileName: String {
        var digest = Digest()
        for byte in input { digest.add(byte) }
        return "\(target)-\(Hexadecimal.text(of: digest.value)).json"
    }

    private enum Key: String, CodingKey {
        case meaning, origin, target, input, seed, execution, bare, serial, pieces, reference, anchor
        case device = "device_id"
        case logID = "log_id"
        case again = "repeat"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("Found by fuzzing \(target): \(problem).", forKey: .meaning)
        try container.encode(execution == nil ? "libFuzzer" : "made by Tools/fuzz", forKey: .origin)
        try container.encode(target, forKey: .target)
        try container.encode(Hexadecimal.text(of: input), forKey: .input)
        try container.encodeIfPresent(execution?.seed, forKey: .seed)
        try container.encodeIfPresent(execution?.number, forKey: .execution)
        try container.encode("Tools/fuzz --replay \(fileName)", forKey: .again)
        try container.encodeIfPresent(description.bare.map(Hexadecimal.text(of:)), forKey: .bare)
        try container.encodeIfPresent(description.serial.map(Hexadecimal.text(of:)), forKey: .serial)
        try container.encodeIfPresent(description.pieces, forKey: .pieces)
        try container.encodeIfPresent(description.reference, forKey: .reference)
        try container.encodeIfPresent(description.anchor.map(FixCodes.init), forKey: .anchor)
        try container.encodeIfPresent(description.log.map { Hexadecimal.text(of: $0.deviceID.rawValue) }, forKey: .device)
        try container.encodeIfPresent(description.log?.logID.rawValue, forKey: .logID)
    }

    /// Writes the finding into a folder, which is created if it does not exist.
    func write(into folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: URL(fileURLWithPath: "\(folder)/\(fileName)"))
    }
}
