import CollarWire
import Testing

/// The errors that the CRC detects, among them those of the Hamming distance in section 3. The tests prove this for every
/// error in the largest frame, not for samples.
@Suite struct HammingDistanceTests {
    private let largest = Syndromes(frameByteCount: Frame.maximumByteCount)

    /// The proofs below rely on this.
    @Test func anErrorChangesTheResidueByTheSumOfItsBits() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<2_000 {
            let frame = random.bytes(Frame.maximumByteCount)
            var damaged = frame
            var sum: UInt32 = 0
            for _ in 0..<random.below(40) {
                let bit = random.below(frame.bitCount)
                damaged.flip(bit: bit)
                sum ^= largest.ofBit[bit]
            }
            let change = Syndromes.residue(of: damaged) ^ Syndromes.residue(of: frame)
            #expect(change == sum)
        }
    }

    /// Therefore the proofs for the largest frame also hold for shorter frames.
    @Test func inAShorterFrameABitCountsAsMuchAsTheOneAsFarFromTheEnd() {
        for byteCount in Frame.overheadByteCount...Frame.maximumByteCount {
            let tail = largest.ofBit.suffix(byteCount * 8)
            #expect(Syndromes(frameByteCount: byteCount).ofBit.elementsEqual(tail))
        }
    }

    /// Every wrong bit changes an odd number of bits of the residue, so the changes by an odd number of wrong bits never
    /// cancel.
    @Test func anOddNumberOfWrongBitsIsAlwaysNoticed() {
        #expect(largest.ofBit.allSatisfy { $0.nonzeroBitCount & 1 == 1 })
    }

    /// Four wrong bits would cancel if two pairs of bits changed the residue in the same way.
    @Test func twoAndFourWrongBitsAreAlwaysNoticed() {
        var isTaken = [Bool](repeating: false, count: 1 &<< 24)
        var collisions = 0
        for first in largest.ofBit.indices {
            for second in largest.ofBit.indices[..<first] {
                let pair = Int(largest.ofBit[first] ^ largest.ofBit[second])
                if pair == 0 || isTaken[pair] { collisions += 1 }
                isTaken[pair] = true
            }
        }
        #expect(collisions == 0)
    }

    /// The changes by 24 neighbouring bits are linearly independent, so no pattern of wrong bits among them cancels.
    @Test func noBurstOfUpTo24BitsGoesUnnoticed() {
        for start in 0...largest.ofBit.count - 24 {
            #expect(rank(of: largest.ofBit[start..<start + 24]) == 24)
        }
    }

    private func rank(of vectors: ArraySlice<UInt32>) -> Int {
        var basis: [UInt32] = []
        for vector in vectors {
            // Each element of the basis has a leading bit of its own.
            let rest = basis.reduce(vector) { min($0, $0 ^ $1) }
            if rest != 0 {
                basis.append(rest)
                basis.sort(by: >)
            }
        }
        return basis.count
    }
}
