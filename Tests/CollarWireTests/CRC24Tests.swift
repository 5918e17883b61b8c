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
