import CollarWire
import Testing

/// Hosts that are copies of one another answer a poll differently. Their nonces differ only in the salt.
@Suite struct SaltTests {
    private let log = LogIdentity(of: 0x0123_4567_89AB_CDEF, logID: 7)

    /// The salt and the whole frame with which a copy answers the poll.
    private func answer(_ copy: UInt32, keys: SealingKeys) throws -> (salt: UInt32, frame: [UInt8]) {
        let acknowledgement = Acknowledgement(receiverID: 77, poll: PollNumber(rawValue: 3), firstMissing: copy)
        let frame = try [UInt8](capacity: Frame.minimumLimitByteCount) { output in
            try acknowledgement.encode(address: 9, log: log, into: &output)
            SealedHostFrame.seal(
                &output, poll: FrameNumber(bootCount: 5, counter: 300), index: 0, receiverID: 77, log: log, keys: keys)
        }
        // Header and receiver id come before the salt.
        return (UInt32(frame[8]) << 16 | UInt32(frame[9]) << 8 | UInt32(frame[10]), frame)
    }

    /// 32,768 copies make 536,854,528 pairs, of which 32 are expected to have the same salt of 24 bits.
    @Test(arguments: [1, 2, 3] as [UInt8]) func copiesOfAHostUseTheSameNonceAsOftenAsChanceAllows(keyByte: UInt8) throws {
        let keys = SealingKeys(CollarKey([UInt8](repeating: keyByte, count: 16).span), deviceID: log.deviceID)
        let count = 32_768
        var salts: [UInt32: Int] = [:]
        for copy in 0..<UInt32(count) { salts[try answer(copy, keys: keys).salt, default: 0] += 1 }
        let doubled = salts.values.reduce(0) { $0 + $1 * ($1 - 1) / 2 }
        let expected = Double(count * (count - 1) / 2) / 0x1p24
        #expect(abs(Double(doubled) - expected) <= 3 * expected.squareRoot(), "\(doubled) pairs, \(expected) expected")
    }

    @Test func copiesThatAnswerAlikeSendTheSameFrame() throws {
        let keys = SealingKeys(CollarKey([UInt8](repeating: 1, count: 16).span), deviceID: log.deviceID)
        #expect(try answer(5, keys: keys).frame == answer(5, keys: keys).frame)
    }
}
