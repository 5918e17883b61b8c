import CollarWire
import Testing

/// If its output is too small, an encoder writes nothing, and its error names the size that it needs.
@Suite struct EncoderRoomTests {
    /// Encodes a message into an output of `room` bytes. Returns the error, and the number of bytes written.
    private func attempt(_ message: Message, room: Int) -> (error: EncodeError?, written: Int) {
        var error: EncodeError?
        var written = 0
        _ = [UInt8](capacity: room) { output in
            do throws(EncodeError) {
                try message.encode(
                    address: 7, flags: FrameFlags(poll: nil), log: .sample, reference: 40_000, into: &output)
            } catch let thrown {
                error = thrown
            }
            written = output.count
        }
        return (error, written)
    }

    @Test(arguments: try Sample.all())
    func whatFitsFillsItsRoomExactly(_ sample: Sample) {
        for room in sample.bytes.count...300 {
            let result = attempt(sample.message, room: room)
            #expect(result.error == nil)
            #expect(result.written == sample.bytes.count)
        }
    }

    @Test(arguments: try Sample.all().filter { !$0.leavesSomethingOut })
    func whatDoesNotFitIsNotBegun(_ sample: Sample) {
        for room in 0..<sample.bytes.count {
            let result = attempt(sample.message, room: room)
            #expect(result.error == .frameTooSmall(neededByteCount: sample.bytes.count))
            #expect(result.written == 0)
        }
    }

    @Test(arguments: try Sample.all().filter(\.leavesSomethingOut))
    func whatLeavesSomethingOutSaysTheLeastItNeeds(_ sample: Sample) {
        let least = (0...sample.bytes.count).first { attempt(sample.message, room: $0).error == nil }
        let attempts = (0..<(least ?? 0)).map { attempt(sample.message, room: $0) }
        #expect(attempts.allSatisfy { $0.error == .frameTooSmall(neededByteCount: least ?? 0) })
        #expect(attempts.allSatisfy { $0.written == 0 })
        for room in (least ?? 0)...sample.bytes.count { #expect(attempt(sample.message, room: room).written <= room) }
    }

    @Test func everyFixNeedsWhatItSays() {
        var random = SeededRandom(seed: 0x700)
        for _ in 0..<5_000 {
            let fix = Fix(random: &random)
            let needed = FixSize.frameByteCount(fix, isWide: abs(Int64(fix.sequence) - 40_000) >= 32_768)
            let room = random.below(needed)
            #expect(attempt(.fix(fix), room: room).error == .frameTooSmall(neededByteCount: needed))
            #expect(attempt(.fix(fix), room: needed).written == needed)
        }
    }
}

extension Sample {
    fileprivate var leavesSomethingOut: Bool {
        switch message {
        case .acknowledgement, .tombstone, .batch: true
        default: false
        }
    }
}
