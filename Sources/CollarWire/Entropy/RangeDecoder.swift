/// Reads what ``RangeEncoder`` wrote. Past the end it reads zeros, so it never fails; the caller must check that the result
/// is valid.
struct RangeDecoder: ~Escapable {
    private static let renormalizationBound: UInt32 = 1 &<< 24

    private let bytes: Span<UInt8>
    private let end: Int
    private var position: Int
    /// Each byte of the number ends this many bits before the end of a byte of the span, 0 … 7.
    private let shift: UInt32
    /// The four bytes of the span that were read last.
    private var window: UInt32 = 0
    private var code: UInt32 = 0
    /// The current range; each decision takes a part of it.
    private(set) var range: UInt32 = .max

    /// Begins to read a number that starts at bit `start` of `bytes` and ends before byte `end`.
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
    /// - Returns: a value of 0 … `count` − 1, even if the bytes are invalid.
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
