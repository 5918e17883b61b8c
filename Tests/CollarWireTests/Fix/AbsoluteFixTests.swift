import CollarWire
import Testing

/// An encoded absolute fix decodes to the same fix and has the size that PROTOCOL.md states.
@Suite struct AbsoluteFixTests {
    @Test func everyValidFixComesBackWithTheWideSequence() throws {
        var random = SeededRandom(seed: 0xAB5)
        var wrong: [Fix] = []
        for _ in 0..<100_000 {
            let fix = Fix(random: &random)
            let bytes = try frame(of: .fix(fix), log: .sample)
            let isRight =
                try bytes.count == FixSize.frameByteCount(fix, isWide: true) && bytes[5] & 0x80 != 0
                && decoded(bytes, reference: UInt32(truncatingIfNeeded: random.next())) == .fix(fix)
            if !isRight { wrong.append(fix) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func everyValidFixComesBackWithTheShortSequence() throws {
        var random = SeededRandom(seed: 0xAB6)
        var wrong: [Fix] = []
        for _ in 0..<100_000 {
            let fix = Fix(random: &random)
            let bytes = try frame(of: .fix(fix), log: .sample, reference: neighbour(of: fix.sequence, &random))
            let isRight =
                try bytes.count == FixSize.frameByteCount(fix, isWide: false) && bytes[5] & 0x80 == 0
                && decoded(bytes, reference: neighbour(of: fix.sequence, &random)) == .fix(fix)
            if !isRight { wrong.append(fix) }
        }
        #expect(wrong.isEmpty)
    }

    /// A sequence at a distance of less than 32,768.
    private func neighbour(of sequence: UInt32, _ random: inout SeededRandom) -> UInt32 {
        let distance = random.edgy(in: -32_767...32_767 as ClosedRange<Int64>, edges: [0])
        return UInt32(clamping: Int64(sequence) + distance)
    }

    @Test func anEncoderIsShortOnlyBelow32768FromTheReference() throws {
        for sequence in [40_000, 0x7FFF_FFFF] as [UInt32] {
            for (reference, isWide) in [
                (sequence, false), (sequence - 32_767, false), (sequence - 32_768, true),
                (sequence + 32_767, false), (sequence + 32_768, true),
            ] {
                var fix = Fix.sample
                fix.sequence = sequence
                let bytes = try frame(of: .fix(fix), log: .sample, reference: reference)
                #expect((bytes[5] & 0x80 != 0) == isWide)
            }
        }
    }

    @Test func aFrameThatIsNoFixOfThisLogIsRefusedAtOnce() throws {
        let usual = try frame(of: .fix(.sample), log: .sample, reference: 0x8000)
        for (index, error) in [(0, DecodeError.crcMismatch), (2, .crcMismatch), (26, .crcMismatch), (4, .crcMismatch)] {
            var bytes = usual
            bytes[index] ^= index == 0 ? 0 : 1
            if index == 0 { bytes[23] ^= 0x80 }
            #expect(decodedAtOnce(bytes, reference: 0) == .failure(error))
        }
        var otherType = usual
        otherType[0] = otherType[0] & 0x1F | 2 << 5
        #expect(decodedAtOnce(otherType, reference: 0) == .failure(.unsupportedVersion(2)))
        #expect(decodedAtOnce([], reference: 0) == .failure(.tooShort(byteCount: 0)))
    }

    private func decodedAtOnce(_ bytes: [UInt8], reference: UInt32) -> Result<Message, DecodeError> {
        do throws(DecodeError) {
            return .success(try Message.decode(bytes.span, log: .sample, reference: reference))
        } catch { return .failure(error) }
    }

    @Test func theUsualFixHas27BytesAndMillisecondsMake29() throws {
        #expect(try frame(of: .fix(.sample), log: .sample, reference: 0x8000).count == 27)
        #expect(try frame(of: .fix(.sampleWithMilliseconds), log: .sample, reference: 0x8000).count == 29)
    }

    @Test func theLargestPayloadHas31Bytes() throws {
        var fix = Fix.sample
        fix.unixMilliseconds = -1
        fix.positionStep = .e7
        fix.altitudeSteps = 15_383
        fix.speedDecimetersPerSecond = 511
        var largest = try frame(of: .fix(fix), log: .sample).count
        #expect(largest == 7 + AbsoluteFix.maximumPayloadByteCount)
        var random = SeededRandom(seed: 0x31)
        for _ in 0..<100_000 { largest = max(largest, FixSize.frameByteCount(Fix(random: &random), isWide: true)) }
        #expect(largest == 7 + AbsoluteFix.maximumPayloadByteCount)
    }

    @Test func theLowByteOfTheHeaderIsThatOfTheSequence() throws {
        var fix = Fix.sample
        fix.sequence = 0x1234_56AB
        let bytes = try frame(of: .fix(fix), address: 99, flags: FrameFlags(poll: .first), log: .sample)
        #expect(bytes.prefix(4) == [0x22, 1, 99, 0xAB])
    }

    @Test func aPayloadAloneIsReadByItself() throws {
        var random = SeededRandom(seed: 0xAB7)
        for _ in 0..<10_000 {
            let fix = Fix(random: &random)
            var writer = BitWriter()
            try AbsoluteFix.writePayload(of: fix, wideSequence: true, into: &writer)
            #expect(writer.bitCount == FixSize.payloadBitCount(fix, isWide: true))
            let bytes = try [UInt8](capacity: 31) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try writer.finish(into: &output)
            }
            let read = try AbsoluteFix.decodePayload(
                bytes.span, count: bytes.count, lowSequenceByte: UInt8(truncatingIfNeeded: fix.sequence))
            #expect(read == fix)
        }
    }

    @Test func aShortSequenceMayNotBecomeTheOneThatIsNeverUsed() throws {
        var fix = Fix.sample
        fix.sequence = 0xFFFF
        let short = try frame(of: .fix(fix), log: .sample, reference: 0xFFFF)
        let bytes = sealed([UInt8](short.dropLast(3)), log: .sample, shortSequence: .max)
        #expect(throws: DecodeError.invalidField(.sequence, code: .max)) {
            try decoded(bytes, reference: 0xFFFF_FFF0)
        }
    }
}

/// A sequence of which only the low 16 bits are sent. The CRC verifies the upper bits.
@Suite struct ShortSequenceTests {
    private func short(_ sequence: UInt32) throws -> [UInt8] {
        var fix = Fix.sample
        fix.sequence = sequence
        return try frame(of: .fix(fix), log: .sample, reference: sequence)
    }

