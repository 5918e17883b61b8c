import CollarWire
import Testing

/// The frames and faults that a decoder reports at delimiters.
@Suite struct StreamDecoderTests {
    private let frame: [UInt8] = [0x25, 0, 0, 1, 2, 3, 4, 5, 0]

    private func outcome(_ bytes: [UInt8]) -> StreamOutcome { StreamOutcome(of: bytes) }

    @Test func nothingBetweenDelimitersIsNothing() {
        #expect(outcome([0, 0, 0, 0]) == StreamOutcome())
    }

    @Test func framesMayShareADelimiter() {
        let shared = [0] + ReferenceStuffing.stuffed(frame) + [0] + ReferenceStuffing.stuffed(frame) + [0]
        #expect(outcome(shared).frames == [frame, frame])
    }

    @Test func aFrameIsCompleteOnlyWithItsDelimiter() {
        #expect(outcome([0] + ReferenceStuffing.stuffed(frame)) == StreamOutcome())
    }

    @Test func aLoneLengthByteIsAFrameOfNoBytesAndTooShort() {
        #expect(outcome([0, 1, 0]).faults == [.tooShort])
    }

    @Test func sixBytesAreTooShortAndSevenAFrame() {
        #expect(outcome([7, 1, 2, 3, 4, 5, 6, 0]).faults == [.tooShort])
        #expect(outcome([8, 1, 2, 3, 4, 5, 6, 7, 0]).frames == [[1, 2, 3, 4, 5, 6, 7]])
    }

    @Test func bytes253AreAFrameAnd254TooLong() {
        let largest = [UInt8](repeating: 5, count: 253)
        #expect(outcome([254] + largest + [0]).frames == [largest])
        #expect(outcome([UInt8](repeating: 1, count: 254) + [0]).frames == [[UInt8](repeating: 0, count: 253)])
        #expect(outcome([UInt8](repeating: 1, count: 255) + [0]).faults == [.tooLong])
        #expect(outcome([254] + largest + [1, 0]).faults == [.tooLong])
        #expect(outcome([254] + largest + [2, 9, 0]).faults == [.tooLong])
    }

    @Test func theLengthByte255IsRefused() {
        #expect(outcome([0xFF] + [UInt8](repeating: 5, count: 253) + [0]).faults == [.brokenStuffing])
        #expect(outcome([0xFF] + [UInt8](repeating: 5, count: 254) + [0]).faults == [.tooLong])
        #expect(outcome([2, 9, 0xFF, 0]).faults == [.brokenStuffing])
    }

    @Test func theByte255InsideABlockIsABlocksByte() {
        let frame = [UInt8](repeating: 0xFF, count: 20)
        #expect(outcome([21] + frame + [0]).frames == [frame])
    }

    @Test func aBlockThatReachesBeyondTheDelimiterIsRefused() {
        #expect(outcome([9, 1, 2, 3, 4, 5, 6, 7, 0]).faults == [.brokenStuffing])
        #expect(outcome([2, 0]).faults == [.brokenStuffing])
    }

    @Test func eachRunOfGarbageIsOneFault() {
        let garbage: [UInt8] = [9, 9, 0, 1, 0, 0, 0xFF, 1, 2, 3, 0]
        #expect(outcome(garbage).faults == [.brokenStuffing, .tooShort, .brokenStuffing])
    }

    @Test func manyBytesWithoutADelimiterAreOneFault() {
        #expect(outcome([UInt8](repeating: 3, count: 100_000) + [0]).faults == [.tooLong])
    }

    @Test func aDecoderReadsOnBehindTheEvent() {
        var decoder = StreamDecoder()
        let stream = serialForm(of: frame) + serialForm(of: frame)
        var index = 0
        #expect(decoder.next(in: stream.span, at: &index) == .frame)
        #expect(index == stream.count / 2)
        let isFrame = isEqual(decoder.frame, frame)
        #expect(isFrame)
        #expect(decoder.next(in: stream.span, at: &index) == .frame)
        #expect(index == stream.count)
        #expect(decoder.next(in: stream.span, at: &index) == nil)
    }

    @Test func aStreamTellsTheSameHoweverItIsCut() throws {
        let samples = try Sample.all().map(\.bytes)
        let stream = [3, 1, 4] + samples.flatMap(serialForm) + [0xFF, 0, 1, 0] + serialForm(of: frame)
        let whole = outcome(stream)
        #expect(whole.frames == samples + [frame])
        #expect(whole.faults.count == 3)
        for pieceByteCount in 1...stream.count {
            #expect(StreamOutcome(of: stream, pieceByteCount: pieceByteCount) == whole)
        }
        for cut in 0...stream.count {
            var decoder = StreamDecoder()
            var outcome = StreamOutcome()
            outcome.add(stream.span.extracting(..<cut), to: &decoder)
            outcome.add(stream.span.extracting(cut...), to: &decoder)
            #expect(outcome == whole)
        }
    }

    @Test func theSizeOnTheStreamIsThreeMore() {
        for count in 1...Frame.maximumByteCount {
            let serial = serialForm(of: [UInt8](repeating: 0, count: count))
            #expect(serial.count == count + 3)
            #expect(StreamEncoder.encodedByteCount(for: count) == serial.count)
        }
    }
}
