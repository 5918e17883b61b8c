import CollarWire
import Testing

/// The bare frame that `write` writes into an output of `room` bytes.
func frame(
    room: Int = Frame.maximumByteCount, _ write: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void
) throws(EncodeError) -> [UInt8] {
    try [UInt8](capacity: room, initializingWith: write)
}

/// The bare frame of any message.
func frame(
    of message: Message, address: UInt8 = 7, flags: FrameFlags = FrameFlags(poll: nil), log: LogIdentity,
    reference: UInt32? = nil, room: Int = Frame.maximumByteCount
) throws(EncodeError) -> [UInt8] {
    try frame(room: room) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
        try message.encode(address: address, flags: flags, log: log, reference: reference, into: &output)
    }
}

/// A frame with its delimiters, as it travels on a serial line.
func serialForm(of frame: [UInt8]) -> [UInt8] {
    [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
        StreamEncoder.encode(frame.span, into: &output)
    }
}

/// Header and payload, followed by their CRC.
/// - Parameter shortSequence: the full sequence, if header and payload hold only its low 16 bits; else 0.
func sealed(_ headerAndPayload: [UInt8], log: LogIdentity?, shortSequence: UInt32 = 0) -> [UInt8] {
    let sum = FrameCRC.checksum(
        of: headerAndPayload.span, count: headerAndPayload.count, log: log, shortSequence: shortSequence)
    return headerAndPayload + [
        UInt8(truncatingIfNeeded: sum &>> 16), UInt8(truncatingIfNeeded: sum &>> 8),
        UInt8(truncatingIfNeeded: sum),
    ]
}

/// A frame of `type` around any payload, with the right CRC.
func sealed(
    _ type: MessageType, flags: UInt8 = 0, lowByte: UInt8 = 0, payload: [UInt8], log: LogIdentity
) -> [UInt8] {
    sealed(
        [Frame.protocolVersion &<< 5 | type.rawValue, flags, 7, lowByte] + payload,
        log: type.isBoundToLog ? log : nil)
}

extension [UInt8] {
    /// Inverts one bit. Bit 0 is the most significant bit of the first byte.
    mutating func flip(bit: Int) { self[bit &>> 3] ^= 0x80 &>> UInt8(bit & 7) }

    var bitCount: Int { count * 8 }

    /// The bytes of a span.
    init(copying span: Span<UInt8>) {
        self.init()
        reserveCapacity(span.count)
        for index in span.indices { append(span[index]) }
    }
}

/// Whether a span holds exactly these bytes.
func isEqual(_ span: Span<UInt8>, _ bytes: [UInt8]) -> Bool {
    guard span.count == bytes.count else { return false }
    for index in span.indices where span[index] != bytes[index] { return false }
    return true
}

/// Whether a frame's CRC is right.
func isValid(_ frame: [UInt8], log: LogIdentity?) -> Bool { FrameCRC.isValid(frame.span, log: log) }

/// The message in a bare frame.
func decoded(
    _ frame: [UInt8], log: LogIdentity? = .sample, reference: UInt32 = 0
) throws(DecodeError) -> Message {
    try Message.decode(frame.span, log: log, reference: reference)
}

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

extension [UInt8] {
    /// The bytes of a text of hexadecimal digits, two for each byte. Any other text fails the test.
    init(hexadecimal text: String) throws {
        let digits = text.compactMap(\.hexDigitValue)
        try #require(digits.count == text.count && digits.count.isMultiple(of: 2), "not whole bytes in hexadecimal: \(text)")
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