    private func reference(_ references: [UInt32], fitting frame: [UInt8]) -> UInt32? {
        FrameCRC.reference(fitting: frame.span, log: .sample) { $0 < references.count ? references[$0] : nil }
    }

    private func sequence(of frame: [UInt8], around reference: UInt32) throws -> UInt32? {
        guard case .fix(let fix) = try decoded(frame, reference: reference) else { return nil }
        return fix.sequence
    }

    @Test func aSequenceThatIsCompletedWronglyFailsItsCheck() throws {
        for sequence in [65_536, 70_000, 4_000_000_000, Fix.maximumSequence] as [UInt32] {
            let bytes = try short(sequence)
            #expect(bytes.count == 27)
            #expect(try self.sequence(of: bytes, around: sequence - 20_000) == sequence)
            for wrong in [0, sequence - 40_000, sequence - 65_536] {
                #expect(throws: DecodeError.crcMismatch) { try decoded(bytes, reference: wrong) }
                var decoder = StreamDecoder()
                var index = 0
                var fix = Fix.sample
                let line = serialForm(of: bytes)
                #expect(!decoder.nextFix(in: line.span, at: &index, log: .sample, reference: wrong, into: &fix))
            }
        }
    }

    @Test func belowSixteenBitsNothingIsAddedToTheCheck() throws {
        let bytes = try short(65_535)
        #expect(bytes == sealed([UInt8](bytes.dropLast(3)), log: .sample))
        #expect(throws: DecodeError.crcMismatch) { try decoded(bytes, reference: 200_000) }
    }

