import CollarWire
import Testing

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
