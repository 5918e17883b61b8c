import CollarWire
import Sweeps
import Testing

/// A frame of another collar or of another log fails its CRC. So does a frame that lost or gained bytes.
@Suite struct BoundCRCTests {
    @Test func noFrameOfAnotherLogPassesInAMillionTries() throws {
        let samples = try Sample.bound()
        var random = SeededRandom(seed: 0xB0)
        var passed = 0
        for attempt in 0..<500_000 {
            let sample = samples[attempt % samples.count]
            let own = LogIdentity.sample
            let otherDevice = LogIdentity(of: DeviceID(rawValue: random.next()), logID: own.logID.rawValue)
            let otherLog = LogIdentity(of: own.deviceID, logID: UInt32(truncatingIfNeeded: random.next()))
            for other in [otherDevice, otherLog] where other != own {
                if isValid(sample.bytes, log: other) { passed += 1 }
            }
        }
        #expect(passed == 0)
    }

    @Test func noFrameOfAnotherLengthPassesInAMillionTries() throws {
        let samples = try Sample.all()
        var random = SeededRandom(seed: 0xB1)
        var passed = 0
        for attempt in 0..<1_000_000 {
            let sample = samples[attempt % samples.count]
            let other = resized(sample.bytes, &random)
            if isValid(other, log: sample.log) { passed += 1 }
        }
        #expect(passed == 0)
    }

    /// The frame with one to four bytes removed, inserted, repeated, cut off at the end, or added as zeros at the end.
    private func resized(_ frame: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var other = frame
        let count = 1 + random.below(4)
        let place = random.below(frame.count - 3)
        switch random.below(4) {
        case 0: other.removeSubrange(place..<place + count)
        case 1: other.insert(contentsOf: random.bytes(count), at: place)
        case 2: other.insert(contentsOf: other[place..<place + count], at: place)
        default:
            if random.oneIn(2) { other.removeLast(count) } else { other += [UInt8](repeating: 0, count: count) }
        }
        return other
    }

    /// Similar ids, such as consecutive ones, are the most likely to be in use together.
    @Test(arguments: try Sample.bound())
    func noLogWhoseIdsDifferInOneOrTwoBitsIsTakenForTheRightOne(_ sample: Sample) {
        let own = LogIdentity.sample
        var passed = 0
        for first in 0..<90 {
            for second in 0...first {
                var device = own.deviceID.rawValue
                var log = own.logID.rawValue
                for bit in Set([first, second]) {
                    if bit < 64 { device ^= 1 &<< UInt64(bit) } else { log ^= 1 &<< UInt32(bit - 64) }
                }
                let other = LogIdentity(of: DeviceID(rawValue: device), logID: log)
                if isValid(sample.bytes, log: other) { passed += 1 }
            }
        }
        #expect(passed == 0)
    }

    @Test(arguments: try Sample.bound())
    func aBoundFrameIsNotReadWithoutItsLog(_ sample: Sample) {
        #expect(throws: DecodeError.crcMismatch) { try decoded(sample.bytes, log: nil, reference: 0) }
        #expect(!isValid(sample.bytes, log: nil))
    }

    @Test(arguments: try Sample.all().filter { $0.log == nil })
    func aFrameThatIsNotBoundIsReadWithAnyLogAndWithNone(_ sample: Sample) throws {
        let stranger = LogIdentity(of: 5, logID: 5)
        #expect(try decoded(sample.bytes, log: nil, reference: 0) == sample.message)
        #expect(try decoded(sample.bytes, log: stranger, reference: 0) == sample.message)
    }

    @Test func theCheckCoversIdsAndLengthAsTheSpecificationOrdersThem() {
        var check = CRC24()
        check.update(bigEndian: LogIdentity.sample.deviceID.rawValue)
        check.update(bigEndian: LogIdentity.sample.logID.rawValue)
        #expect(LogIdentity.sample.tag == check.checksum)
        let bytes: [UInt8] = [0x22, 0, 7, 9, 1, 2]
        for byte in [UInt8(bytes.count + 3)] + bytes { check.update(byte) }
        #expect(FrameCRC.checksum(of: bytes.span, count: bytes.count, log: .sample) == check.checksum)
    }

    @Test func neitherSixBytesNor254AreAFrame() {
        for count in [0, 1, 6, 254] {
            let bytes = [UInt8](repeating: 0, count: count)
            #expect(!isValid(bytes, log: nil))
        }
    }
}

/// Setting the poll of a finished frame.
@Suite struct SealTests {
    @Test func aFrameGetsOtherFlagsAndTheCheckThatBelongsToThem() throws {
        let asking = FrameFlags(poll: PollNumber(rawValue: 5))
        for log in [LogIdentity.sample, nil] as [LogIdentity?] {
            let message: Message = log == nil ? .probe(Probe(logTag: 7, nextSequence: 9)) : .fix(.sample)
            let expected = try frame(of: message, flags: asking, log: .sample)
            var bytes = try frame(of: message, log: .sample)
            #expect(bytes != expected)
            var span = bytes.mutableSpan
            FrameCRC.seal(&span, flags: asking, log: log)
            #expect(bytes == expected)
        }
    }

