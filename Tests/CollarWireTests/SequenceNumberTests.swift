import CollarWire
import Testing

/// Completing a sequence of which only the low bits were sent.
@Suite struct SequenceNumberTests {
    /// The completed sequences by the definition in section 6, indexed by their low bits. The search goes from `reference`
    /// outwards, at each distance the lower number first, and takes the first number that ends in the low bits.
    private func nearestByBruteForce(to reference: UInt32, bitCount: Int) -> [UInt32] {
        let period = 1 &<< bitCount
        var found = [UInt32?](repeating: nil, count: period)
        for distance in 0...Int64(period) {
            for number in [Int64(reference) - distance, Int64(reference) + distance] {
                guard number >= 0, number <= 0xFFFF_FFFF else { continue }
                let low = Int(number) & (period - 1)
                if found[low] == nil { found[low] = UInt32(number) }
            }
        }
        return found.compactMap { $0 }
    }

    private func check(_ reference: UInt32, _ bitCount: Int) {
        let expected = nearestByBruteForce(to: reference, bitCount: bitCount)
        #expect(expected.count == 1 &<< bitCount)
        let actual = expected.indices.map {
            SequenceNumber.nearest(to: reference, lowBits: UInt32($0), bitCount: bitCount)
        }
        #expect(actual == expected, "reference \(reference), \(bitCount) bits")
    }

    @Test(arguments: 1...8)
    func fewBitsAtBothEndsAndBetween(_ bitCount: Int) {
        for offset in 0..<600 as Range<UInt32> {
            check(offset, bitCount)
            check(.max - offset, bitCount)
            check(0x7FFF_FF00 + offset, bitCount)
        }
    }

    @Test(arguments: [
        0, 1, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x1_0000, 0x1_8000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFE_FFFF,
        0xFFFF_0000, 0xFFFF_7FFE, 0xFFFF_7FFF, 0xFFFF_8000, 0xFFFF_FFFE, 0xFFFF_FFFF,
    ] as [UInt32])
    func sixteenBits(_ reference: UInt32) { check(reference, 16) }

    @Test func aWrapFollowsTheReferenceUpwardsAndDownwards() {
        #expect(SequenceNumber.nearest(to: 0x1_FFFF, lowBits: 3, bitCount: 16) == 0x2_0003)
        #expect(SequenceNumber.nearest(to: 0x2_0003, lowBits: 0xFFFF, bitCount: 16) == 0x1_FFFF)
        #expect(SequenceNumber.nearest(to: 0x2_0000, lowBits: 0x8000, bitCount: 16) == 0x1_8000)
    }

    @Test func thirtyOneBitsReachBothEnds() {
        #expect(SequenceNumber.nearest(to: 0, lowBits: 0x7FFF_FFFF, bitCount: 31) == 0x7FFF_FFFF)
        #expect(SequenceNumber.nearest(to: .max, lowBits: 0, bitCount: 31) == 0x8000_0000)
        #expect(SequenceNumber.nearest(to: 0x8000_0000, lowBits: 0x7FFF_FFFF, bitCount: 31) == 0x7FFF_FFFF)
    }
}
