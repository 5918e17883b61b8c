/// Reads what ``RangeEncoder`` wrote. Behind the end it reads zeros, so it never fails; whether the result makes sense
/// is for the caller to see.
struct RangeDecoder: ~Escapable {
    private static let renormalizationBound: UInt32 = 1 &<< 24

    private let bytes: Span<UInt8>
    private let end: Int
    private var position: Int
    /// How far the bytes of the number lie before those of the span, in bits.
    private let shift: UInt32
    /// The last bytes that were read.
    private var window: UInt32 = 0
    private var code: UInt32 = 0
    /// The range that is left, of which a decision takes its part.
    private(set) var range: UInt32 = .max

    /// Reads a number that begins at a bit of `bytes`, up to but not including the byte `end`.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, fromBit start: Int, to end: Int) {
        precondition(start >= 0 && end <= bytes.count, "a number lies in its bytes")
        self.bytes = bytes
        self.end = end
        position = start &>> 3
        shift = UInt32(truncatingIfNeeded: (8 - start & 7) & 7)
        if shift != 0 { loadByte() }
        for _ in 0..<4 { shiftIn() }
    }

    /// Reads a decision; see ``RangeEncoder/encode(_:bound:)``.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func decode(bound: UInt32) -> Bool {
        let bit = code >= bound
        if bit {
            code &-= bound
            range &-= bound
        } else {
            range = bound
        }
        renormalize()
        return bit
    }

    /// Reads one of two equally likely values; the same as ``decode(of:)`` with 2.
    @_lifetime(self: copy self)
    mutating func decodeEvenBit() -> Bool {
        range = range &>> 1
        let bit = code >= range
        if bit { code &-= range }
        renormalize()
        return bit
    }

    /// Reads one of `count` equally likely values; see ``RangeEncoder/encode(_:of:)``.
    /// - Returns: 0 … `count` − 1, whatever the bytes.
    @_lifetime(self: copy self)
    mutating func decode(of count: UInt32) -> UInt32 {
        range /= count
        let value = min(code / range, count - 1)
        code &-= value &* range
        renormalize()
        return value
    }

    @inline(__always)
    @_lifetime(self: copy self)
    private mutating func renormalize() {
        while range < RangeDecoder.renormalizationBound {
            shiftIn()
            range = range &<< 8
        }
    }

    @_lifetime(self: copy self)
    private mutating func shiftIn() {
        loadByte()
        code = code &<< 8 | window &>> shift & 0xFF
    }

    @_lifetime(self: copy self)
    private mutating func loadByte() {
        window = window &<< 8
        if position < end { window |= UInt32(bytes[position]) }
        position &+= 1
    }
}
