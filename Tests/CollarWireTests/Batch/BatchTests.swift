import CollarWire
import Glibc
import Testing

/// A batch decodes to the fixes that were encoded, and holds as many fixes as fit.
@Suite struct BatchTests {
    @Test(arguments: 0...10)
    func everyFixComesBack(_ wildness: Int) throws {
        var random = SeededRandom(seed: 0xBA7C + UInt64(wildness))
        var fixCount = 0
        var wrong: [Fix] = []
        while fixCount < 20_000 {
            var fixes = Fix.track(1 + random.below(80), wildness: wildness, random: &random)
            let room = random.oneIn(3) ? 253 : 51 + random.below(203)
            while !fixes.isEmpty {
                let written = try batch(of: fixes, room: room, most: random.oneIn(4) ? 1 + random.below(64) : .max)
                #expect(written.frame.count <= room)
                let sent = Array(fixes.prefix(written.count))
                let read = try decoded(written.frame)
                if read.batchedFixes != sent { wrong.append(sent[0]) }
                fixes.removeFirst(written.count)
                fixCount += written.count
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) batches, the first at \(wrong.prefix(1))")
    }

    @Test func everyFieldReachesItsLimitsFromItsLimits() throws {
        var random = SeededRandom(seed: 0xBA80)
        for _ in 0..<20_000 {
            let low = Fix(random: &random)
            var high = Fix(random: &random)
            guard low.sequence < Fix.maximumSequence else { continue }
            high.sequence = random.edgy(in: low.sequence + 1...Fix.maximumSequence, edges: [])
            high.positionStep = low.positionStep
            high.altitudeStep = low.altitudeStep
            let quarter = low.positionStep.stepsPerQuarterTurn
            high.latitudeSteps = random.edgy(in: -quarter...quarter, edges: [])
            high.longitudeSteps = random.edgy(in: -2 * quarter...2 * quarter, edges: [])
            let written = try batch(of: [low, high])
            #expect(written.count == 2)
            #expect(try decoded(written.frame).batchedFixes == [low, high])
        }
    }

    @Test func aBatchHoldsAsManyAsFitEveryLimit() throws {
        var random = SeededRandom(seed: 0xBA81)
        for room in Frame.minimumLimitByteCount...Frame.maximumByteCount {
            for wildness in [0, 1, 10] {
                let fixes = Fix.track(65, wildness: wildness, random: &random)
                let written = try batch(of: fixes, room: room)
                #expect(written.frame.count <= room)
                #expect(written.frame[4] >> 2 == UInt8(written.count - 1))
                guard written.count < min(fixes.count, 64) else { continue }
                // One more fix would not have fitted.
                let more = try? batch(of: fixes, room: Frame.maximumByteCount, most: written.count + 1)
                #expect(more.map { $0.count <= written.count || $0.frame.count > room } == true)
            }
        }
    }

    @Test func aBatchIsWrittenInTheFewestBytesAndTheSmallestNumber() throws {
        var random = SeededRandom(seed: 0xBA82)
        for round in 0..<4000 {
            let fixes = Fix.track(1 + random.below(12), wildness: round % 11, random: &random)
            let written = try batch(of: fixes)
            let fixesOfIt = Array(fixes.prefix(written.count))
            let headerAndPayload = Array(written.frame.dropLast(3))
            let startBits = 6 + FixSize.payloadBitCount(fixes[0], isWide: true) - 1
            let startEnd = 4 + (startBits + 7) / 8
            if written.count == 1 { #expect(headerAndPayload.count == startEnd) }
            guard headerAndPayload.count > startEnd else { continue }
            let others = [
                below(headerAndPayload), shorter(headerAndPayload, plus: 0), shorter(headerAndPayload, plus: 1),
            ]
            for other in others {
                // Neither the next lower number nor one of the two nearest shorter numbers may decode to the same fixes.
                guard (try? decoded(sealed(other, log: .sample)).batchedFixes) == fixesOfIt else { continue }
                Issue.record("\(other) stands for the same fixes as \(headerAndPayload)")
            }
        }
    }

    /// The next lower number, in the same number of bytes.
    private func below(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        var index = bytes.count - 1
        while bytes[index] == 0 {
            bytes[index] = 0xFF
            index -= 1
        }
        bytes[index] -= 1
        return bytes
    }

    /// The number without its last byte: rounded down if `carry` is 0, rounded up if it is 1.
    private func shorter(_ bytes: [UInt8], plus carry: UInt8) -> [UInt8] {
        var bytes = Array(bytes.dropLast())
        var index = bytes.count - 1
        guard carry > 0 else { return bytes }
        while bytes[index] == 0xFF {
            bytes[index] = 0
            index -= 1
        }
        bytes[index] += 1
        return bytes
    }

    @Test func aBatchOfOneIsItsStart() throws {
        var random = SeededRandom(seed: 0xBA83)
        for _ in 0..<5000 {
            let fix = Fix(random: &random)
            let written = try batch(of: [fix], room: Frame.minimumLimitByteCount)
            #expect(written.count == 1)
            #expect(written.frame.count == 7 + (5 + FixSize.payloadBitCount(fix, isWide: true) + 7) / 8)
            #expect(written.frame[3] == UInt8(truncatingIfNeeded: fix.sequence))
            #expect(try decoded(written.frame).batchedFixes == [fix])
        }
    }

    @Test func aBatchEndsBehind64() throws {
        var random = SeededRandom(seed: 0xBA84)
        var fixes: [Fix] = []
        while fixes.count < 70 { fixes = Fix.track(70, wildness: 0, random: &random) }
        #expect(try batch(of: fixes).count == 64)
        for most in 1...64 { #expect(try batch(of: fixes, most: most).count == most) }
    }

    @Test func aBatchEndsBeforeWhatCannotStandInIt() throws {
        let changes: [(inout Fix) -> Void] = [
            {
                $0.positionStep = .e6
                $0.source = $0.source == .collar ? .watchOS : .collar
            }, { $0.altitudeStep = .decimeter }, { $0.sequence = 40_001 },
            { $0.sequence = 40_000 }, { $0.sequence = 7 }, { $0.sequence = .max }, { $0.batteryPercent = 101 },
            { $0.latitudeSteps = 9_000_001 }, { $0.unixMilliseconds = .max },
        ]
        for change in changes {
            var fixes = (0..<5 as Range<UInt32>).map { place in
                var fix = Fix.sample
                fix.sequence += place
                return fix
            }
            change(&fixes[2])
            #expect(try batch(of: fixes).count == 2)
        }
    }

    /// A walk at 1 Hz whose accuracy is now 0.95 m, now 1.13 m. Every change of the step once cut the batch.
    @Test func alternatingPositionStepsCostLittle() throws {
        var byteCount = 0
        for seed in 0..<8 as Range<UInt64> {
            var rest = walk(seed)[...]
            while !rest.isEmpty {
                let written = try batch(of: Array(rest.prefix(64)))
                byteCount += written.frame.count
                rest = rest.dropFirst(written.count)
            }
        }
        #expect(Double(byteCount) / (8 * 640) <= 2.6)
    }

    private func walk(_ seed: UInt64) -> [Fix] {
        var random = SeededRandom(seed: seed)
        var (north, east, speed, course) = (37.7, -122.4, 1.3, 60.0)
        return (0..<640 as Range<UInt32>).map { place in
            let noise = { (Double(random.below(2001)) + Double(random.below(2001))) / 2000 - 1 }
            speed = max(0, min(2.5, speed + 0.2 * noise()))
            course = (course + 15 * noise() + 360).truncatingRemainder(dividingBy: 360)
            north += speed * cos(course * .pi / 180) / 111_195
            east += speed * sin(course * .pi / 180) / 111_195 / cos(north * .pi / 180)
            let step = place % 2 == 0 ? PositionStep.e5 : .e6
            let scale = Double(step.stepsPerQuarterTurn) / 90
            return Fix(
                sequence: place, unixMilliseconds: 1_700_000_000_000 + 1000 * Int64(place), positionStep: step,
                latitudeSteps: Int32((north * scale).rounded()), longitudeSteps: Int32((east * scale).rounded()),
                altitudeSteps: 10, horizontalAccuracy: AccuracyCode(rawValue: step == .e5 ? 38 : 36),
                verticalAccuracy: AccuracyCode(rawValue: 40), speedDecimetersPerSecond: UInt32((speed * 10).rounded()),
                course: AngleCode(steps: UInt8(course / 2)), batteryPercent: UInt8(80 - place / 200))
        }
    }

    @Test func aBatchBeginsWithAFixThatIsInRange() {
        var fix = Fix.sample
        fix.batteryPercent = 101
        #expect(throws: EncodeError.field(.battery, value: 101)) { try batch(of: [fix]) }
    }

    @Test func whatDoesNotFitIsNotBegun() throws {
        let needed = try batch(of: [.sample]).frame.count
        for room in 0..<needed {
            #expect(throws: EncodeError.frameTooSmall(neededByteCount: needed)) { try batch(of: [.sample], room: room) }
        }
        #expect(try batch(of: [.sample, .sampleWithMilliseconds], room: needed).count == 1)
    }

    @Test func aLongNumberOfZeroBytesIsNotSent() throws {
        // A sender leaves out zero bytes at the end. A receiver accepts them, and ignores all bytes after the last fix.
        var random = SeededRandom(seed: 0xBA85)
        for _ in 0..<2000 {
            let fixes = Fix.track(1 + random.below(20), wildness: 3, random: &random)
            let written = try batch(of: fixes)
            let payload = Array(written.frame.dropLast(3))
            let room = Frame.maximumByteCount - written.frame.count
            let longer = payload + [UInt8](repeating: 0, count: min(room, 1 + random.below(9)))
            #expect(try decoded(sealed(longer, log: .sample)) == decoded(written.frame))
            let ignored = payload + [0, 0, 0, 0] + random.bytes(4)
            guard ignored.count + 3 <= Frame.maximumByteCount else { continue }
            #expect(try decoded(sealed(ignored, log: .sample)) == decoded(written.frame))
        }
    }
}

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
        for _ in 0..<10_000 {
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
        #expect(laterFaults > 300)
        #expect(names.isSuperset(of: ["sequence", "source", "difference"]))
    }

    /// After a valid start, any coded part decodes to fixes in their ranges, or causes an error.
    @Test func anyNumberEndsInFixesOrAnError() throws {
        var random = SeededRandom(seed: 0xBAE)
        var readCount = 0
        for round in 0..<20_000 {
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
        #expect(readCount > 6_000)
    }
}
