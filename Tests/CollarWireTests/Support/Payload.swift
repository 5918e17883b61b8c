import CollarWire

/// A payload assembled field by field. It may be one that no encoder writes.
struct Payload {
    private var writer = BitWriter()

    init(_ fields: Field...) throws { try self.init(fields) }

    init(_ fields: [Field]) throws {
        for field in fields {
            switch field {
            case .bits(let value, let width): writer.write(value, width)
            case .gamma(let value): writer.writeEliasGamma(value)
            }
        }
        var writer = self.writer
        bytes = try [UInt8](capacity: 246) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try writer.finish(into: &output)
        }
    }

    enum Field {
        case bits(UInt32, Int)
        case gamma(UInt32)
    }

    /// The payload, padded with zero bits.
    private(set) var bytes: [UInt8] = []
}
