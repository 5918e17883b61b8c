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
