/// A state that takes in bytes, block by block.
struct AsconSponge {
    var state: AsconState
    /// Bytes of a block, 8 or 16.
    let blockByteCount: Int
    /// Rounds of the permutation after each block.
    let roundCount: UInt32
    /// Where the next byte enters the block.
    private(set) var place = 0
    /// Whether a byte was taken in.
    private(set) var hasData = false

    init(_ state: AsconState, blockByteCount: Int, roundCount: UInt32) {
        self.state = state
        self.blockByteCount = blockByteCount
        self.roundCount = roundCount
    }

    /// Moves on by a byte; after a whole block, the state is permuted.
    mutating func advance() {
        place &+= 1
        if place == blockByteCount { permute() }
    }

    /// Permutes the state. The next byte begins a block.
    mutating func permute() {
        state.permute(roundCount)
        place = 0
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Takes in a byte.
    mutating func absorb(_ byte: UInt8) {
        hasData = true
        state.xor(byte, at: place)
        advance()
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Takes in the lowest `byteCount` bytes of a number, at most 4, the most significant one first.
    mutating func absorb(_ value: UInt32, byteCount: Int) {
        var rest = byteCount
        while rest > 0 {
            rest &-= 1
            absorb(UInt8(truncatingIfNeeded: value &>> UInt32(truncatingIfNeeded: 8 &* rest)))
        }
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Takes in the bytes of a span from `start` to before `end`.
    mutating func absorb(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        var index = start
        while index < end {
            absorb(bytes[index])
            index &+= 1
        }
    }

    /// Ends what was taken in: adds a bit after the last byte.
    mutating func pad() { state.xor(1, at: place) }
}
