import CollarWire
import Testing

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
