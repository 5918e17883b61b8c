import Testing

@testable import RadioModems

/// Frames between delimiters, whole and damaged.
@Suite struct KISSFrameTests {
    private func frames(_ bytes: [UInt8]) -> [KISSFrame] {
        var decoder = KISSFrame.Decoder()
        return bytes.compactMap { decoder.take($0) }
    }

    private static let good: [UInt8] = [0xC0, 0x00, 0x41, 0xC0]
    private static let goodFrame = KISSFrame(0, [0x41])

    @Test func everyByteCanBeDataAndType() {
        for type in [0x00, 0x06, 0xC0, 0xDB, 0xFF] as [UInt8] {
            let frame = KISSFrame(type, (0...255).map { UInt8($0) })
            var line: [UInt8] = []
            frame.append(to: &line)
            #expect(line.count == 2 + 257 + 2 + (type == 0xC0 || type == 0xDB ? 1 : 0))
            #expect(frames(line + line) == [frame, frame])
        }
    }

    @Test func theEscapesAreThoseOfTheProtocol() {
        var line: [UInt8] = []
        KISSFrame(0, [0xC0, 0xDB, 0xDC, 0xDD]).append(to: &line)
        #expect(line == [0xC0, 0x00, 0xDB, 0xDC, 0xDB, 0xDD, 0xDC, 0xDD, 0xC0])
    }

    /// The frame before the good one is dropped, and the good one is not.
    @Test(arguments: [
        [0xC0, 0x00, 0xDB, 0x41, 0xC0], [0xC0, 0x00, 0xDB, 0xC0], [0xC0, 0x00, 0xDB, 0xDB, 0xC0], [0xC0, 0xDB, 0xC0], [0xC0, 0xC0, 0xC0],
        [0x00, 0x41, 0x42],
    ] as [[UInt8]])
    func aDamagedFrameIsDroppedAndTheNextOneIsWhole(damaged: [UInt8]) {
        #expect(frames(damaged + Self.good) == [Self.goodFrame])
        #expect(frames(damaged + damaged + Self.good + Self.good) == [Self.goodFrame, Self.goodFrame])
    }

    @Test func oneDelimiterEndsAFrameAndBeginsTheNext() {
        #expect(frames([0xC0, 0x00, 0x41, 0xC0, 0x00, 0x42, 0xC0]) == [KISSFrame(0, [0x41]), KISSFrame(0, [0x42])])
    }

    @Test func aFrameMayHaveNoData() { #expect(frames([0xC0, 0x17, 0xC0]) == [KISSFrame(0x17)]) }

    @Test func aFrameOfSixHundredBytesIsTakenAndALongerOneIsDropped() {
        let longest = [0xC0] + [UInt8](repeating: 1, count: 600) + [0xC0]
        #expect(frames(longest).map(\.data.count) == [599])
        let tooLong = [0xC0] + [UInt8](repeating: 1, count: 601) + [0xC0]
        #expect(frames(tooLong + Self.good) == [Self.goodFrame])
        #expect(frames(tooLong + longest).count == 1)
    }

    /// The escape may be the last byte of one read and what it stands for the first of the next.
    @Test func aFrameMayComeInByteByByte() {
        var decoder = KISSFrame.Decoder()
        var line: [UInt8] = []
        KISSFrame(6, [0xDB, 0xC0]).append(to: &line)
        var found: [KISSFrame?] = []
        for byte in line { found.append(decoder.take(byte)) }
        #expect(found.dropLast().allSatisfy { $0 == nil })
        #expect(found.last == KISSFrame(6, [0xDB, 0xC0]))
    }

    @Test func numbersHaveTheirOrderOfBytes() {
        #expect([UInt8].bigEndian(0x0102_0304) == [1, 2, 3, 4])
        #expect([UInt8].littleEndian(0x0102_0304) == [4, 3, 2, 1])
        let bytes: [UInt8] = [9, 1, 2, 3, 4, 5]
        #expect(bytes.bigEndian(at: 1) == 0x0102_0304)
        #expect(bytes.littleEndian(at: 1) == 0x0403_0201)
        #expect(bytes.bigEndian(at: 4, byteCount: 2) == 0x0405)
        #expect(bytes.bigEndian(at: 3) == nil)
        #expect(bytes.littleEndian(at: 2) == 0x0504_0302)
        #expect(bytes.littleEndian(at: 3) == nil)
        #expect(bytes.bigEndian(at: 5, byteCount: 2) == nil)
    }
}
