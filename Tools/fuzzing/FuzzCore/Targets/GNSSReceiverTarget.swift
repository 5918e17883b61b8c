import CollarARQ
import CollarFirmware
import CollarWire

/// Gives any bytes to the state machine of a GNSS receiver, and lets any time pass between them.
public final class GNSSReceiverTarget: FuzzTarget {
    public let name = "gnss-receiver"
    public let meaning = "any bytes and times at a GNSS receiver: valid commands, no endless work, and positions in the end"
    public let contextByteCount = 0
    public let maximumByteCount = GNSSInput.maximumByteCount

    /// Creates the target.
    public init() {}

    public func seeds(from vector: SeedVector) -> [[UInt8]] { GNSSInput.seeds(.both, from: vector) }

    public func makeInput(_ execution: UInt64, seed: UInt64, into input: inout [UInt8]) -> Bool {
        GNSSInput.make(.both, seed: seed &+ execution &* 0xD134_2543_DE82_EF95, into: &input)
        return true
    }

    public func run(_ input: Span<UInt8>) -> Outcome {
        var digest = Digest()
        for index in input.indices { digest.add(input[index]) }
        guard var line = FuzzedGNSSLine(random: SplitMix(seed: digest.value)) else { return .wrong("the calendar lacks a day") }
        for index in input.indices { line.receive(input[index]) }
        let hadReading = line.readingCount > 0
        let hadEvents = line.commandCount > 0
        line.workProperly()
        if let fault = line.fault { return .wrong(fault) }
        return hadReading ? .accepted : hadEvents ? .behindCRC : .refused
    }

    public func describe(_ input: [UInt8]) -> InputDescription { GNSSInput.describe(input) }
}
