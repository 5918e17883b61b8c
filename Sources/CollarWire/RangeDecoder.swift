/// Reads what ``RangeEncoder`` wrote. Behind the end it reads zeros, so it never fails; whether the result makes sense
/// is for the caller to see.
struct RangeDecoder: ~Escapable {
    private static let renormalizationBound: UInt32 = 1 &<< 24

    private let bytes: Span<UInt8>
    private let end: Int
    private var position: Int
    private var code: UInt32 = 0
    private var range: UInt32 = .max

    /// Reads `bytes` from `start` up to but not including `end`.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        self.bytes = bytes
        self.end = end
        position = start
        for _ in 0..<4 { shiftIn() }
    }

    /// Reads a decision; see ``RangeEncoder/encode(_:zeroProbability:)``.
    @_lifetime(self: copy self)
    mutating func decode(zeroProbability: UInt8) -> Bool {
        let bound = (range &>> 8) &* UInt32(zeroProbability)
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

    @_lifetime(self: copy self)
    private mutating func renormalize() {
        while range < RangeDecoder.renormalizationBound {
            shiftIn()
            range = range &<< 8
        }
    }

    @_lifetime(self: copy self)
    private mutating func shiftIn() {
        code = code &<< 8
        if position < end { code |= UInt32(bytes[position]) }
        position += 1
    }
}
