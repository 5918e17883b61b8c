@testable import CollarWire
import Testing

/// Compares the CRC with its definition.
@Suite struct CRC24Tests {
    private func checksum(_ bytes: [UInt8]) -> UInt32 {
        var check = CRC24()
        check.update(bytes.span, from: 0, to: bytes.count)
        return check.checksum
    }

    /// Polynomial division one bit at a time, with the constants of section 3.
    private func bitwiseChecksum(_ bytes: [UInt8]) -> UInt32 {
        var register: UInt32 = 0xB704CE
        for byte in bytes {
            register ^= UInt32(byte) &<< 16
            for _ in 0..<8 {
                let isOut = register & 0x80_0000 != 0
                register = (register &<< 1) & 0xFF_FFFF
                if isOut { register ^= 0x7B01BD }
            }
        }
        return register ^ 0xFF_FFFF
    }

    @Test func theNineDigitsGiveTheCheckOfTheSpecification() {
        #expect(checksum([UInt8]("123456789".utf8)) == 0xBACADD)
    }

    @Test func everyEntryOfTheTableEqualsTheDivision() {
        for byte in UInt8.min...UInt8.max { #expect(checksum([byte]) == bitwiseChecksum([byte])) }
    }

    @Test func messagesOfAllLengthsEqualTheDivision() {
        var random = SeededRandom(seed: 24)
        for length in 0...300 {
            let bytes = random.bytes(length)
            #expect(checksum(bytes) == bitwiseChecksum(bytes))
        }
    }

    /// The computation on a processor without carry-less multiplication.
    @Test func wordsByTableEqualTheDivision() {
        var random = SeededRandom(seed: 0x240)
        for _ in 0..<2000 {
            let bytes = random.bytes(25)
            var check = CRC24()
            check.update(bytes[0])
            for offset in [1, 9, 17] { check = check.updatedByTable(bytes.span.bigEndianWord(at: offset)) }
            #expect(check.checksum == bitwiseChecksum(bytes))
        }
    }

    @Test func integersGoInMostSignificantByteFirst() {
        var check = CRC24()
        check.update(bigEndian: 0x0102_0304_0506_0708 as UInt64)
        check.update(bigEndian: 0x090A_0B0C as UInt32)
        #expect(check.checksum == bitwiseChecksum([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))
    }

    @Test func partOfASpanIsThatPart() {
        let bytes: [UInt8] = [9, 1, 2, 3, 9]
        var check = CRC24()
        check.update(bytes.span, from: 1, to: 4)
        #expect(check.checksum == bitwiseChecksum([1, 2, 3]))
    }
}

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

/// The effect of inverted bits on the CRC of frames of one length.
///
/// A CRC is linear: the change of the residue (computed CRC xor sent CRC) by an error depends on the error alone. It is the
/// xor of the changes by the single bits of the error. An error whose change is 0 is not detected.
struct Syndromes {
    /// The change of the residue by each single bit of the frame.
    let ofBit: [UInt32]

    init(frameByteCount: Int) {
        var frame = [UInt8](repeating: 0, count: frameByteCount)
        let residue = Syndromes.residue(of: frame)
        ofBit = (0..<frame.bitCount).map { bit in
            frame.flip(bit: bit)
            defer { frame.flip(bit: bit) }
            return Syndromes.residue(of: frame) ^ residue
        }
    }

    /// The CRC computed over a frame, xor the CRC that the frame holds; 0 if the frame is valid.
    static func residue(of frame: [UInt8]) -> UInt32 {
        let end = frame.count - CRC24.byteCount
        let sent = UInt32(frame[end]) &<< 16 | UInt32(frame[end + 1]) &<< 8 | UInt32(frame[end + 2])
        return FrameCRC.checksum(of: frame.span, count: end, log: nil) ^ sent
    }
}
