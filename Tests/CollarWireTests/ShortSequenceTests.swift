import CollarWire
import Testing

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
