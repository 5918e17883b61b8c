import CollarFirmware
import CollarWire

/// Reads any bytes as UBX messages.
public final class UBXTarget: FuzzTarget {
    public let name = "gnss-ubx"
    public let meaning = "any bytes of a GNSS receiver: the UBX messages and positions of a plain model"
    public let contextByteCount = 0
    public let maximumByteCount = GNSSInput.maximumByteCount

    /// Creates the target.
    public init() {}

    public func seeds(from vector: SeedVector) -> [[UInt8]] { GNSSInput.seeds(.ubx, from: vector) }

    public func makeInput(_ execution: UInt64, seed: UInt64, into input: inout [UInt8]) -> Bool {
        GNSSInput.make(.ubx, seed: seed &+ execution &* 0xD134_2543_DE82_EF95, into: &input)
        return true
    }

    public func run(_ input: Span<UInt8>) -> Outcome {
        let bytes = input.indices.map { input[$0] }
        let expected = UBXModel.events(bytes)
        var parser = UBXParser()
        var events: [GNSSEvent] = []
        var satelliteCounts: [UInt8] = []
        for byte in bytes {
            parser.append(byte)
            while let event = parser.next() {
                if case .satellites(let count) = event { satelliteCounts.append(count) } else { events.append(event) }
            }
        }
        guard satelliteCounts == UBXModel.satelliteCounts(bytes) else { return .wrong("the satellites are not those of the model") }
        guard events == expected else { return .wrong("the events are not those of the model: \(events) for \(expected)") }
        for event in events { if case .reading = event { return .accepted } }
        return events.isEmpty ? .refused : .behindCRC
    }

    public func describe(_ input: [UInt8]) -> InputDescription { GNSSInput.describe(input) }
}
