import CollarWire
import Testing

/// An invalid batch is refused as a whole, with the error that PROTOCOL.md names.
@Suite struct BatchRejectionTests {
    private static func track(_ count: Int) -> [Fix] {
        (0..<UInt32(count)).map { place in
            var fix = Fix.sample
            fix.sequence += place
            fix.unixMilliseconds += 1000 * Int64(place)
            fix.latitudeSteps += Int32(place)
            return fix
        }
    }

    private func end(_ headerAndPayload: [UInt8]) -> DecodeError? {
        do throws(DecodeError) {
            _ = try decoded(sealed(headerAndPayload, log: .sample))
            return nil
        } catch {
            return error
        }
    }

    @Test func aPayloadThatEndsWithinTheStartIsCutOff() throws {
        let bytes = Array(try batch(of: Self.track(9)).frame.dropLast(3))
        let startEnd = 4 + (5 + FixSize.payloadBitCount(.sample, isWide: true) + 7) / 8
        for count in 4..<startEnd {
            #expect(end(Array(bytes.prefix(count))) == .truncated(bitOffset: 8 * count))
        }
        // After the end of the payload, zeros are read. Whatever they decode to, the frame does not count as truncated.
        for count in startEnd..<bytes.count { #expect(end(Array(bytes.prefix(count)))?.name.description != "truncated") }
    }

    @Test func faultsOfTheStartHaveTheNamesOfAnAbsoluteFix() throws {
        let bytes = Array(try batch(of: Self.track(2)).frame.dropLast(3))
        func refused(_ change: (inout [UInt8]) -> Void) -> DecodeError? {
            var changed = bytes
            change(&changed)
            return end(changed)
        }
        // Fields from byte 4 on: count (6 bits), partial, time form (2), position step (2), altitude step, source (2).
        #expect(refused { $0[5] |= 0x60 } == .invalidField(.positionStep, code: 3))
        #expect(refused { $0[5] |= 0x0C } == .invalidField(.source, code: 3))
        #expect(
            refused { bytes in
                bytes[3] = 0xFF
                bytes[5] |= 0x03
                bytes[6] = 0xFF
                bytes[7] = 0xFF
                bytes[8] |= 0xFC
            } == .invalidField(.sequence, code: .max))
    }

    /// Noise replaces the end of the coded part. If a fix is then out of range, the whole frame is invalid, although
    /// the fixes before that fix are valid.
    @Test func oneInvalidFixMakesTheWholeFrameInvalid() throws {
        var random = SeededRandom(seed: 0xBAD)
        var laterFaults = 0
        var names: Set<String> = []
        for _ in 0..<30_000 {
            let track = Fix.track(12, wildness: random.below(11), random: &random)
            var bytes = Array(try batch(of: track).frame.dropLast(3))
            let startEnd = 4 + (5 + FixSize.payloadBitCount(track[0], isWide: true) + 7) / 8
            bytes[4] |= 0xFC
            let noise = startEnd + random.below(max(1, bytes.count - startEnd))
            bytes = bytes.prefix(noise) + random.bytes(random.below(min(60, 250 - noise)))
            let frame = sealed(bytes, log: .sample)
            let header = try FrameHeader(frame.span)
            var decoder = try BatchDecoder(frame.span, header: header)
            var count = 0
            var fault: DecodeError?
            do throws(DecodeError) {
                while try decoder.next() != nil { count += 1 }
            } catch { fault = error }
            #expect(end(bytes) == fault)
            guard let fault else { continue }
            names.formUnion(fault.fieldNames)
            if count > 1 { laterFaults += 1 }
            if case .invalidField(_, let place) = fault { #expect(place == UInt32(count)) }
        }
        #expect(laterFaults > 1000)
        #expect(names.isSuperset(of: ["sequence", "source", "difference"]))
    }

    /// After a valid start, any coded part decodes to fixes in their ranges, or causes an error.
    @Test func anyNumberEndsInFixesOrAnError() throws {
        var random = SeededRandom(seed: 0xBAE)
        var readCount = 0
        for round in 0..<60_000 {
            let start = Fix(random: &random)
            var bytes = Array(try batch(of: [start]).frame.dropLast(3))
            let filling: [UInt8] =
                switch round % 4 {
                case 0: [UInt8](repeating: 0xFF, count: random.below(200))
                case 1: random.bytes(random.below(200))
                case 2: (0..<random.below(200)).map { _ in random.oneIn(2) ? 0 : 0xFF }
                default: []
                }
            bytes = bytes + filling
            bytes[4] = bytes[4] & 3 | UInt8(random.below(64)) << 2
            guard let fixes = try? decoded(sealed(bytes, log: .sample)).batchedFixes else { continue }
            readCount += fixes.count
            #expect(fixes.count == Int(bytes[4] >> 2) + 1)
            for fix in fixes { try fix.validate() }
            for (before, after) in zip(fixes, fixes.dropFirst()) { #expect(before.sequence < after.sequence) }
        }
        #expect(readCount > 20_000)
    }
}
