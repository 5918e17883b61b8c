import CollarWire

/// A bare frame amid other bytes, on which nothing may depend.
struct FrameBuffer {
    /// Room for frames that are too long.
    static let capacity = 320

    private var bytes: InlineArray<320, UInt8>
    private(set) var count = 0

    /// No bytes yet, with `filler` behind them.
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

    /// Appends the check that belongs to the frame, or one that differs in the bits of `damage`.
    mutating func seal(_ start: PlainCheck, damage: UInt8) {
        var check = start
        check.add(UInt8(truncatingIfNeeded: count + 3))
        for index in 0..<count { check.add(bytes[index]) }
        let sum = check.checksum ^ UInt32(damage) &<< (8 * (UInt32(damage) % 3))
        append(UInt8(truncatingIfNeeded: sum &>> 16))
        append(UInt8(truncatingIfNeeded: sum &>> 8))
        append(UInt8(truncatingIfNeeded: sum))
    }

    /// Appends zeros where the check will stand.
    mutating func appendPlaceholder() {
        for _ in 0..<3 { append(0) }
    }

    /// Takes the last three bytes away.
    mutating func removeCheck() { count -= 3 }
}
