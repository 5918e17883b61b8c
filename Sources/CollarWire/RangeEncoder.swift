/// Writes decisions into as few bits as their probabilities allow: a range coder with 32 bits of range and carry
/// (G. N. N. Martin, "Range encoding", 1979).
///
/// The number it writes begins behind the bits that the writer holds already, wherever in a byte that is. What a carry
/// could still change is held back and not written, so that an encoder can go back to an earlier ``mark``.
struct RangeEncoder {
    private static let renormalizationBound: UInt32 = 1 &<< 24

    /// What was written for good; after ``finish()`` everything.
    var payload = BitWriter()
    private var startBitCount = 0
    private var state = State()

    /// Everything but the bytes that were written.
    fileprivate struct State {
        var low: UInt32 = 0
        var range: UInt32 = .max
        /// The byte that a carry would reach, and how many of 255 follow it; both come before `low`.
        var held: UInt8 = 0
        var isHolding = false
        var fullByteCount = 0
    }

    /// A place to go back to.
    struct Mark {
        fileprivate let state: State
        fileprivate let payload: BitWriter.Mark
    }

    /// Begins behind what ``payload`` holds.
    mutating func begin() { startBitCount = payload.bitCount }

    /// Where the encoder stands.
    var mark: Mark { Mark(state: state, payload: payload.mark) }

    /// Forgets what was written since.
    mutating func goBack(to mark: Mark) {
        state = mark.state
        payload.goBack(to: mark.payload)
    }

    /// The range that is left, of which a decision takes its part.
    var range: UInt32 { state.range }

    /// Writes a decision.
    /// - Parameter bound: the part of ``range`` that stands for 0, neither nothing nor all of it.
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
    /// Takes a part of the range: so much of its lower end away, and of the rest so much.
    private mutating func narrow(by amount: UInt32, to range: UInt32) {
        let (sum, isCarried) = state.low.addingReportingOverflow(amount)
        state.low = sum
        // The range ends before a second carry could come.
        if isCarried { release(carry: 1) }
        state.range = range
        renormalize()
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Whether the payload takes at most so many bytes if it ends here.
    mutating func fits(byteCount: Int) -> Bool {
        // What is held back, what `low` adds, and the padding.
        let most = payload.mark.byteCount &+ state.fullByteCount &+ 6
        if most <= byteCount { return true }
        let here = mark
        finish()
        let isSmall = payload.mark.byteCount <= byteCount
        goBack(to: here)
        return isSmall
    }

    /// Ends with the fewest bytes that a decoder which reads zeros behind them understands.
    mutating func finish() {
        let phase = UInt32(truncatingIfNeeded: startBitCount & 7)
        let phaseMask: UInt32 = (1 &<< phase) &- 1
        let last = UInt32(state.fullByteCount > 0 ? 0xFF : state.held) & phaseMask
        // The bits of `low` that are kept end on a whole byte of the payload; with none of them a part of the byte
        // before it is dropped too.
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

    /// `low` with as many zero bits at its end, not below it; beyond 32 bits it wraps around.
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

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Writes what was held back; `held` is the last byte then.
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
