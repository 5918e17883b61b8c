/// A group of contexts for integers of one kind.
struct LiveBlock {
    /// Index of the first context.
    let base: Int
    /// Contexts for exponents; larger exponents share the last.
    let exponentCount: Int
    /// Bits below the leading one that have contexts.
    let depth: Int
    /// Whether the values have a sign.
    let isSigned: Bool

    /// Contexts of one instance: zero, sign, exponents, bits below the leading one.
    var size: Int { mantissaBase(ofExponent: exponentCount + 1) }

    /// Where the contexts of the bits below the leading one begin for an exponent, 1 … `exponentCount` + 1, within an
    /// instance.
    func mantissaBase(ofExponent exponent: Int) -> Int {
        var offset = 1 + (isSigned ? 1 : 0) + exponentCount
        var here = 1
        while here < exponent {
            offset += (1 &<< min(here, depth)) - 1
            here += 1
        }
        return offset
    }

    static let sameShape = 0
    static let sameRest = 1
    static let rest = LiveBlock(base: 4, exponentCount: 9, depth: 0, isSigned: true)
    static let backward = 37
    static let minutes = LiveBlock(base: 38, exponentCount: 8, depth: 3, isSigned: false)
    static let seconds = LiveBlock(base: 93, exponentCount: 5, depth: 2, isSigned: false)
    static let secondRest = LiveBlock(base: 112, exponentCount: 5, depth: 1, isSigned: true)
    static let speedChange = LiveBlock(base: 148, exponentCount: 6, depth: 1, isSigned: true)
    static let speed = LiveBlock(base: 176, exponentCount: 6, depth: 1, isSigned: false)
    static let latitude = LiveBlock(base: 202, exponentCount: 10, depth: 1, isSigned: true)
    static let longitude = LiveBlock(base: 466, exponentCount: 10, depth: 1, isSigned: true)
    static let altitude = LiveBlock(base: 994, exponentCount: 8, depth: 1, isSigned: true)
    static let accuracy = LiveBlock(base: 1102, exponentCount: 5, depth: 1, isSigned: true)
    static let angle = LiveBlock(base: 1138, exponentCount: 7, depth: 0, isSigned: true)
    static let battery = LiveBlock(base: 1156, exponentCount: 6, depth: 0, isSigned: true)
}

/// One direction of the entropy coder. The model is written once for both: an encoder takes the values it is given,
/// a decoder ignores them and gives back what it reads.
protocol LiveCoder: ~Escapable {
    /// Codes a decision in a context.
    @_lifetime(self: copy self)
    mutating func bit(_ bit: Bool, context: Int) -> Bool

    /// Codes one of `count` equally likely values.
    @_lifetime(self: copy self)
    mutating func uniform(_ value: UInt32, of count: UInt32) -> UInt32
}

extension LiveCoder where Self: ~Escapable {
    /// The largest exponent of a coded integer; beyond it there are no values a fix could have.
    private static var exponentLimit: Int { 48 }

    /// Codes `count` bits without a model, at most 16.
    @_lifetime(self: copy self)
    mutating func bits(_ value: UInt32, count: Int) -> UInt32 {
        count == 0 ? 0 : uniform(value, of: 1 &<< UInt32(truncatingIfNeeded: count))
    }

    /// Codes an integer of at most 49 bits.
    @_lifetime(self: copy self)
    mutating func integer(_ value: Int64, _ block: LiveBlock, instance: Int = 0) -> Int64 {
        let base = block.base + instance * block.size
        if bit(value == 0, context: base) { return 0 }
        let isNegative = block.isSigned ? bit(value < 0, context: base + 1) : false
        let magnitude = self.magnitude(UInt64(bitPattern: value < 0 ? 0 &- value : value), block, base: base)
        let result = Int64(bitPattern: magnitude)
        return isNegative ? 0 &- result : result
    }

    @_lifetime(self: copy self)
    private mutating func magnitude(_ value: UInt64, _ block: LiveBlock, base: Int) -> UInt64 {
        let given = 63 - (value | 1).leadingZeroBitCount
        let exponentBase = base + (block.isSigned ? 2 : 1)
        var exponent = 0
        while exponent < Self.exponentLimit,
            bit(exponent < given, context: exponentBase + min(exponent, block.exponentCount - 1))
        {
            exponent += 1
        }
        let modelled = min(exponent, block.depth)
        let nodeBase = base + block.mantissaBase(ofExponent: min(max(exponent, 1), block.exponentCount)) - 1
        var result: UInt64 = 1
        var node = 1
        var position = exponent
        while position > 0 {
            position -= 1
            let given = value &>> shiftCount(position) & 1 == 1
            let coded: Bool
            if exponent - position <= modelled {
                coded = bit(given, context: nodeBase + node)
                node = node * 2 + (coded ? 1 : 0)
            } else {
                coded = uniform(given ? 1 : 0, of: 2) == 1
            }
            result = result &<< 1 | (coded ? 1 : 0)
        }
        return result
    }

    /// Codes a positive integer in Elias gamma code, each bit as likely as not.
    /// - Returns: nil for more than 31 bits.
    @_lifetime(self: copy self)
    mutating func eliasGamma(_ value: UInt32) -> UInt32? {
        let given = 31 - (value | 1).leadingZeroBitCount
        var exponent = 0
        while uniform(exponent < given ? 0 : 1, of: 2) == 0 {
            exponent += 1
            if exponent > 30 { return nil }
        }
        var result: UInt32 = 1
        var position = exponent
        while position > 0 {
            position -= 1
            result = result &<< 1 | uniform(value &>> UInt32(position) & 1, of: 2)
        }
        return result
    }
}