    @Test func typesFrom16UpAndThoseOfTheBaseRadioAreNotTheCollars() {
        for raw in 0...31 as ClosedRange<UInt8> {
            guard let type = MessageType(rawValue: raw) else { continue }
            #expect(type.isFromCollar == (raw < 16 && !(10...12).contains(raw)))
        }
    }
}

/// A bare frame with small damage is never accepted.
@Suite struct DamagedFrameTests {
    @Test(arguments: try Sample.all())
    func isWholeBeforeItIsDamaged(_ sample: Sample) throws {
        #expect(isValid(sample.bytes, log: sample.log))
        let message = try decoded(sample.bytes, log: .sample, reference: 40_000)
        #expect(message == sample.message)
    }

    @Test(arguments: try Sample.all())
    func noFrameWithOneOrTwoWrongBitsIsAccepted(_ sample: Sample) {
        var frame = sample.bytes
        var accepted: [[Int]] = []
        for first in 0..<frame.bitCount {
            frame.flip(bit: first)
            if isAccepted(frame, as: sample) { accepted.append([first]) }
            for second in 0..<first {
                frame.flip(bit: second)
                if isAccepted(frame, as: sample) { accepted.append([first, second]) }
                frame.flip(bit: second)
            }
            frame.flip(bit: first)
        }
        #expect(frame == sample.bytes)
        #expect(accepted.isEmpty)
    }

    /// Every pattern that begins and ends with a wrong bit, at every place: up to twelve bits in the shortest frames, eight in others.
    @Test(arguments: try Sample.all())
    func noBurstOfUpToTwelveBitsIsAccepted(_ sample: Sample) throws {
        let shortest = try Sample.all().map(\.bytes.count).min()
        var acceptedCount = 0
        for length in 3...(sample.bytes.count == shortest ? 12 : 8) {
            for inner in 0..<(1 &<< (length - 2)) {
                let pattern = 1 &<< (length - 1) | inner &<< 1 | 1
                for start in 0...sample.bytes.bitCount - length {
                    if isAccepted(burst(pattern, length, at: start, in: sample.bytes), as: sample) {
                        acceptedCount += 1
                    }
                }
            }
        }
        #expect(acceptedCount == 0)
    }

    /// Of all contents of two neighbouring bytes, only the sent content is accepted, at every place after the first byte.
    @Test func ofAllContentsOfTwoBytesOneIsAccepted() throws {
        let sent = try CollarWireTests.frame(of: .identityRequest(IdentityRequest(receiverID: 77)), log: .sample)
        var accepted: [[UInt8]] = []
        for place in 1..<sent.count - 1 {
            var frame = sent
            for content in 0...UInt16.max {
                frame[place] = UInt8(truncatingIfNeeded: content &>> 8)
                frame[place + 1] = UInt8(truncatingIfNeeded: content)
                if isValid(frame, log: nil) { accepted.append(frame) }
            }
        }
        #expect(accepted == Array(repeating: sent, count: sent.count - 2))
    }

    /// Of all 2^24 contents of three neighbouring bytes, only the sent content is accepted.
    @Test(.enabled(if: sweepsAreLong)) func ofAllContentsOfThreeBytesOneIsAccepted() throws {
        var frame = try CollarWireTests.frame(of: .identityRequest(IdentityRequest(receiverID: 77)), log: .sample)
        let sent = frame
        var accepted: [[UInt8]] = []
        for content in 0..<(1 as UInt32) &<< 24 {
            frame[5] = UInt8(truncatingIfNeeded: content &>> 16)
            frame[6] = UInt8(truncatingIfNeeded: content &>> 8)
            frame[7] = UInt8(truncatingIfNeeded: content)
            if isValid(frame, log: nil) { accepted.append(frame) }
        }
        #expect(accepted == [sent])
    }

    /// Whether the frame passes the CRC with the sample's log, or a decoder that relies on the type in the frame accepts it.
    private func isAccepted(_ frame: [UInt8], as sample: Sample) -> Bool {
        if isValid(frame, log: sample.log) { return true }
        do throws(DecodeError) {
            _ = try decoded(frame, log: .sample, reference: 40_000)
            return true
        } catch {
            return false
        }
    }

    private func burst(_ pattern: Int, _ length: Int, at start: Int, in frame: [UInt8]) -> [UInt8] {
        var damaged = frame
        for bit in 0..<length where pattern &>> bit & 1 == 1 { damaged.flip(bit: start + length - 1 - bit) }
        return damaged
    }
}
