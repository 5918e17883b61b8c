import CollarWire
import Testing

/// Identities, encoded and decoded again.
@Suite struct IdentityTests {
    private func identity(_ change: (inout Identity) -> Void) -> Identity {
        var identity = Identity.sample
        change(&identity)
        return identity
    }

    private func written(_ identity: Identity) throws -> [UInt8] {
        Array(try frame(of: .identity(identity), log: .sample).dropFirst(4).dropLast(3))
    }

    private func end(_ payload: [UInt8]) -> DecodeError? {
        do throws(DecodeError) {
            let message = try decoded(sealed(.identity, payload: payload, log: .sample))
            #expect(message == .identity(.sample))
            return nil
        } catch {
            return error
        }
    }

    @Test func randomIdentitiesComeBack() throws {
        var random = SeededRandom(seed: 0x1D)
        for _ in 0..<10_000 {
            let next = random.anyLength()
            let sent = Identity(
                log: LogIdentity(of: DeviceID(rawValue: random.next()), logID: random.anyLength()), bootCount: random.anyLength(),
                oldestSequence: random.edgy(in: 0...next, edges: []), nextSequence: next,
                pairedReceiverID: random.anyLength(),
                maximumFrameByteCount: random.edgy(in: 51...253, edges: []),
                firmwareVersion: FirmwareVersion(major: random.byte(), minor: random.byte(), patch: random.byte()),
                capabilities: Capabilities(rawValue: random.edgy(in: 0...(.max), edges: [])),
                heartbeatSeconds: random.edgy(in: 0...(.max), edges: []),
                deliveredElsewhere: random.edgy(in: 0...next, edges: [0]))
            let bytes = try frame(of: .identity(sent), log: .sample)
            #expect(bytes.count == (sent.deliveredElsewhere == 0 ? 43 : 47))
            #expect(try decoded(bytes, log: nil) == .identity(sent))
        }
    }

    @Test func theFieldsStandInTheOrderOfTheSpecification() throws {
        let bytes = try frame(of: .identity(.sample), address: 9, flags: FrameFlags(poll: .first), log: .sample)
        let head: [UInt8] = [0x21, 1, 9, 0, 0x00, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0xF6, 0x07, 0xAA, 0xF3, 0x7B, 0xC0]
        let sequences: [UInt8] = [0, 0, 0, 12, 0, 0, 0x98, 0x58, 0, 0, 0x9C, 0x41, 0x12, 0x34, 0x56, 0x78]
        let tail: [UInt8] = [51, 1, 2, 3, 0, 5, 0, 60]
        #expect(bytes.dropLast(3).elementsEqual(head + sequences + tail))
    }

    @Test func aLargestFrameOutside51To253IsRefused() throws {
        for limit in [0, 50, 254, 255] as [UInt8] {
            let wrong = identity { $0.maximumFrameByteCount = limit }
            #expect(throws: EncodeError.field(.frameLimit, value: UInt32(limit))) {
                try frame(of: .identity(wrong), log: .sample)
            }
            var payload = try written(.sample)
            payload[28] = limit
            #expect(end(payload) == .invalidField(.frameLimit, code: UInt32(limit)))
        }
        for limit in [51, 253] as [UInt8] {
            #expect(throws: Never.self) { try written(identity { $0.maximumFrameByteCount = limit }) }
        }
    }

    @Test func theOldestSequenceIsNotAboveTheNext() throws {
        let empty = identity { $0.oldestSequence = $0.nextSequence }
        #expect(throws: Never.self) { try written(empty) }
        let wrong = identity { $0.oldestSequence = $0.nextSequence + 1 }
        #expect(throws: EncodeError.field(.sequence, value: 40_002)) { try written(wrong) }
        var payload = try written(.sample)
        payload[19] = 0x42
        payload[18] = 0x9C
        #expect(end(payload) == .invalidField(.sequence, code: 40_002))
    }

    @Test func deliveredElsewhereStandsBehindTheHeartbeat() throws {
        let plain = try written(.sample)
        let bytes = try written(identity { $0.deliveredElsewhere = 0x9C41 })
        #expect(bytes == plain + [0, 0, 0x9C, 0x41])
        let wrong = identity { $0.deliveredElsewhere = $0.nextSequence + 1 }
        #expect(throws: EncodeError.field(.sequence, value: 40_002)) { try written(wrong) }
    }

    @Test(arguments: [
        ([0, 0, 0], 0), ([0, 0, 0, 0], 0), ([0, 0, 0, 1], 1), ([0, 0, 0x9C, 0x41], 40_001), ([0, 0, 0x9C, 0x42], 0),
        ([0, 0, 1, 0, 0xFF], 256),
    ] as [([UInt8], UInt32)])
    func whatFollowsTheHeartbeatIsDeliveredElsewhere(following: [UInt8], value: UInt32) throws {
        let message = try decoded(sealed(.identity, payload: try written(.sample) + following, log: .sample))
        #expect(message == .identity(identity { $0.deliveredElsewhere = value }))
    }

    @Test func reservedBitsAndWhatFollowsAreIgnored() throws {
        var payload = try written(.sample)
        payload[11] |= 0x3F
        #expect(end(payload) == nil)
        for count in [1, 2, 100, 210] {
            #expect(end(payload + [UInt8](repeating: 0xA5, count: count)) == nil)
        }
    }

    @Test func aPayloadThatEndsInsideAFieldIsTruncated() throws {
        let payload = try written(.sample)
        for count in 0..<payload.count {
            #expect(end(Array(payload.prefix(count))) == .truncated(bitOffset: (4 + count) * 8))
        }
    }

    @Test func capabilitiesContainTheirBits() {
        let both = Capabilities(rawValue: 0b101)
        #expect(both.contains(.compass))
        #expect(!both.contains(.sounder))
        #expect(both.contains(.listenBeforeTalk))
    }
}

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
