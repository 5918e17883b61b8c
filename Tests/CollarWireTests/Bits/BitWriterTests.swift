import CollarWire
import Testing

/// Writing fields of any width and reading them back.
@Suite struct BitFieldTests {
    private func bytes(_ write: (inout BitWriter) -> Void) throws -> [UInt8] {
        var writer = BitWriter()
        write(&writer)
        return try [UInt8](capacity: 246) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try writer.finish(into: &output)
        }
    }

    @Test func theMostSignificantBitComesFirstAndZerosPad() throws {
        let written = try bytes { writer in
            writer.write(0b101, 3)
            writer.write(0xABCDE, 20)
        }
        #expect(written == [0b1011_0101, 0b0111_1001, 0b1011_1100])
    }

    @Test func onlyTheLowBitsOfANumberAreWritten() throws {
        let written = try bytes { writer in
            writer.write(.max, 0)
            writer.write(0xFFFF_FFF1, 4)
            writer.writeSigned(-2, 4)
        }
        #expect(written == [0x1E])
    }

    @Test func fieldsOfAllWidthsComeBack() throws {
        var random = SeededRandom(seed: 0xB17)
        for _ in 0..<5_000 {
            let fields = (0..<1 + random.below(60)).map { _ in
                (value: UInt32(truncatingIfNeeded: random.next()), width: 1 + random.below(32))
            }
            let written = try bytes { writer in
                for field in fields { writer.write(field.value, field.width) }
            }
            let bitCount = fields.reduce(0) { $0 + $1.width }
            #expect(written.count == (bitCount + 7) / 8)
            var reader = BitReader(written.span, from: 0, to: written.count)
            var position = 0
            for field in fields {
                let mask = UInt32.max &>> UInt32(32 - field.width)
                let value = reader.read(field.width)
                position += field.width
                #expect(value == field.value & mask)
                #expect(reader.bitPosition == position)
            }
            #expect(reader.remainingBitCount == written.bitCount - bitCount)
            try reader.checkEnd()
        }
    }

    @Test func signedFieldsOfAllWidthsComeBack() throws {
        for width in 1...32 {
            let largest = Int32.max &>> Int32(32 - width)
            for value in [0, -1, largest, -largest - 1] {
                let written = try bytes { writer in
                    writer.write(1, 3)
                    writer.writeSigned(value, width)
                }
                var reader = BitReader(written.span, from: 0, to: written.count)
                _ = reader.read(3)
                let read = reader.readSigned(width)
                #expect(read == value)
            }
        }
    }

    @Test func aReaderMayBeginInTheMiddle() {
        let bytes: [UInt8] = [0xFF, 0x12, 0x34, 0xFF]
        var reader = BitReader(bytes.span, from: 1, to: 3)
        #expect(reader.remainingBitCount == 16)
        let value = reader.read(16)
        #expect(value == 0x1234)
        #expect(reader.remainingBitCount == 0)
    }
}

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
