/// A group of contexts for integers of one kind, in a single word, because a collar hands it from function to function.
struct IntegerBlock {
    /// From the lowest bit up: ``base`` (12 bits), ``size`` (8), ``exponentCount`` (4), ``depth`` (3), ``isSigned``.
    private var word: UInt32

    /// - Parameters:
    ///   - base: index of the first context.
    ///   - exponentCount: contexts for exponents, at most 15; larger exponents share the last.
    ///   - depth: bits below the leading one that have contexts, at most 7.
    ///   - isSigned: whether the values have a sign.
    @inline(__always)
    init(base: UInt32, exponentCount: UInt32, depth: UInt32, isSigned: Bool) {
        word = base | exponentCount &<< 20 | depth &<< 24 | (isSigned ? 1 &<< 27 : 0)
        word |= UInt32(truncatingIfNeeded: mantissaBase(ofExponent: Int(truncatingIfNeeded: exponentCount) &+ 1)) &<< 12
    }

    /// The block of one of several instances, one behind the other.
    @inline(__always)
    func instance(_ index: Int) -> IntegerBlock {
        var block = self
        block.word &+= UInt32(truncatingIfNeeded: index) &* (word &>> 12 & 0xFF)
        return block
    }

    /// Index of the first context.
    var base: Int { Int(truncatingIfNeeded: word & 0xFFF) }

    /// Contexts for exponents; larger exponents share the last.
    var exponentCount: Int { Int(truncatingIfNeeded: word &>> 20 & 0xF) }

    /// Bits below the leading one that have contexts.
    var depth: Int { Int(truncatingIfNeeded: word &>> 24 & 7) }

    /// Whether the values have a sign.
    var isSigned: Bool { word &>> 27 != 0 }

    /// Where the contexts of the bits below the leading one begin for an exponent, 1 … `exponentCount` + 1, within an
    /// instance: behind zero, sign and exponents.
    @inline(__always)
    func mantissaBase(ofExponent exponent: Int) -> Int {
        // The exponents below have 1, 3, 7 … contexts, then 2^depth − 1 each.
        let growing = min(exponent &- 1, depth)
        let growingSize = 2 &<< growing &- 2 &- growing
        let full = (exponent &- 1 &- growing) &* (1 &<< depth &- 1)
        return 1 &+ (isSigned ? 1 : 0) &+ exponentCount &+ growingSize &+ full
    }
}

/// The contexts of a time between two fixes. That of the decision whether it is below 0 stands before those of the
/// minutes.
struct IntervalBlocks {
    let minutes: IntegerBlock
    let seconds: IntegerBlock
    let secondRest: IntegerBlock
    /// The last instance of `secondRest`, 1 or 2: for up to 4 minutes, below 30, and more.
    let lastRestInstance: Int
}
