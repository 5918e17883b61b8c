import CollarWire
import Testing

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

    /// Every pattern that begins and ends with a wrong bit, at every place.
    @Test(arguments: try Sample.all())
    func noBurstOfUpToTwelveBitsIsAccepted(_ sample: Sample) {
        var acceptedCount = 0
        for length in 3...12 {
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

    /// Of all 2^24 contents of three neighbouring bytes, only the sent content is accepted.
    @Test func ofAllContentsOfThreeBytesOneIsAccepted() throws {
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
