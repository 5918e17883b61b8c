import CollarWire
import Testing

/// Probes and identity requests, encoded and decoded again.
@Suite struct ProbeTests {
    @Test func probesComeBackIn14Bytes() throws {
        for next in [0, 1, 0x1234_5678, .max] as [UInt32] {
            for tag in [0, 1, 0xFF_FFFF] as [UInt32] {
                let sent = Probe(logTag: tag, nextSequence: next)
                let bytes = try frame(of: .probe(sent), log: .sample)
                #expect(bytes.count == 14)
                #expect(try decoded(bytes, log: nil) == .probe(sent))
            }
        }
    }

    @Test func aProbesFieldsStandInOrder() throws {
        let sent = Probe(logTag: 0xABCDEF, nextSequence: 0x0102_0304)
        let bytes = try frame(of: .probe(sent), address: 9, flags: FrameFlags(poll: .first), log: .sample)
        #expect(bytes.dropLast(3).elementsEqual([0x25, 1, 9, 0, 0xAB, 0xCD, 0xEF, 1, 2, 3, 4]))
    }

    @Test func identityRequestsComeBackIn11Bytes() throws {
        for receiverID in [1, 0x1234_5678, .max] as [UInt32] {
            let sent = IdentityRequest(receiverID: receiverID)
            let bytes = try frame(of: .identityRequest(sent), address: 255, log: .sample)
            #expect(bytes.count == 11)
            #expect(bytes.prefix(4) == [0x31, 0, 255, 0])
            #expect(try decoded(bytes, log: nil) == .identityRequest(sent))
        }
    }

    @Test func anIdentityRequestOfReceiverZeroIsNeitherWrittenNorRead() {
        let request = IdentityRequest(receiverID: 0)
        #expect(throws: EncodeError.self) { try frame(of: .identityRequest(request), log: .sample) }
        #expect(throws: DecodeError.self) {
            try decoded(sealed(.identityRequest, payload: [0, 0, 0, 0], log: .sample))
        }
    }

    @Test(arguments: [(MessageType.probe, 7), (.identityRequest, 4)])
    func anotherLengthIsRefused(_ type: MessageType, _ byteCount: Int) {
        for count in 0..<byteCount {
            #expect(throws: DecodeError.truncated(bitOffset: (4 + count) * 8)) {
                try decoded(sealed(type, payload: [UInt8](repeating: 1, count: count), log: .sample))
            }
        }
        for count in byteCount + 1...246 {
            #expect(throws: DecodeError.trailingBytes(byteOffset: 4 + byteCount)) {
                try decoded(sealed(type, payload: [UInt8](repeating: 1, count: count), log: .sample))
            }
        }
    }
}
