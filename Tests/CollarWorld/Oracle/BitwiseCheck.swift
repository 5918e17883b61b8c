import CollarWire

/// The check of frames and records bit by bit, from their definition alone: a judge of damage that shares no code with what is judged.
enum BitwiseCheck {
    /// The upper 16 bits of sequences that there are.
    private static let upperBits: ClosedRange<UInt16> = 0...3

    /// Whether the last three bytes of `frame` are its check, bound to `log` or to nothing; of an absolute fix with a short
    /// sequence for any of its upper bits.
    static func isValid(_ frame: [UInt8], log: LogIdentity?) -> Bool {
        guard frame.count >= 7 else { return false }
        var register: UInt32 = 0xB7_04CE
        if let log {
            add(log.deviceID, &register)
            add(log.logID, &register)
        }
        add(UInt8(truncatingIfNeeded: frame.count), &register)
        for byte in frame.dropLast(3) { add(byte, &register) }
        let sent = frame.suffix(3).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } ^ 0xFF_FFFF
        guard log != nil, frame[0] & 0x1F == MessageType.absoluteFix.rawValue, frame[5] < 0x80 else { return register == sent }
        return upperBits.contains { upper in
            var completed = register
            if upper > 0 { add(upper, &completed) }
            return completed == sent
        }
    }

    /// The check of a journal's record: over the letters CLJ1, the collar and the number of the segment where it is bound
    /// to them, and the record.
    static func ofRecord(_ record: some Sequence<UInt8>, _ binding: (deviceID: UInt64, segment: UInt32)?) -> UInt32 {
        var register: UInt32 = 0xB7_04CE
        for byte in "CLJ1".utf8 { add(byte, &register) }
        if let binding {
            add(binding.deviceID, &register)
            add(binding.segment, &register)
        }
        for byte in record { add(byte, &register) }
        return register ^ 0xFF_FFFF
    }

    /// Adds the bytes of a number, the highest first.
    private static func add(_ number: some FixedWidthInteger & UnsignedInteger, _ register: inout UInt32) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            register ^= UInt32(UInt8(truncatingIfNeeded: number >> shift)) << 16
            for _ in 0..<8 {
                register = register & 0x80_0000 == 0 ? register << 1 : (register << 1) ^ 0x7B_01BD
                register &= 0xFF_FFFF
            }
        }
    }
}
