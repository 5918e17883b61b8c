import CollarWire
import Testing

/// The Elias gamma code of positive numbers.
@Suite struct EliasGammaTests {
    /// The bits of the code by its definition, as text.
    private func definition(_ value: UInt32) -> String {
        let digits = String(value, radix: 2)
        return String(repeating: "0", count: digits.count - 1) + digits
    }

    private func bytes(_ values: [UInt32]) throws -> [UInt8] {
        var writer = BitWriter()
        for value in values { writer.writeEliasGamma(value) }
        #expect(writer.bitCount == values.reduce(0) { $0 + BitWriter.eliasGammaBitCount($1) })
        return try [UInt8](capacity: 246) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try writer.finish(into: &output)
        }
    }

    private func bits(_ bytes: [UInt8], _ count: Int) -> String {
        let text = bytes.map { String(String(0x100 + Int($0), radix: 2).dropFirst()) }.joined()
        return String(text.prefix(count))
    }

    private var valuesOfAllLengths: [UInt32] {
        (0..<32 as Range<UInt32>).flatMap { length in
            let least = 1 as UInt32 &<< length
            return [least, least | (least &>> 1), least &* 2 &- 1]
        }
    }

    @Test func theExamplesOfTheSpecification() throws {
        #expect(bits(try bytes([1]), 1) == "1")
        #expect(bits(try bytes([2]), 3) == "010")
        #expect(bits(try bytes([5]), 5) == "00101")
    }

    @Test func eachLengthIsWrittenByTheDefinition() throws {
        for value in valuesOfAllLengths + Array(1...1000) {
            let expected = definition(value)
            #expect(BitWriter.eliasGammaBitCount(value) == expected.count)
            #expect(bits(try bytes([value]), expected.count) == expected)
        }
    }

    @Test func eachLengthComesBackAtEveryOffset() throws {
        for value in valuesOfAllLengths {
            for offset in 0..<8 {
                let values = [UInt32](repeating: 1, count: offset) + [value, 3]
                let written = try bytes(values)
                var reader = BitReader(written.span, from: 0, to: written.count)
                var read: [UInt32] = []
                while read.count < values.count, let value = reader.readEliasGamma() { read.append(value) }
                #expect(read == values)
            }
        }
    }

    @Test func thirtyTwoZerosAreNoCode() {
        for tail in [0x00, 0x80, 0xFF] as [UInt8] {
            let bytes: [UInt8] = [0, 0, 0, 0] + [UInt8](repeating: tail, count: 6)
            var reader = BitReader(bytes.span, from: 0, to: bytes.count)
            let value = reader.readEliasGamma()
            #expect(value == nil)
        }
    }

    @Test func thirtyOneZerosAreACode() {
        let bytes: [UInt8] = [0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE]
        var reader = BitReader(bytes.span, from: 0, to: bytes.count)
        let value = reader.readEliasGamma()
        #expect(value == .max)
        #expect(reader.remainingBitCount == 1)
    }

    @Test func nothingButZerosUpToTheEndIsNoCode() {
        let bytes: [UInt8] = [0, 0, 0xFF]
        for end in 0...2 {
            var reader = BitReader(bytes.span, from: 0, to: end)
            let value = reader.readEliasGamma()
            #expect(value == nil)
        }
    }
}

/// The error of a bit reader if the bytes end too early or too late.
@Suite struct ReadingPastTheEndTests {
    /// The error of a reader of the first `byteCount` bytes, after `bitCount` bits were read; nil if there is none.
    private func end(_ bytes: [UInt8], _ byteCount: Int, after bitCount: Int) -> DecodeError? {
        var reader = BitReader(bytes.span, from: 0, to: byteCount)
        for _ in 0..<bitCount { _ = reader.read(1) }
        do throws(DecodeError) {
            try reader.checkEnd()
            return nil
        } catch {
            return error
        }
    }

    @Test func isNoticedAtTheEnd() {
        for byteCount in 0...9 {
            let bytes = [UInt8](repeating: 0, count: 9)
            #expect(end(bytes, byteCount, after: byteCount * 8) == nil)
            #expect(end(bytes, byteCount, after: byteCount * 8 + 1) == .truncated(bitOffset: byteCount * 8))
            #expect(end(bytes, byteCount, after: byteCount * 8 + 999) == .truncated(bitOffset: byteCount * 8))
        }
    }

    @Test func goesOnWithoutHarm() {
        let bytes: [UInt8] = [0xFF, 0xFF]
        var reader = BitReader(bytes.span, from: 0, to: 2)
        let first = reader.read(12)
        for _ in 0..<100 { _ = reader.read(32) }
        #expect(first == 0xFFF)
        #expect(reader.remainingBitCount == 4 - 3200)
    }

    @Test func upToSevenZerosArePadding() {
        for used in 1...8 { #expect(end([0], 1, after: used) == nil) }
        #expect(end([0, 0], 2, after: 8) == .trailingBytes(byteOffset: 1))
        #expect(end([0, 0], 2, after: 5) == .trailingBytes(byteOffset: 1))
        #expect(end([0, 0], 2, after: 0) == .trailingBytes(byteOffset: 0))
    }

    @Test func anyOtherPaddingIsRefused() {
        for used in 1...7 {
            for bit in used..<8 {
                let byte: UInt8 = 0x80 &>> UInt8(bit)
                #expect(end([byte], 1, after: used) == .nonzeroPadding(bitOffset: used))
            }
        }
    }

    /// Section 21: a decoder checks the padding before it checks that no bytes follow.
    @Test func paddingCountsBeforeBytesBehind() {
        #expect(end([0x01, 0], 2, after: 5) == .nonzeroPadding(bitOffset: 5))
        #expect(end([0x00, 1], 2, after: 5) == .trailingBytes(byteOffset: 1))
    }

    @Test func whatFollowsMayBeIgnored() {
        let bytes: [UInt8] = [1, 2, 3]
        var reader = BitReader(bytes.span, from: 0, to: 2)
        _ = reader.read(9)
        #expect(pastEnd(reader) == nil)
        _ = reader.read(7)
        #expect(pastEnd(reader) == nil)
        _ = reader.read(1)
        #expect(pastEnd(reader) == .truncated(bitOffset: 16))
    }

    private func pastEnd(_ reader: borrowing BitReader) -> DecodeError? {
        do throws(DecodeError) {
            try reader.checkNotPastEnd()
            return nil
        } catch {
            return error
        }
    }
}
