import CollarARQ
import CollarWire
import Foundation
import Testing

/// A case of `Protocol/vectors/access`.
struct AccessVector: Decodable, Sendable, CustomTestStringConvertible {
    var meaning: String
    var modem: Modem
    var listens: Bool
    var heartbeat: Int64
    var steps: [Step]

    var testDescription: String { meaning }

    struct Modem: Decodable, Sendable {
        var spreadingFactor: UInt8
        var bandwidthHz: UInt32
        var codingRate: UInt8
        var preambleSymbols: UInt16
        var turnaround: Int64

        var profile: ModemProfile {
            let symbol = Int64(1_000_000) << Int64(spreadingFactor) / Int64(bandwidthHz)
            let settings = LoRaSettings(
                frequencyHertz: 869_525_000, bandwidthHertz: bandwidthHz, spreadingFactor: spreadingFactor, codingRateDenominator: codingRate,
                preambleSymbols: preambleSymbols, hasExplicitHeader: true, hasCRC: true, optimizesLowDataRate: symbol >= 16_000, powerDBm: 14)
            return ModemProfile(lora: settings, turnaroundMicroseconds: turnaround)
        }
    }

    /// An event, or what the collar does then. Times are in microseconds.
    struct Step: Decodable, Sendable {
        var time: Int64
        var step: Kind
        var earliest: Int64?
        var latest: Int64?
        var poll: Bool?
        var end: Int64?
        var company: UInt8?
        var firstMissing: UInt32?
        var durable: [[UInt32]]?

        enum Kind: String, Decodable, Sendable {
            case fix, reply, listen, busy, frame, answer
            case urgentFix = "urgent_fix"
        }
    }

    static func all() throws -> [AccessVector] {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let folder = root.appendingPathComponent("Protocol/vectors/access")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
            try decoder.decode(AccessVector.self, from: Data(contentsOf: folder.appendingPathComponent($0)))
        }
    }
}
