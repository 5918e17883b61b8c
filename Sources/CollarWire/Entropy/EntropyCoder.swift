/// An entropy encoder or decoder. A model is written once for both: an encoder writes and returns the values it is given, a
/// decoder ignores them and returns the values it reads.
protocol EntropyCoder: ~Copyable, ~Escapable {
    /// Whether this is an encoder, which returns the values it is given.
    static var isEncoder: Bool { get }

    /// A decoder records that a value is out of range, if it is the first one; the values read after it have no meaning. An
    /// encoder, whose values are valid, does nothing.
    /// - Parameter field: the field that the error then names.
    @_lifetime(self: copy self)
    mutating func require(_ isValid: Bool, _ field: WireField)

    /// Codes a decision in a context.
    @_lifetime(self: copy self)
    mutating func bit(_ bit: Bool, context: Int) -> Bool

    /// Codes a decision with two equally likely outcomes, like ``uniform(_:of:)`` with a count of 2.
    @_lifetime(self: copy self)
    mutating func evenBit(_ bit: Bool) -> Bool

    /// Codes one of `count` equally likely values, 0 … `count` − 1; `count` is at most 65,536.
    @_lifetime(self: copy self)
    mutating func uniform(_ value: UInt32, of count: UInt32) -> UInt32
}

extension EntropyCoder where Self: ~Copyable, Self: ~Escapable {
    /// The largest exponent of a coded integer; no value of a fix needs a larger one.
    private static var exponentLimit: Int { 48 }

    /// Codes `count` bits, at most 16, without a model.
    @_lifetime(self: copy self)
    mutating func bits(_ value: UInt32, count: UInt32) -> UInt32 { uniform(value, of: 1 &<< count) }

    /// Codes an integer of at most 49 bits.
    @_lifetime(self: copy self)
    mutating func integer(_ value: Int64, _ block: IntegerBlock) -> Int64 {
        var base = block.base
        if bit(value == 0, context: base) { return 0 }
        var isNegative = false
        if block.isSigned {
            base &+= 1
            isNegative = bit(value < 0, context: base)
        }
        // The magnitude, shifted up until its leading 1 is gone; `given` is the number of bits that remain.
        var rest = value < 0 ? 0 &- value : value
        #if hasFeature(Embedded)
        // A 64-bit shift by more than a bit is a call on a microcontroller.
        var given = 63
        while Self.isEncoder, rest > 0 {
            rest = rest &<< 1
            given &-= 1
        }
        #else
        let given = 63 &- (rest | 1).leadingZeroBitCount
        rest = rest &<< shiftCount(63 &- given)
        #endif
        rest = rest &<< 1
        var exponent = 0
        // Index before that of the first context for the bits below the leading 1.
        var nodeBase = base &+ block.exponentCount
        while exponent < Self.exponentLimit,
            bit(exponent < given, context: base &+ 1 &+ min(exponent, block.exponentCount &- 1))
        {
            if exponent < block.exponentCount { nodeBase &+= block.mantissaCount(ofExponent: exponent) }
            exponent &+= 1
        }
        var result: Int64 = 1
        var node = 1
        var index = 0
        while index < exponent {
            let coded: Bool
            if index < block.depth {
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

    #if hasFeature(Embedded)
    @inline(never)
    #else
    @inline(__always)
    #endif
    /// Codes a field as its difference from another value; a direction, 0 … 179, as the turn from another direction.
    /// - Parameters:
    ///   - given: the value to encode; a decoder ignores it.
    ///   - codes: receives the value of the field.
    /// - Returns: the coded difference.
    @_lifetime(self: copy self)
    mutating func change(
        of field: Int, to given: Int32, from other: Int32, _ block: IntegerBlock, into codes: inout FixCodes
    ) -> Int64 {
        let halfTurn = block.isCircular && field == FixCodes.Field.longitude ? 2 &* codes.stepsPerQuarterTurn : 0
        var difference = Int64(widening: given) &- Int64(widening: other)
        if FixCodes.Field.isAngle(field) {
            if difference < -90 { difference &+= 180 }
            if difference >= 90 { difference &-= 180 }
        } else if halfTurn > 0 {
            // The ends of the range are different values for the same place, and no turn leads to them.
            let half = Int64(widening: halfTurn)
            if difference > half, given < halfTurn { difference &-= 2 &* half }
            if difference < 0 &- half, given > 0 &- halfTurn { difference &+= 2 &* half }
        }
        let coded = integer(block.isFalling ? 0 &- difference : difference, block)
        if Self.isEncoder {
            codes.keep(field, given)
            return coded
        }
        if FixCodes.Field.isAngle(field) {
            let angle = (other &+ Int32(truncatingIfNeeded: coded % 180)) % 180
            codes.keep(field, angle < 0 ? angle &+ 180 : angle)
            return coded
        }
        let sum = Int64(widening: other) &+ (block.isFalling ? 0 &- coded : coded)
        let value = FixCodes.wrapped(sum, halfTurn: Int64(widening: halfTurn))
        require(codes.accepts(value, as: field), .difference)
        codes.keep(field, Int32(truncatingIfNeeded: value))
        return coded
    }

    /// Codes a direction that nothing predicts: all 180 values are equally likely.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func direction(_ field: Int, _ given: Int32, into codes: inout FixCodes) {
        codes.keep(field, Int32(bitPattern: uniform(UInt32(bitPattern: given), of: 180)))
    }

    /// Codes a number of seconds, −2⁴⁰ … 2⁴⁰.
    @_lifetime(self: copy self)
    mutating func interval(_ given: Int64, _ blocks: IntervalBlocks) -> Int64 {
        let isBackward = bit(given < 0, context: blocks.minutes.base &- 1)
        let magnitude = given < 0 ? 0 &- given : given
        let givenMinutes = (magnitude &+ 30) / 60
        let minutes = integer(givenMinutes, blocks.minutes)
        let seconds: Int64
        if minutes == 0 {
            seconds = integer(magnitude, blocks.seconds)
        } else {
            let kind = minutes <= 4 ? 0 : minutes < 30 ? 1 : 2
            let block = blocks.secondRest.instance(min(kind, blocks.lastRestInstance))
            seconds = minutes &* 60 &+ integer(magnitude &- 60 &* givenMinutes, block)
        }
        if Self.isEncoder { return given }
        require(seconds >= 0 && seconds <= 1 &<< 40, .difference)
        return isBackward ? 0 &- seconds : seconds
    }

    /// Codes a positive integer in Elias gamma code; each bit is 0 or 1 with equal probability.
    /// - Returns: nil for an integer of more than 31 bits.
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
    init(base: UInt32, exponentCount: UInt32, depth: UInt32, isSigned: Bool, isFalling: Bool = false, isCircular: Bool = false) {
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

    var base: Int { Int(truncatingIfNeeded: word & 0xFFF) }

    /// Number of contexts for exponents; larger exponents share the last context.
    var exponentCount: Int { Int(truncatingIfNeeded: word &>> 20 & 0xF) }

    /// Number of bits below the leading 1 that have contexts.
    var depth: Int { Int(truncatingIfNeeded: word &>> 24 & 7) }

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
