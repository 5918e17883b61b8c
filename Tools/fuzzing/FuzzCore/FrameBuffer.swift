import CollarWire

/// A bare frame in a larger buffer. Nothing may depend on the other bytes of the buffer.
struct FrameBuffer {
    /// Room for frames that are too long.
    static let capacity = 320

    private var bytes: InlineArray<320, UInt8>
    private(set) var count = 0

    /// Creates an empty frame in a buffer that is filled with `filler`.
    init(filler: UInt8) { bytes = InlineArray(repeating: filler) }

    /// The frame.
    var span: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(0..<count) }
    }

    subscript(index: Int) -> UInt8 {
        get { bytes[index] }
        set { bytes[index] = newValue }
    }

    mutating func append(_ byte: UInt8) {
        guard count < FrameBuffer.capacity else { return }
        bytes[count] = byte
        count += 1
    }

    /// Appends `input` from `start` on, as far as it fits.
    mutating func append(_ input: Span<UInt8>, from start: Int) {
        var index = start
        while index < input.count, count < FrameBuffer.capacity - 3 {
            bytes[count] = input[index]
            count += 1
            index += 1
        }
    }

    /// Appends the CRC of the frame, with the bits of `damage` inverted.
    /// - Parameter reference: the number around which a short sequence is completed.
    mutating func seal(_ start: PlainCRC, damage: UInt8, reference: UInt32 = 0) {
        var crc = start
        crc.add(UInt8(truncatingIfNeeded: count + 3))
        for index in 0..<count { crc.add(bytes[index]) }
        let unsent = unsentBits(around: Int64(reference))
        if unsent > 0 { crc.add(UInt64(unsent), byteCount: 2) }
        let sum = crc.checksum ^ UInt32(damage) &<< (8 * (UInt32(damage) % 3))
        append(UInt8(truncatingIfNeeded: sum &>> 16))
        append(UInt8(truncatingIfNeeded: sum &>> 8))
        append(UInt8(truncatingIfNeeded: sum))
    }

    /// The upper 16 bits of a short sequence, completed as in section 6 of PROTOCOL.md; 0 if the frame has no short sequence.
    private func unsentBits(around reference: Int64) -> Int64 {
        guard count >= 7, bytes[0] % 32 == 2, bytes[5] < 128 else { return 0 }
        let high = bytes[4] < 128 ? Int64(bytes[5]) * 2 + Int64(bytes[6]) / 128 : Int64(bytes[6])
        let low = high * 256 + Int64(bytes[3])
        let near = [-1, 0, 1].map { reference / 65_536 + $0 }.filter { (0..<65_536).contains($0) }
        return near.min { abs($0 * 65_536 + low - reference) < abs($1 * 65_536 + low - reference) } ?? 0
    }

    /// Appends zeros in place of the CRC.
    mutating func appendPlaceholder() {
        for _ in 0..<3 { append(0) }
    }

    /// Removes the last three bytes.
    mutating func removeCheck() { count -= 3 }
}
