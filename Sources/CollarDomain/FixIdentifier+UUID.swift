import CollarWire
import FoundationEssentials

extension FixIdentifier {
    /// The identifier as a UUID of version 8.
    public var uuid: UUID {
        let b = bytes
        return UUID(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            ))
    }

    /// Reads an identifier back; nil when `uuid` is not of version 8, so was not made here.
    public init?(_ uuid: UUID) {
        let b = uuid.uuid
        let first = [b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7]
        let last = [b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15]
        func integer(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: integer(first), low: integer(last))
    }
}
