import CollarWire
import Testing

/// No bytes stop a decoder, and its frames and faults agree with those of the reference.
@Suite struct StreamDecoderFuzzTests {
    @Test func tenMillionRandomBytes() {
        var random = SeededRandom(seed: 0xF1)
        for _ in 0..<100 { compare((0..<100_000).map { _ in random.byte() }) }
    }

    /// Small numbers are often valid length bytes, so whole frames occur.
    @Test func aMillionSmallBytes() {
        var random = SeededRandom(seed: 0xF2)
        var frameCount = 0
        for round in 0..<100 {
            let largest = 2 + round % 12
            let oneZeroIn = 10 + round
            frameCount += compare(
                (0..<10_000).map { _ in random.oneIn(oneZeroIn) ? 0 : UInt8(1 + random.below(largest)) })
        }
        #expect(frameCount > 1000)
    }

    @Test func validStreamsWithDamage() throws {
        let whole = try Sample.all().map(\.bytes).flatMap(serialForm)
        var random = SeededRandom(seed: 0xF3)
        var frameCount = 0
        for _ in 0..<5_000 {
            var stream = whole
            for _ in 0..<1 + random.below(6) { damage(&stream, &random) }
            frameCount += compare(stream)
        }
        #expect(frameCount > 5_000)
    }

    @Test func afterAnyGarbageAndADelimiterTheNextFrameIsFound() throws {
        let samples = try Sample.all()
        var random = SeededRandom(seed: 0xF4)
        var lost = 0
        for attempt in 0..<50_000 {
            let sample = samples[attempt % samples.count]
            let oneZeroIn = 1 + random.below(500)
            let garbage = (0..<random.below(600)).map { _ in random.oneIn(oneZeroIn) ? 0 : random.byte() }
            let outcome = StreamOutcome(of: garbage + serialForm(of: sample.bytes))
            if outcome.frames.last != sample.bytes || outcome.violations > 0 { lost += 1 }
        }
        #expect(lost == 0)
    }

    /// Compares a decoder that gets `stream` in pieces with the reference. Returns the number of frames.
    @discardableResult
    private func compare(_ stream: [UInt8]) -> Int {
        let expected = ReferenceStuffing.cut(stream)
        let outcome = StreamOutcome(of: stream, pieceByteCount: 1 + stream.count % 997)
        #expect(outcome.violations == 0)
        let isSame = outcome.frames == expected.frames && outcome.faults.count == expected.faultCount
        #expect(isSame, "\(outcome.faults.count) faults for \(expected.faultCount), stream \(stream.prefix(400))")
        return outcome.frames.count
    }

    private func damage(_ stream: inout [UInt8], _ random: inout SeededRandom) {
        guard stream.count > 40 else { return }
        let place = random.below(stream.count - 32)
        let count = 1 + random.below(32)
        switch random.below(6) {
        case 0: stream.flip(bit: random.below(stream.bitCount))
        case 1: stream[place] = random.byte()
        case 2: stream.removeSubrange(place..<place + count)
        case 3: stream.insert(contentsOf: random.bytes(count), at: place)
        case 4: stream.insert(contentsOf: stream[place..<place + count], at: place)
        default: stream[place] = 0
        }
    }
}
