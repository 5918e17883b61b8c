import CollarWire
import Sweeps
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

    /// The stuffing tells only zeros from other bytes, so a few values stand for all others in the middle of three bytes.
    static let middleBytes: [UInt8] = [0, 1, 2, 3, 4, 5, 127, 254, 255]

    /// All inputs of one and two bytes, and of three bytes with these in the middle.
    @Test func inputsOfUpToThreeBytesComeBack() {
        var wrong = 0
        for a in UInt8.min...UInt8.max {
            if ReferenceStuffing.unstuffed(stuffed([a])[...]) != [a] { wrong += 1 }
            for b in UInt8.min...UInt8.max {
                if ReferenceStuffing.unstuffed(stuffed([a, b])[...]) != [a, b] { wrong += 1 }
            }
            for middle in Self.middleBytes {
                for last in UInt8.min...UInt8.max where !comesBack([a, middle, last]) { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    /// Whether three bytes, once encoded, decode to the same bytes. It uses no arrays, which
    /// would take most of the time.
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

    /// The smallest frame, with these contents of the three bytes in its middle.
    @Test func aDecoderGivesBackThreeBytes() {
        var wrong = 0
        var decoder = StreamDecoder()
        for content in 0...UInt16.max {
            for middle in Self.middleBytes {
                check([0, 9, UInt8(content &>> 8), middle, UInt8(truncatingIfNeeded: content), 0, 9])
            }
        }
        #expect(wrong == 0)

        func check(_ frame: InlineArray<7, UInt8>) {
            let stream = InlineArray<10, UInt8> { (output: inout OutputSpan<UInt8>) in
                StreamEncoder.encode(frame.span, into: &output)
            }
            var index = 0
            if decoder.next(in: stream.span, at: &index) != .frame || index != 10 || decoder.frame.count != 7 {
                wrong += 1
                return
            }
            for index in 0..<7 where decoder.frame[index] != frame[index] { wrong += 1 }
        }
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

/// No bytes stop a decoder, and its frames and faults agree with those of the reference.
@Suite struct StreamDecoderFuzzTests {
    @Test func randomBytes() {
        var random = SeededRandom(seed: 0xF1)
        for _ in 0..<(sweepsAreLong ? 100 : 20) { compare((0..<100_000).map { _ in random.byte() }) }
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
        for attempt in 0..<10_000 {
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

/// One or two wrong bits on a serial line never yield a frame that was not sent.
@Suite struct DamagedStreamTests {
    /// The results for all damaged copies of a stream that holds a frame and its successor.
    private struct Harm {
        var caseCount = 0
        /// Frames that a decoder accepts although they were not sent.
        var forged: [[UInt8]] = []
        var lostSuccessors = 0
    }

    @Test(arguments: try Sample.all())
    func noFrameIsForgedAndTheNextOneIsFound(_ sample: Sample) throws {
        let successor = try frame(of: .identityRequest(IdentityRequest(receiverID: 0xBEEF)), log: .sample)
        var damaged = serialForm(of: sample.bytes)
        let bitCount = damaged.bitCount
        damaged += serialForm(of: successor)
        var harm = Harm()
        decode(damaged, sample, successor, &harm)
        for first in 0..<bitCount {
            damaged.flip(bit: first)
            decode(damaged, sample, successor, &harm)
            for second in 0..<first {
                damaged.flip(bit: second)
                decode(damaged, sample, successor, &harm)
                damaged.flip(bit: second)
            }
            damaged.flip(bit: first)
        }
        #expect(harm.caseCount == 1 + bitCount + bitCount * (bitCount - 1) / 2)
        #expect(harm.forged.isEmpty)
        #expect(harm.lostSuccessors == 0)
    }

    private func decode(_ stream: [UInt8], _ sample: Sample, _ successor: [UInt8], _ harm: inout Harm) {
        harm.caseCount += 1
        var decoder = StreamDecoder()
        var index = 0
        var isSuccessorFound = false
        while let event = decoder.next(in: stream.span, at: &index) {
            guard event == .frame else { continue }
            let frame = decoder.frame
            if isEqual(frame, successor) {
                isSuccessorFound = true
            } else if !isEqual(frame, sample.bytes) {
                let isAccepted = (try? Message.decode(frame, log: .sample, reference: 40_000)) != nil
                if isAccepted { harm.forged.append([UInt8](copying: frame)) }
            }
        }
        if !isSuccessorFound { harm.lostSuccessors += 1 }
    }
}

/// Compares `nextFix`, the short way from a serial line to a fix, with the long way: `next` and `Message.decode`.
@Suite struct NextFixTests {
    /// The result of one call on a line.
    private struct Reading: Equatable {
        var fix: Fix?
        var index: Int
        var frame: [UInt8]?
    }

    private func shortReading(_ line: [UInt8], from start: Int = 0, reference: UInt32) -> Reading {
        var decoder = StreamDecoder()
        var index = start
        var fix = Fix.sample
        guard decoder.nextFix(in: line.span, at: &index, log: .sample, reference: reference, into: &fix) else {
            if fix != .sample || index != start { Issue.record("what was not read has changed something") }
            return Reading(index: index)
        }
        return Reading(fix: fix, index: index, frame: decoder.frame.indices.map { decoder.frame[$0] })
    }

    private func longReading(_ line: [UInt8], from start: Int = 0, reference: UInt32) -> Reading {
        var decoder = StreamDecoder()
        var index = start
        guard decoder.next(in: line.span, at: &index) == .frame else { return Reading(index: index) }
        let frame = decoder.frame.indices.map { decoder.frame[$0] }
        do throws(DecodeError) {
            guard case .fix(let fix) = try Message.decode(frame.span, log: .sample, reference: reference) else {
                return Reading(index: index)
            }
            return Reading(fix: fix, index: index, frame: frame)
        } catch { return Reading(index: index) }
    }

    private func line(_ frame: [UInt8]) -> [UInt8] {
        [UInt8](capacity: frame.count + 3) { StreamEncoder.encode(frame.span, into: &$0) }
    }

    /// Whether a frame of a fix has the form that the short way must decode. Escapes would make the frame longer.
    private func isOfCommonestForm(_ frame: [UInt8]) -> Bool {
        frame.count == 27 && frame[4] & 0xF8 == 0 && frame[5] & 0x80 == 0
    }

    @Test func bothWaysAgreeOnEveryPayload() throws {
        var random = SeededRandom(seed: 0xAB7)
        let usual = try frame(of: .fix(.sample), log: .sample, reference: 0x8000)
        var disagreements = 0
        var missed = 0
        var validCount = 0
        for _ in 0..<60_000 {
            var bytes = usual
            for index in 4..<24 where random.oneIn(4) {
                bytes[index] = random.oneIn(3) ? 0xFF : random.oneIn(3) ? 0 : random.bytes(1)[0]
            }
            if !random.oneIn(8) { bytes[4] &= 0x07 }
            if !random.oneIn(8) { bytes[5] &= 0x7F }
            bytes[3] = random.bytes(1)[0]
            let reference = random.anyLength()
            let isShort = bytes[5] & 0x80 == 0
            let high = bytes[4] & 0x80 != 0 ? bytes[6] : bytes[5] &<< 1 | bytes[6] &>> 7
            let sequence = SequenceNumber.nearest(
                to: reference, lowBits: UInt32(high) &<< 8 | UInt32(bytes[3]), bitCount: 16)
            bytes = sealed([UInt8](bytes.dropLast(3)), log: .sample, shortSequence: isShort ? sequence : 0)
            let long = longReading(line(bytes), reference: reference)
            let short = shortReading(line(bytes), reference: reference)
            if short.fix != nil {
                validCount += 1
                if short != Reading(fix: long.fix, index: long.index, frame: long.frame) { disagreements += 1 }
            } else if long.fix != nil, isOfCommonestForm(bytes), 0x8000...0xFFFF_0000 ~= reference {
                missed += 1
            }
        }
        #expect(disagreements == 0)
        #expect(missed == 0)
        #expect(validCount > 3000)
    }

    /// The last valid and the first invalid code of each field. All bits around the field are 0, 1, or as in the usual fix.
    @Test func eachLimitIsTheGeneralDecoders() throws {
        let usual = try frame(of: .fix(.sample), log: .sample, reference: 0x8000)
        // For each field, the place of its lowest bit, counted from the end of the payload, and its width.
        let fields = [(0, 7), (7, 8), (15, 8), (23, 9), (32, 7), (39, 7), (46, 14), (60, 26), (86, 25)]
        for (place, width) in fields {
            for code in [0, 1, 99, 100, 101, 179, 180, 181, 18_000_000, 18_000_001, 36_000_000, 36_000_001]
                + (1...3).map({ (1 << width) - $0 }) where code < 1 << width
            {
                for surroundings in [UInt8(0), 0xFF, nil] {
                    var bytes = usual
                    if let surroundings { for index in 14..<24 { bytes[index] = surroundings } }
                    for bit in 0..<width {
                        let index = 23 - (place + bit) / 8
                        let mask = UInt8(1) << UInt8((place + bit) % 8)
                        bytes[index] = code >> bit & 1 == 0 ? bytes[index] & ~mask : bytes[index] | mask
                    }
                    bytes = sealed([UInt8](bytes.dropLast(3)), log: .sample)
                    let short = shortReading(line(bytes), reference: 0x8000)
                    if short.fix != nil { #expect(short == longReading(line(bytes), reference: 0x8000)) }
                    if longReading(line(bytes), reference: 0x8000).fix == nil { #expect(short.fix == nil) }
                }
            }
        }
    }

    @Test func oneDelimiterBeforeTheFrameIsEnoughAndNoneToo() throws {
        let bytes = line(try frame(of: .fix(.sample), log: .sample, reference: 0x8000))
        #expect(shortReading(bytes, reference: 0x8000).fix == .sample)
        #expect(shortReading(bytes, reference: 0x8000).index == bytes.count)
        #expect(shortReading(bytes + [7], from: 1, reference: 0x8000).index == bytes.count)
        #expect(shortReading([0] + bytes, reference: 0x8000).fix == nil)
    }

    @Test func whatIsNotWholeIsLeftToTheLongWay() throws {
        let bytes = line(try frame(of: .fix(.sample), log: .sample, reference: 0x8000))
        for length in 0..<bytes.count { #expect(shortReading([UInt8](bytes.prefix(length)), reference: 0x8000).fix == nil) }
        var decoder = StreamDecoder()
        var index = 0
        #expect(decoder.next(in: bytes.span.extracting(0..<9), at: &index) == nil)
        var fix = Fix.sample
        var rest = 0
        #expect(!decoder.nextFix(in: bytes.span, at: &rest, log: .sample, reference: 0x8000, into: &fix))
        #expect(decoder.next(in: bytes.span, at: &index) == .frame)
    }

    @Test func damageOfAnyByteIsLeftToTheLongWay() throws {
        let bytes = line(try frame(of: .fix(.sample), log: .sample, reference: 0x8000))
        for index in 1..<bytes.count {
            for value in UInt8.min...UInt8.max where value != bytes[index] {
                var damaged = bytes + [0]
                damaged[index] = value
                #expect(shortReading(damaged, reference: 0x8000).fix == nil)
            }
        }
    }
}
