import CollarWire
import Testing

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
