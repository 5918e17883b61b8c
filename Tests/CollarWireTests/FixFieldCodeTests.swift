import CollarWire
import Testing

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
