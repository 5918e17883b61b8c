import CollarWire
import Testing

/// The byte stuffing of section 4.
@Suite struct COBSTests {
    private func stuffed(_ frame: [UInt8]) -> [UInt8] {
        [UInt8](serialForm(of: frame).dropFirst().dropLast())
    }

    @Test func examplesOfTheBlocks() {
        #expect(stuffed([0]) == [1, 1])
        #expect(stuffed([0, 0]) == [1, 1, 1])
        #expect(stuffed([5, 6]) == [3, 5, 6])
        #expect(stuffed([0x11, 0, 0, 0x22]) == [2, 0x11, 1, 2, 0x22])
    }

    /// All inputs of one, two and three bytes; 16.8 million of them have three.
    @Test func everyInputOfUpToThreeBytesComesBack() {
        var wrong = 0
        for a in UInt8.min...UInt8.max {
            if ReferenceStuffing.unstuffed(stuffed([a])[...]) != [a] { wrong += 1 }
            for b in UInt8.min...UInt8.max {
                if ReferenceStuffing.unstuffed(stuffed([a, b])[...]) != [a, b] { wrong += 1 }
                for c in UInt8.min...UInt8.max where !comesBack([a, b, c]) { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    /// Whether three bytes, once encoded, decode to the same bytes. It uses no arrays: 16.8 million arrays would take half a
    /// minute.
    private func comesBack(_ frame: InlineArray<3, UInt8>) -> Bool {
        let stream = InlineArray<6, UInt8> { (output: inout OutputSpan<UInt8>) in
            StreamEncoder.encode(frame.span, into: &output)
        }
        if stream[0] != 0 || stream[5] != 0 { return false }
        var remaining = 0
        for index in 0..<4 {
            let byte = stream[index + 1]
            if byte == 0 { return false }
            if remaining == 0 {
                if index > 0, frame[index - 1] != 0 { return false }
                remaining = Int(byte) - 1
            } else {
                if byte != frame[index - 1] { return false }
                remaining -= 1
            }
        }
        return remaining == 0
    }

    /// The smallest frame, with all contents of the three bytes in its middle.
    @Test func aDecoderGivesBackEveryThreeBytes() {
        var wrong = 0
        var decoder = StreamDecoder()
        for content in 0..<(1 as UInt32) &<< 24 {
            let frame: InlineArray<7, UInt8> = [
                0, 9, UInt8(truncatingIfNeeded: content &>> 16), UInt8(truncatingIfNeeded: content &>> 8),
                UInt8(truncatingIfNeeded: content), 0, 9,
            ]
            let stream = InlineArray<10, UInt8> { (output: inout OutputSpan<UInt8>) in
                StreamEncoder.encode(frame.span, into: &output)
            }
            var index = 0
            if decoder.next(in: stream.span, at: &index) != .frame || index != 10 || decoder.frame.count != 7 {
                wrong += 1
                continue
            }
            for index in 0..<7 where decoder.frame[index] != frame[index] { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test func aZeroAtEveryPlaceOfEveryLengthComesBack() {
        for length in 1...Frame.maximumByteCount {
            check([UInt8](repeating: 0, count: length))
            check([UInt8](repeating: 0xFF, count: length))
            var frame = (0..<length).map { UInt8($0 % 255 + 1) }
            check(frame)
            for place in 0..<length {
                let byte = frame[place]
                frame[place] = 0
                check(frame)
                frame[place] = byte
            }
        }
    }

    @Test func randomFramesComeBack() {
        var random = SeededRandom(seed: 0xC0B5)
        for _ in 0..<20_000 {
            let oneZeroIn = 1 + random.below(300)
            check((0..<1 + random.below(253)).map { _ in random.oneIn(oneZeroIn) ? 0 : random.byte() })
        }
    }

    /// The encoding equals that of the reference, is one byte longer than the frame, and has no zero byte. A decoder returns
    /// the frame, or rejects it as too short if it has fewer than 7 bytes.
    private func check(_ frame: [UInt8]) {
        let encoded = stuffed(frame)
        var isRight = encoded == ReferenceStuffing.stuffed(frame) && encoded.count == frame.count + 1
        isRight = isRight && !encoded.contains(0)
        let outcome = StreamOutcome(of: serialForm(of: frame))
        if frame.count < Frame.overheadByteCount {
            isRight = isRight && outcome.faults == [.tooShort] && outcome.frames.isEmpty
        } else {
            isRight = isRight && outcome.faults.isEmpty && outcome.frames == [frame]
        }
        if !isRight { Issue.record("the frame \(frame) does not come back") }
    }
}
