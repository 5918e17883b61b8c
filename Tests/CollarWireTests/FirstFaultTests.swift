import CollarWire
import Testing

/// Of several faults of a frame, the first one counts (section 21).
@Suite struct FirstFaultTests {
    private func end(_ type: MessageType, _ payload: Payload, lowByte: UInt8 = 0) -> DecodeError? {
        do throws(DecodeError) {
            _ = try decoded(sealed(type, lowByte: lowByte, payload: payload.bytes, log: .sample))
            return nil
        } catch {
            return error
        }
    }

    @Test func theFirstInvalidFieldCounts() throws {
        let acknowledgement = try Payload(.bits(0, 32), .bits(5, 32), .bits(63, 6), .bits(33, 6))
        #expect(end(.acknowledgement, acknowledgement, lowByte: 9) == .invalidField(.poll, code: 9))
        #expect(end(.acknowledgement, acknowledgement) == .invalidField(.receiver, code: 0))
        #expect(end(.command, try Payload(.bits(1, 16), .bits(0, 32), .bits(99, 8))) == .invalidField(.receiver, code: 0))
        #expect(end(.command, try Payload(.bits(1, 16), .bits(1, 32), .bits(6, 8), .bits(0, 32), .bits(1, 8)))
            == .invalidField(.receiver, code: 0))
    }

    @Test func anInvalidFieldCountsBeforeWhatIsMissingBehindIt() throws {
        #expect(end(.acknowledgement, try Payload(.bits(0, 32))) == .invalidField(.receiver, code: 0))
        #expect(end(.command, try Payload(.bits(1, 16), .bits(7, 32), .bits(8, 8), .bits(1, 8)))
            == .invalidField(.command, code: 8))
        let update = try Payload(.bits(1, 16), .bits(0, 32), .bits(1, 32), .bits(7, 8), .bits(1, 8))
        #expect(end(.settingsUpdate, update) == .invalidField(.entryCount, code: 7))
    }

    @Test func aFieldThatIsNotThereCompletelyIsNotInvalid() throws {
        #expect(end(.acknowledgement, try Payload(.bits(0, 24))) == .truncated(bitOffset: 32 + 24))
        #expect(end(.command, try Payload(.bits(1, 16), .bits(0, 24))) == .truncated(bitOffset: 32 + 40))
    }

    @Test func aRangeBehindAnInvalidOneIsNotRead() throws {
        // The second of three durable ranges reaches below the first missing sequence, and the third is cut off.
        let payload = try Payload(
            .bits(1, 32), .bits(100, 32), .bits(3, 6), .bits(0, 6), .gamma(10), .gamma(2), .gamma(5), .gamma(50))
        #expect(end(.acknowledgement, payload) == .invalidField(.range, code: 50))
    }

    @Test func aDurableRangeBelowSequenceZeroIsRefused() throws {
        let payload = try Payload(
            .bits(1, 32), .bits(100, 32), .bits(2, 6), .bits(0, 6), .gamma(10), .gamma(2), .gamma(5000), .gamma(1))
        #expect(end(.acknowledgement, payload) == .invalidField(.range, code: 1))
    }

    @Test func theFirstFieldThatCannotBeWrittenIsNamed() {
        var status = Status()
        status.drops = 1 << 24
        status.retransmissions = 1 << 25
        #expect(throws: EncodeError.field(.counter, value: 1 << 24)) { try frame(of: .status(status), log: .sample) }
        status.batteryPercent = 101
        #expect(throws: EncodeError.field(.battery, value: 101)) { try frame(of: .status(status), log: .sample) }
    }
}
