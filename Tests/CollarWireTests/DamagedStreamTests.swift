import CollarWire
import Testing

/// One or two wrong bits on a serial line never yield a frame that was not sent.
@Suite struct DamagedStreamTests {
    /// The results for all damaged copies of a stream that holds a frame and its successor.
    private struct Harm {
        var caseCount = 0
        /// Frames that a decoder accepts although they were not sent.
        var forged: [[UInt8]] = []
        var lostSuccessors = 0
    }

    @Test(arguments: try Sample.all())
    func noFrameIsForgedAndTheNextOneIsFound(_ sample: Sample) throws {
        let successor = try frame(of: .identityRequest(IdentityRequest(receiverID: 0xBEEF)), log: .sample)
        var damaged = serialForm(of: sample.bytes)
        let bitCount = damaged.bitCount
        damaged += serialForm(of: successor)
        var harm = Harm()
        decode(damaged, sample, successor, &harm)
        for first in 0..<bitCount {
            damaged.flip(bit: first)
            decode(damaged, sample, successor, &harm)
            for second in 0..<first {
                damaged.flip(bit: second)
                decode(damaged, sample, successor, &harm)
                damaged.flip(bit: second)
            }
            damaged.flip(bit: first)
        }
        #expect(harm.caseCount == 1 + bitCount + bitCount * (bitCount - 1) / 2)
        #expect(harm.forged.isEmpty)
        #expect(harm.lostSuccessors == 0)
    }

    private func decode(_ stream: [UInt8], _ sample: Sample, _ successor: [UInt8], _ harm: inout Harm) {
        harm.caseCount += 1
        var decoder = StreamDecoder()
        var index = 0
        var isSuccessorFound = false
        while let event = decoder.next(in: stream.span, at: &index) {
            guard event == .frame else { continue }
            let frame = decoder.frame
            if isEqual(frame, successor) {
                isSuccessorFound = true
            } else if !isEqual(frame, sample.bytes) {
                let isAccepted = (try? Message.decode(frame, log: .sample, reference: 40_000)) != nil
                if isAccepted { harm.forged.append([UInt8](copying: frame)) }
            }
        }
        if !isSuccessorFound { harm.lostSuccessors += 1 }
    }
}
