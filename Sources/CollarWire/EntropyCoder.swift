/// One direction of an entropy coder. A model is written once for both: an encoder takes the values it is given, a
/// decoder ignores them and gives back what it reads.
protocol EntropyCoder: ~Copyable, ~Escapable {
    /// Whether values come back as they are given.
    static var isEncoder: Bool { get }

    /// Codes a decision in a context.
    @_lifetime(self: copy self)
    mutating func bit(_ bit: Bool, context: Int) -> Bool

    /// Codes a decision of which both ends are equally likely: a uniform value of 2.
    @_lifetime(self: copy self)
    mutating func evenBit(_ bit: Bool) -> Bool

    /// Codes one of `count` equally likely values, at most 65,536.
    @_lifetime(self: copy self)
    mutating func uniform(_ value: UInt32, of count: UInt32) -> UInt32
}

/// A group of contexts for integers of one kind.
struct IntegerBlock {
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
        // The exponents below have 1, 3, 7 … contexts, then 2^depth − 1 each.
        let growing = min(exponent &- 1, depth)
        let growingSize = 2 &<< growing &- 2 &- growing
        let full = (exponent &- 1 &- growing) &* (1 &<< depth &- 1)
        return 1 &+ (isSigned ? 1 : 0) &+ exponentCount &+ growingSize &+ full
    }
}

/// The contexts of a time between two fixes.
struct IntervalBlocks {
    let backward: Int
    let minutes: IntegerBlock
    let seconds: IntegerBlock
    let secondRest: IntegerBlock
    /// Instances of `secondRest`, 2 or 3: for up to 4 minutes, below 30, and more.
    let restInstanceCount: Int
}

extension EntropyCoder where Self: ~Copyable, Self: ~Escapable {
    /// The largest exponent of a coded integer; beyond it there are no values a fix could have.
    private static var exponentLimit: Int { 48 }

    /// Codes `count` bits without a model, at most 16.
    @_lifetime(self: copy self)
    mutating func bits(_ value: UInt32, count: UInt32) -> UInt32 { uniform(value, of: 1 &<< count) }

    /// Codes an integer of at most 49 bits.
    @_lifetime(self: copy self)
    mutating func integer(_ value: Int64, _ block: IntegerBlock, instance: Int = 0) -> Int64 {
        let start = block.base &+ instance &* block.size
        var base = start
        if bit(value == 0, context: base) { return 0 }
        var isNegative = false
        if block.isSigned {
            base &+= 1
            isNegative = bit(value < 0, context: base)
        }
        let magnitude = UInt64(bitPattern: value < 0 ? 0 &- value : value)
        let given = 63 - (magnitude | 1).leadingZeroBitCount
        var exponent = 0
        while exponent < Self.exponentLimit,
            bit(exponent < given, context: base &+ 1 &+ min(exponent, block.exponentCount &- 1))
        {
            exponent &+= 1
        }
        let modelled = min(exponent, block.depth)
        let nodeBase = start &+ block.mantissaBase(ofExponent: min(max(exponent, 1), block.exponentCount)) &- 1
        // The bits below the leading one, at the top.
        var rest = Int64(bitPattern: magnitude &<< shiftCount(64 - given))
        var result: Int64 = 1
        var node = 1
        var index = 0
        while index < exponent {
            let coded: Bool
            if index < modelled {
                coded = bit(rest < 0, context: nodeBase &+ node)
                node = node &* 2 &+ (coded ? 1 : 0)
            } else {
                coded = evenBit(rest < 0)
            }
            rest = rest &<< 1
            result = result &<< 1 | (coded ? 1 : 0)
            index &+= 1
        }
        if Self.isEncoder { return value }
        return isNegative ? 0 &- result : result
    }

    /// Codes a value as the difference to another.
    /// - Returns: nil outside `lowest` … `highest`.
    @_lifetime(self: copy self)
    mutating func value(
        _ given: Int32, near other: Int32, _ block: IntegerBlock, instance: Int, from lowest: Int32, to highest: Int32
    ) -> Int32? {
        let difference = integer(Int64(widening: given) &- Int64(widening: other), block, instance: instance)
        if Self.isEncoder { return given }
        let value = Int64(widening: other) &+ difference
        guard value >= Int64(widening: lowest), value <= Int64(widening: highest) else { return nil }
        return Int32(truncatingIfNeeded: value)
    }

    /// Codes a direction, 0 … 179, as the turn from another.
    @_lifetime(self: copy self)
    mutating func angle(
        _ given: Int32, near other: Int32, _ block: IntegerBlock, instance: Int
    ) -> (angle: Int32, turn: Int64) {
        var turn = given &- other
        if turn < -90 { turn &+= 180 }
        if turn >= 90 { turn &-= 180 }
        let coded = integer(Int64(widening: turn), block, instance: instance)
        if Self.isEncoder { return (given, coded) }
        let angle = (other &+ Int32(truncatingIfNeeded: coded % 180)) % 180
        return (angle < 0 ? angle &+ 180 : angle, coded)
    }

    /// Codes a number of seconds, −2⁴⁰ … 2⁴⁰.
    /// - Returns: nil beyond that.
    @_lifetime(self: copy self)
    mutating func interval(_ given: Int64, _ blocks: IntervalBlocks) -> Int64? {
        let isBackward = bit(given < 0, context: blocks.backward)
        let magnitude = given < 0 ? 0 &- given : given
        let givenMinutes = (magnitude &+ 30) / 60
        let minutes = integer(givenMinutes, blocks.minutes)
        let seconds: Int64
        if minutes == 0 {
            seconds = integer(magnitude, blocks.seconds)
        } else {
            let kind = minutes <= 4 ? 0 : minutes < 30 ? 1 : 2
            let rest = integer(
                magnitude &- 60 &* givenMinutes, blocks.secondRest, instance: min(kind, blocks.restInstanceCount - 1))
            seconds = minutes &* 60 &+ rest
        }
        if Self.isEncoder { return given }
        guard seconds >= 0, seconds <= 1 &<< 40 else { return nil }
        return isBackward ? 0 &- seconds : seconds
    }

    /// Codes a positive integer in Elias gamma code, each bit as likely as not.
    /// - Returns: nil for more than 31 bits.
    @_lifetime(self: copy self)
    mutating func eliasGamma(_ value: UInt32) -> UInt32? {
        let given = 31 - (value | 1).leadingZeroBitCount
        var exponent = 0
        while !evenBit(exponent >= given) {
            exponent += 1
            if exponent > 30 { return nil }
        }
        var result: UInt32 = 1
        var position = exponent
        while position > 0 {
            position -= 1
            result = result &<< 1 | (evenBit(value &>> UInt32(position) & 1 == 1) ? 1 : 0)
        }
        return result
    }
}