    @Test func theFirstReferenceThatFitsIsTaken() throws {
        let bytes = try short(70_000)
        #expect(reference([4000, 4_000_000_000, 69_000, 70_000], fitting: bytes) == 69_000)
        #expect(reference([4000, 4_000_000_000], fitting: bytes) == nil)
        let wide = try frame(of: .fix(.sample), log: .sample)
        #expect(reference([4_000_000_000, 0], fitting: wide) == 4_000_000_000)
    }

    @Test func aPartialFixIsCompletedToo() throws {
        var fix = Fix.sample
        fix.sequence = 70_001
        fix.altitudeSteps = nil
        let bytes = try frame(of: .fix(fix), log: .sample, reference: 70_000)
        #expect(try decoded(bytes, reference: 70_100) == .fix(fix))
        #expect(throws: DecodeError.crcMismatch) { try decoded(bytes, reference: 0) }
    }

    private func solved(_ frame: [UInt8]) -> UInt32? { FrameCRC.solvedSequence(of: frame.span, log: .sample) }

    @Test func aSequenceIsSolvedFromTheCheck() throws {
        for sequence in [5, 65_535, 65_536, 70_000, 4_000_000_000, Fix.maximumSequence] as [UInt32] {
            #expect(try solved(short(sequence)) == sequence)
        }
        #expect(try solved(frame(of: .fix(.sample), log: .sample)) == nil)
        var damaged = try short(70_000)
        damaged.flip(bit: 100)
        damaged.flip(bit: 105)
        #expect(solved(damaged) != 70_000)
    }

    /// If the payload ends before the sequence, the CRC covers no upper bits, so the reference makes no difference.
    @Test func aFrameThatEndsBeforeItsSequenceIsTruncated() throws {
        for count in 0...2 {
            let payload = [UInt8](repeating: 2, count: count)
            for reference in [0, 4_000_000_000] as [UInt32] {
                let error = #expect(throws: DecodeError.self) {
                    try decoded(sealed(.absoluteFix, payload: payload, log: .sample), reference: reference)
                }
                guard case .truncated = error else {
                    Issue.record("\(count) bytes of payload: \(String(describing: error))")
                    continue
                }
            }
        }
    }
}

/// In each field of a fix the first invalid code is refused, and the last valid code is accepted.
@Suite struct FixFieldCodeTests {
    /// The payload fields of a fix with position step 0, all fields known and whole seconds, and their widths.
    private let usual: [(value: UInt32, width: Int)] = [
        (0, 1), (0, 2), (0, 2), (0, 1), (2, 2), (0, 1), (156, 8), (1_700_000_000, 32), (9_000_000, 25),
        (18_000_000, 26), (1123, 14), (57, 7), (61, 7), (14, 9), (135, 8), (0, 8), (87, 7),
    ]

