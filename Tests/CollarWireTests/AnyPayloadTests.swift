import CollarWire
import Testing

/// Frames with the right CRC and any payload. Decoding ends, and a message that is accepted can be encoded again.
@Suite struct AnyPayloadTests {
    @Test(arguments: (0..<32 as Range<UInt8>).compactMap(MessageType.init))
    func randomPayloads(_ type: MessageType) {
        var random = SeededRandom(seed: 0xA0 + UInt64(type.rawValue))
        for _ in 0..<50_000 {
            let payload = random.bytes(random.below(random.oneIn(20) ? 247 : 45))
            check(sealed(type, lowByte: UInt8(random.below(9)), payload: payload, log: .sample), &random)
        }
    }

    @Test(arguments: try Sample.all())
    func damagedPayloads(_ sample: Sample) {
        var random = SeededRandom(seed: 0xA1)
        for _ in 0..<100_000 {
            var bytes = Array(sample.bytes.dropLast(3))
            for _ in 0..<1 + random.below(3) { bytes.flip(bit: 24 + random.below(bytes.bitCount - 24)) }
            if random.oneIn(4) { bytes.removeLast(random.below(bytes.count - 3)) }
            if random.oneIn(4) { bytes += random.bytes(random.below(4)) }
            check(sealed(bytes, log: sample.log), &random)
        }
    }

    private func check(_ bytes: [UInt8], _ random: inout SeededRandom) {
        let reference = random.anyLength()
        guard let message = try? decoded(bytes, reference: reference) else { return }
        do {
            let written = try frame(of: message, flags: FrameFlags(poll: nil), log: .sample)
            let again = try decoded(written, reference: reference)
            if again != message, !again.begins(message) { Issue.record("\(message) was written as \(written) and read as \(again)") }
        } catch {
            Issue.record("\(message) was read and cannot be written or read again: \(error)")
        }
    }
}

extension Message {
    /// Whether this batch holds only the first fixes of `other`. A receiver accepts batches that a sender would encode in more
    /// bytes, so not all of their fixes may fit into a frame again.
    fileprivate func begins(_ other: Message) -> Bool {
        guard let fixes = batchedFixes, let others = other.batchedFixes, fixes.count < others.count else { return false }
        return others.starts(with: fixes)
    }
}
