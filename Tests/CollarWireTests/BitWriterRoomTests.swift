import CollarWire
import Testing

/// A bit writer that writes past its limit reports an error at the end. It never traps.
@Suite struct BitWriterRoomTests {
    private func finish(_ writer: BitWriter, room: Int) throws(EncodeError) -> [UInt8] {
        var writer = writer
        return try [UInt8](capacity: room) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try writer.finish(into: &output)
        }
    }

    private func writer(byteLimit: Int, byteCount: Int) -> BitWriter {
        var writer = BitWriter(byteLimit: byteLimit)
        for index in 0..<byteCount { writer.write(UInt32(index & 0xFF), 8) }
        return writer
    }

    @Test func whatFillsTheRoomFits() throws {
        for limit in 0...246 {
            let full = writer(byteLimit: limit, byteCount: limit)
            #expect(full.fits)
            #expect(full.remainingBitCount == 0)
            #expect(try finish(full, room: limit) == (0..<limit).map { UInt8($0) })
        }
    }

    @Test func oneBitMoreDoesNotFit() {
        for limit in 0...246 {
            var over = writer(byteLimit: limit, byteCount: limit)
            over.write(1, 1)
            #expect(!over.fits)
            #expect(over.remainingBitCount == -1)
            #expect(throws: EncodeError.frameTooSmall(neededByteCount: limit + 8)) { try finish(over, room: 300) }
        }
    }

    @Test func theOutputsRoomCountsToo() {
        let full = writer(byteLimit: 246, byteCount: 20)
        #expect(throws: EncodeError.frameTooSmall(neededByteCount: 27)) { try finish(full, room: 19) }
    }

    @Test func noLimitIsAbove246Bytes() {
        #expect(BitWriter().remainingBitCount == 246 * 8)
        #expect(BitWriter(byteLimit: 1000).remainingBitCount == 246 * 8)
    }

    @Test func muchMoreThanFitsIsCountedAndNotKept() {
        let over = writer(byteLimit: 10, byteCount: 10_000)
        #expect(over.bitCount == 80_000)
        #expect(throws: EncodeError.frameTooSmall(neededByteCount: 10_007)) { try finish(over, room: 300) }
    }
}
