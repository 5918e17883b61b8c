/// A UBX message to a receiver, while it is built.
struct UBXCommand {
    /// The first two bytes of every message.
    static var synchronisation: (UInt8, UInt8) { (0xB5, 0x62) }

    /// The bytes of the longest message that a collar sends.
    static var longestByteCount: Int { 52 }

    private let type: UBXMessageType
    private var payload = InlineArray<44, UInt8>(repeating: 0)
    private var count = 0

    /// A message without a payload.
    init(_ type: UBXMessageType) { self.type = type }

    mutating func append(_ byte: UInt8) {
        payload[count] = byte
        count &+= 1
    }

    mutating func append16(_ value: UInt16) {
        append(UInt8(truncatingIfNeeded: value))
        append(UInt8(truncatingIfNeeded: value &>> 8))
    }

    mutating func append32(_ value: UInt32) {
        append16(UInt16(truncatingIfNeeded: value))
        append16(UInt16(truncatingIfNeeded: value &>> 16))
    }

    mutating func appendZeros(_ number: Int) { count &+= number }

    /// Appends the whole message; the output must have room for ``longestByteCount`` bytes.
    func write(into output: inout OutputSpan<UInt8>) {
        output.append(UBXCommand.synchronisation.0)
        output.append(UBXCommand.synchronisation.1)
        var checksum = UBXChecksum()
        func add(_ byte: UInt8) {
            checksum.add(byte)
            output.append(byte)
        }
        add(type.messageClass)
        add(type.number)
        add(UInt8(truncatingIfNeeded: count))
        add(0)
        for index in 0..<count { add(payload.span[index]) }
        output.append(checksum.first)
        output.append(checksum.second)
    }
}
