import CollarFormats
import CollarWire
import FoundationEssentials

extension FixIdentifier {
    /// The identifier as a UUID of version 8.
    public var uuid: UUID { UUID(UUIDHalves(high: high, low: low)) }

    /// Reads an identifier from a UUID; nil unless `uuid` has version 8 and the variant of RFC 9562, as every identifier does.
    public init?(_ uuid: UUID) {
        let halves = UUIDHalves(uuid)
        self.init(high: halves.high, low: halves.low)
    }
}

extension UUID {
    init(_ halves: UUIDHalves) {
        func byte(_ index: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: (index < 8 ? halves.high : halves.low) >> (56 - 8 * (index % 8)))
        }
        self.init(
            uuid: (
                byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7), byte(8), byte(9), byte(10), byte(11),
                byte(12), byte(13), byte(14), byte(15)
            ))
    }
}

extension UUIDHalves {
    init(_ uuid: UUID) {
        let b = uuid.uuid
        func integer(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(
            high: integer([b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7]),
            low: integer([b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15]))
    }
}
