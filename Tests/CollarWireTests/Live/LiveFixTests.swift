import CollarWire
import Testing

/// A live fix can be decoded with its anchor, and with no other fix.
@Suite struct LiveFixTests {
    private static let anchor = Fix.sample

    private static var fix: Fix {
        var fix = anchor
        fix.sequence += 3
        fix.unixMilliseconds += 3000
        fix.latitudeSteps += 17
        fix.longitudeSteps -= 9
        fix.batteryPercent = 86
        return fix
    }

    private func written(
        _ fix: Fix = LiveFixTests.fix, anchor: Fix = LiveFixTests.anchor, log: LogIdentity = .sample, room: Int = 253
    ) throws(EncodeError) -> [UInt8] {
        try frame(room: room) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try LiveFix.encode(
                fix, anchor: anchor, address: 7, flags: FrameFlags(poll: .first), log: log, into: &output)
        }
    }

    /// The fix that a receiver decodes if it has `anchor` as the fix with the anchor sequence of the frame; nil if it decodes
    /// none.
    private func read(
        _ bytes: [UInt8], anchor: Fix, log: LogIdentity = .sample, reference: UInt32
    ) -> Fix? {
        guard let header = try? FrameHeader(bytes.span), header.type == .liveFix,
            let names = LiveFix.sequences(of: bytes.span, header: header, reference: reference)
        else { return nil }
        var named = anchor
        named.sequence = names.anchor
        return try? LiveFix.decode(bytes.span, sequence: names.sequence, anchor: named, log: log)
    }

    @Test func everyFixComesBackFromEveryAnchorOrAsksForMoreRoom() {
        var random = SeededRandom(seed: 0x11FE)
        var wrong: [Fix] = []
        for _ in 0..<30_000 {
            var anchor = Fix(random: &random)
            let fix = Fix(random: &random)
            guard fix.sequence > 0 else { continue }
            let distance = 1 + random.anyLength() % min(fix.sequence, 0x7FFF_FFFF)
            anchor.sequence = fix.sequence - distance
            let lead = Int64(random.below(255)) - 127
            let reference = UInt32(clamping: Int64(fix.sequence) + lead)
            guard let bytes = try? written(fix, anchor: anchor) else {
                wrong.append(fix)
                continue
            }
            if read(bytes, anchor: anchor, reference: reference) != fix { wrong.append(fix) }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of 30,000: \(wrong.prefix(2))")
    }

    @Test func noFrameWithOneOrTwoWrongBitsIsAccepted() throws {
        var bytes = try written()
        #expect(read(bytes, anchor: Self.anchor, reference: 40_000) == Self.fix)
        var accepted: [[Int]] = []
        for first in 0..<bytes.bitCount {
            for second in 0...first {
                bytes.flip(bit: first)
                if second < first { bytes.flip(bit: second) }
                let isWhole = (try? decoded(bytes, reference: 40_000)) != nil
                if isWhole || read(bytes, anchor: Self.anchor, reference: 40_000) != nil {
                    accepted.append([first, second])
                }
                if second < first { bytes.flip(bit: second) }
                bytes.flip(bit: first)
            }
        }
        #expect(accepted.isEmpty)
    }

    @Test func noFrameOfAnotherAnchorOrLogPassesInAHundredThousandTries() throws {
        let bytes = try written()
        var random = SeededRandom(seed: 0x11FF)
        var passed = 0
        for _ in 0..<50_000 {
            let anchor = Fix(random: &random)
            if read(bytes, anchor: anchor, reference: 40_000) != nil { passed += 1 }
            let log = LogIdentity(of: DeviceID(rawValue: random.next()), logID: UInt32(truncatingIfNeeded: random.next()))
            if read(bytes, anchor: Self.anchor, log: log, reference: 40_000) != nil { passed += 1 }
        }
        #expect(passed == 0)
    }

    @Test func anAnchorThatDiffersInOneCodeIsNotTheAnchor() throws {
        let bytes = try written()
        let changes: [(inout Fix) -> Void] = [
            { $0.unixMilliseconds += 1 }, { $0.source = .iOS }, { $0.latitudeSteps += 1 }, { $0.longitudeSteps -= 1 },
            { $0.altitudeStep = .decimeter }, { $0.altitudeSteps = nil }, { $0.speedDecimetersPerSecond = 15 },
            { $0.horizontalAccuracy = nil }, { $0.verticalAccuracy = nil }, { $0.course = nil },
            { $0.heading = AngleCode(steps: 1) }, { $0.batteryPercent = 86 }, { $0.positionStep = .e6 },
        ]
        for change in changes {
            var other = Self.anchor
            change(&other)
            #expect(read(bytes, anchor: other, reference: 40_000) == nil)
        }
    }

    @Test func anAnchorIsOlder() {
        for sequence in [Self.fix.sequence, Self.fix.sequence + 1] {
            var anchor = Self.anchor
            anchor.sequence = sequence
            #expect(throws: EncodeError.field(.sequence, value: sequence)) { try written(anchor: anchor) }
        }
    }

    @Test func whatDoesNotFitIsNotBegun() throws {
        let needed = try written().count
        for room in 0..<needed {
            #expect(throws: EncodeError.frameTooSmall(neededByteCount: needed)) { try written(room: room) }
        }
        #expect(try written(room: needed).count == needed)
    }

    /// Decoding a frame with the right header and any payload neither crashes nor hangs.
    @Test func anyPayloadEnds() {
        var random = SeededRandom(seed: 0x1200)
        var named = 0
        for _ in 0..<200_000 {
            let bytes = sealed(.liveFix, lowByte: random.byte(), payload: random.bytes(random.below(40)), log: .sample)
            let header = try? FrameHeader(bytes.span)
            if let header, LiveFix.sequences(of: bytes.span, header: header, reference: random.anyLength()) != nil {
                named += 1
            }
            _ = read(bytes, anchor: Self.anchor, reference: random.anyLength())
        }
        #expect(named > 1000)
    }
}
