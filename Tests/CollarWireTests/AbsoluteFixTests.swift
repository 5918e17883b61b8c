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
