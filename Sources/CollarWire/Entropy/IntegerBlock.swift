/// The contexts for integers of one kind, described in a single word, because the code of a collar passes the description from
/// function to function.
struct IntegerBlock {
    /// From the lowest bit up: ``base`` (12 bits), size of an instance (8), ``exponentCount`` (4), ``depth`` (3), ``isSigned``,
    /// ``isFalling``, ``isCircular``.
    private var word: UInt32

    /// - Parameters:
    ///   - base: index of the first context.
    ///   - exponentCount: number of contexts for exponents, at most 15; larger exponents share the last context.
    ///   - depth: number of bits below the leading 1 that have contexts, at most 7.
    ///   - isSigned: whether the values have a sign.
    ///   - isFalling: whether the values are differences with the opposite sign.
    ///   - isCircular: whether a longitude wraps around at half a turn.
    @inline(__always)
    init(
        base: UInt32, exponentCount: UInt32, depth: UInt32, isSigned: Bool, isFalling: Bool = false, isCircular: Bool = false
    ) {
        word =
            base | exponentCount &<< 20 | depth &<< 24 | (isSigned ? 1 &<< 27 : 0) | (isFalling ? 1 &<< 28 : 0)
            | (isCircular ? 1 &<< 29 : 0)
        word |= UInt32(truncatingIfNeeded: size) &<< 12
    }

    /// The block of instance `index`; the contexts of the instances follow one another.
    @inline(__always)
    func instance(_ index: Int) -> IntegerBlock {
        var block = self
        block.word &+= UInt32(truncatingIfNeeded: index) &* (word &>> 12 & 0xFF)
        return block
    }

    /// Index of the first context.
    var base: Int { Int(truncatingIfNeeded: word & 0xFFF) }

    /// Number of contexts for exponents; larger exponents share the last context.
    var exponentCount: Int { Int(truncatingIfNeeded: word &>> 20 & 0xF) }

    /// Number of bits below the leading 1 that have contexts.
    var depth: Int { Int(truncatingIfNeeded: word &>> 24 & 7) }

    /// Whether the values have a sign.
    var isSigned: Bool { word &>> 27 & 1 != 0 }

    /// Whether a value is the difference with the opposite sign: positive for a field that falls.
    var isFalling: Bool { word &>> 28 & 1 != 0 }

    /// Whether a longitude wraps around at half a turn, so that its difference takes the shorter way.
    var isCircular: Bool { word &>> 29 & 1 != 0 }

    /// Number of contexts for the bits below the leading 1 of integers with this exponent, 0 … `exponentCount`. They come after the
    /// contexts for zero, sign and exponents, in the order of the exponents.
    @inline(__always)
    func mantissaCount(ofExponent exponent: Int) -> Int { 1 &<< min(exponent, depth) &- 1 }

    /// Number of contexts of an instance.
    @inline(__always)
    private var size: Int {
        // An exponent e below `depth` has 2^e − 1 contexts; an exponent from `depth` on has 2^depth − 1.
        let growing = min(exponentCount, depth)
        let growingSize = 2 &<< growing &- 2 &- growing
        let full = (exponentCount &- growing) &* (1 &<< depth &- 1)
        return 1 &+ (isSigned ? 1 : 0) &+ exponentCount &+ growingSize &+ full
    }
}

/// The contexts of the time between two fixes. The context for the sign is directly before those of the minutes.
struct IntervalBlocks {
    let minutes: IntegerBlock
    let seconds: IntegerBlock
    let secondRest: IntegerBlock
    /// The last instance of `secondRest`, 1 or 2. Instance 0 is for 1 … 4 minutes. Instance 1 is for 5 … 29 minutes, or for 5 or
    /// more if it is the last instance. Instance 2 is for 30 minutes or more.
    let lastRestInstance: Int
}