    /// The error of decoding the usual fix after one change; nil if there is none.
    private func end(_ change: (inout [(value: UInt32, width: Int)]) -> Void) throws -> DecodeError? {
        var fields = usual
        change(&fields)
        var writer = BitWriter()
        for field in fields { writer.write(field.value, field.width) }
        let payload = try [UInt8](capacity: 40) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try writer.finish(into: &output)
        }
        do throws(DecodeError) {
            _ = try decoded(sealed(.absoluteFix, lowByte: 64, payload: payload, log: .sample), reference: 40_000)
            return nil
        } catch {
            return error
        }
    }

    @Test func theUsualFixIsTaken() throws { #expect(try end { _ in } == nil) }

    @Test(arguments: [
        (8, 18_000_000, 18_000_001, .latitude), (9, 36_000_000, 36_000_001, .longitude),
        (11, 126, 127, .horizontalAccuracy), (12, 126, 127, .verticalAccuracy), (14, 179, 180, .course),
        (15, 179, 180, .heading), (16, 100, 101, .battery),
    ] as [(Int, UInt32, UInt32, WireField)])
    func theCodeBehindTheLastIsRefused(_ index: Int, _ last: UInt32, _ beyond: UInt32, _ field: WireField) throws {
        let largest = UInt32.max &>> UInt32(32 - usual[index].width)
        #expect(try end { $0[index].value = last } == nil)
        #expect(try end { $0[index].value = beyond } == .invalidField(field, code: beyond))
        #expect(try end { $0[index].value = largest } == .invalidField(field, code: largest))
    }

    @Test func thePositionStepThreeIsRefused() throws {
        #expect(try end { $0[2].value = 3 } == .invalidField(.positionStep, code: 3))
    }

    @Test func theSourceThreeIsRefused() throws {
        #expect(try end { $0[4].value = 3 } == .invalidField(.source, code: 3))
    }

    @Test func aFractionIsBelowASecond() throws {
        func end(form: UInt32, _ fraction: UInt32, _ width: Int) throws -> DecodeError? {
            try self.end { fields in
                fields[1].value = form
                fields.insert((fraction, width), at: 8)
            }
        }
        #expect(try end(form: 1, 9, 4) == nil)
        #expect(try end(form: 1, 10, 4) == .invalidField(.secondFraction, code: 10))
        #expect(try end(form: 1, 15, 4) == .invalidField(.secondFraction, code: 15))
        #expect(try end(form: 2, 999, 10) == nil)
        #expect(try end(form: 2, 1000, 10) == .invalidField(.secondFraction, code: 1000))
        #expect(try end(form: 2, 1023, 10) == .invalidField(.secondFraction, code: 1023))
    }

    @Test func theSequenceThatIsNeverUsedIsRefused() throws {
        func end(high: UInt32, lowByte: UInt8) throws -> DecodeError? {
            var fix = Fix.sample
            fix.sequence = 0x1000_0000
            let whole = try frame(of: .fix(fix), log: .sample)
            var bytes = Array(whole.dropLast(3))
            bytes[3] = lowByte
            for bit in 0..<24 where (0x10_0000 ^ high) &>> UInt32(23 - bit) & 1 == 1 { bytes.flip(bit: 41 + bit) }
            do throws(DecodeError) {
                _ = try decoded(sealed(bytes, log: .sample))
                return nil
            } catch {
                return error
            }
        }
        #expect(try end(high: 0xFF_FFFF, lowByte: 0xFE) == nil)
        #expect(try end(high: 0xFF_FFFF, lowByte: 0xFF) == .invalidField(.sequence, code: .max))
    }

    /// The error is that the payload ends too early. The decoder does not take the CRC for the rest of the field.
    @Test func aPayloadThatEndsInsideAFieldIsTruncated() throws {
        var random = SeededRandom(seed: 0x7D)
        var other: [DecodeError?] = []
        for _ in 0..<20_000 {
            let fix = Fix(random: &random)
            let whole = try frame(of: .fix(fix), log: .sample)
            let cut = sealed(Array(whole.prefix(4 + random.below(whole.count - 7))), log: .sample)
            do throws(DecodeError) {
                _ = try decoded(cut)
                other.append(nil)
            } catch {
                if error != .truncated(bitOffset: (cut.count - 3) * 8) { other.append(error) }
            }
        }
        #expect(other.isEmpty, "\(other.count) of 20,000: \(other.prefix(5))")
    }

    @Test func whatFollowsTheLastFieldIsRefused() throws {
        let whole = Array(try frame(of: .fix(.sample), log: .sample, reference: 40_000).dropLast(3))
        #expect(throws: DecodeError.trailingBytes(byteOffset: 24)) {
            try decoded(sealed(whole + [0], log: .sample), reference: 40_000)
        }
        var padded = Array(try frame(of: .fix(.sampleWithMilliseconds), log: .sample, reference: 40_000).dropLast(3))
        padded[padded.count - 1] |= 1
        #expect(throws: DecodeError.nonzeroPadding(bitOffset: 202)) {
            try decoded(sealed(padded, log: .sample), reference: 40_000)
        }
    }
}
