/// Writes decisions into as few bits as their probabilities allow: a range coder with a 32-bit range and carries (G. N. N.
/// Martin, "Range encoding", 1979).
///
/// The output is a binary number that begins right after the bits that ``payload`` already holds, at any bit of a byte. Bytes
/// that a carry could still change are held back. A byte that has been written never changes, so an encoder can go back to an
/// earlier ``mark``.
struct RangeEncoder {
    private static let renormalizationBound: UInt32 = 1 &<< 24

    /// The bytes that no carry can change any more; after ``finish()`` the whole output.
    var payload = BitWriter()
    private var startBitCount = 0
    private var state = State()

    /// The state of the encoder without the bytes that were written.
    fileprivate struct State {
        var low: UInt32 = 0
        var range: UInt32 = .max
        /// The byte to which a carry is added; not written yet if `isHolding`. In the output, this byte is followed by
        /// `fullByteCount` bytes of 255, and then by the bits of `low`.
        var held: UInt8 = 0
        var isHolding = false
        var fullByteCount = 0
    }

    struct Mark {
        fileprivate let state: State
        fileprivate let payload: BitWriter.Mark
    }

    /// Begins after the bits that ``payload`` holds.
    mutating func begin() { startBitCount = payload.bitCount }

    var mark: Mark {
        #if hasFeature(Embedded)
        @inline(never)
        #endif
        mutating get { Mark(state: state, payload: payload.mark) }
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Discards everything written after `mark`.
    mutating func goBack(to mark: Mark) {
        state = mark.state
        payload.goBack(to: mark.payload)
    }

    /// The current range; each decision takes a part of it.
    var range: UInt32 { state.range }

    /// Writes a decision.
    /// - Parameter bound: the part of ``range`` that means 0; above 0 and below ``range``.
    @inline(__always)
    mutating func encode(_ bit: Bool, bound: UInt32) {
        narrow(by: bit ? bound : 0, to: bit ? state.range &- bound : bound)
    }

    /// Writes one of `count` equally likely values, 0 … `count` − 1; `count` is at most 65,536.
    mutating func encode(_ value: UInt32, of count: UInt32) {
        let part = state.range / count
        narrow(by: part &* value, to: part)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Narrows the range: raises its lower end by `amount` and sets its width to `range`.
    private mutating func narrow(by amount: UInt32, to range: UInt32) {
        let (sum, isCarried) = state.low.addingReportingOverflow(amount)
        state.low = sum
        // After this carry `low` + `range` is below 2³², so no further carry can change the bytes held back; write them.
        if isCarried { release(carry: 1) }
        state.range = range
        renormalize()
    }

    @inline(never)
    /// Whether the payload has at most `byteCount` bytes if it ends here.
    mutating func fits(byteCount: Int) -> Bool {
        // An upper bound: the bytes held back, the four of `low`, and the padding.
        let most = payload.byteCount &+ state.fullByteCount &+ 6
        if most <= byteCount { return true }
        let here = mark
        finish()
        let isSmall = payload.byteCount <= byteCount
        goBack(to: here)
        return isSmall
    }

    /// Ends the number with the fewest bytes, given that a decoder reads zeros after them.
    mutating func finish() {
        let phase = UInt32(truncatingIfNeeded: startBitCount & 7)
        let phaseMask: UInt32 = (1 &<< phase) &- 1
        let last = UInt32(state.fullByteCount > 0 ? 0xFF : state.held) & phaseMask
        // The last bit kept is the last of a byte of the payload, because a decoder reads zeros after it. No bit of `low` is kept
        // if `low` and the lowest `phase` bits of the byte before it are 0, or become 0 by rounding up within the range.
        if state.low == 0, last == 0 {
            release(carry: 0)
        } else if last == phaseMask, 0 &- state.low < state.range, state.low != 0 {
            release(carry: 1)
        } else {
            var dropped = 24 &+ phase
            var rounded = roundUp(dropped)
            while rounded &- state.low >= state.range {
                dropped &-= 8
                rounded = roundUp(dropped)
            }
            release(carry: rounded < state.low ? 1 : 0)
            payload.write(rounded &>> dropped, Int(32 &- dropped))
        }
        payload.trim(toAtLeast: (startBitCount &+ 7) &>> 3)
    }

    /// `low` rounded up to a multiple of 2^`zeroBitCount`; beyond 32 bits it wraps around.
    private func roundUp(_ zeroBitCount: UInt32) -> UInt32 {
        let mask: UInt32 = (1 &<< zeroBitCount) &- 1
        return (state.low &+ mask) & ~mask
    }

    private mutating func renormalize() {
        while state.range < RangeEncoder.renormalizationBound {
            let byte = UInt8(truncatingIfNeeded: state.low &>> 24)
            if byte == 0xFF {
                state.fullByteCount &+= 1
            } else {
                release(carry: 0)
                state.held = byte
                state.isHolding = true
            }
            state.low = state.low &<< 8
            state.range = state.range &<< 8
        }
    }

    @inline(never)
    /// Writes the bytes that were held back; afterwards `held` is the last of them.
    private mutating func release(carry: UInt8) {
        state.held = state.held &+ carry
        if state.isHolding { payload.write(UInt32(state.held), 8) }
        state.isHolding = false
        while state.fullByteCount > 0 {
            state.held = 0xFF &+ carry
            payload.write(UInt32(state.held), 8)
            state.fullByteCount &-= 1
        }
    }
}

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

    /// Reads a decision; see ``RangeEncoder/encode(_:bound:)``. The caller then calls ``renormalized(after:)``.
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
        return bit
    }

    /// Renormalizes after a decision, and returns the decision. A function that ends with this call saves no registers for it.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func renormalized(after bit: Bool) -> Bool { range < RangeDecoder.renormalizationBound ? refilled(bit) : bit }

    @inline(never)
    @_lifetime(self: copy self)
    private mutating func refilled(_ bit: Bool) -> Bool {
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
