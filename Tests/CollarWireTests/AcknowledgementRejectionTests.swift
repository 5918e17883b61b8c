import CollarWire
import Testing

/// Acknowledgements that break section 9 are refused.
@Suite struct AcknowledgementRejectionTests {
    private func end(_ payload: Payload, lowByte: UInt8 = 0) -> DecodeError? {
        do throws(DecodeError) {
            _ = try decoded(sealed(.acknowledgement, lowByte: lowByte, payload: payload.bytes, log: .sample))
            return nil
        } catch {
            return error
        }
    }

    private func isRangeRefused(_ payload: Payload) -> Bool {
        if case .invalidField(.range, _) = end(payload) { true } else { false }
    }

    private let max: UInt32 = 0xFFFF_FFFE

    @Test func aPollAboveSevenIsRefused() throws {
        let payload = try Payload(.bits(1, 32), .bits(5, 32), .bits(0, 12))
        #expect(end(payload, lowByte: 7) == nil)
        #expect(end(payload, lowByte: 8) == .invalidField(.poll, code: 8))
        #expect(end(payload, lowByte: 255) == .invalidField(.poll, code: 255))
    }

    @Test func receiverZeroIsRefused() throws {
        let payload = try Payload(.bits(0, 32), .bits(5, 32), .bits(0, 12))
        #expect(end(payload) != nil)
    }

    @Test func moreThan32RangesAreRefused() throws {
        #expect(isRangeRefused(try Payload(.bits(1, 32), .bits(5, 32), .bits(33, 6), .bits(0, 6), .bits(.max, 32))))
        #expect(isRangeRefused(try Payload(.bits(1, 32), .bits(5, 32), .bits(0, 6), .bits(33, 6), .bits(.max, 32))))
        #expect(isRangeRefused(try Payload(.bits(1, 32), .bits(5, 32), .bits(63, 6), .bits(63, 6), .bits(.max, 32))))
    }

    private func durable(_ firstMissing: UInt32, _ distance: UInt32, _ count: UInt32) throws -> Payload {
        try Payload(
            .bits(1, 32), .bits(firstMissing, 32), .bits(1, 6), .bits(0, 6), .gamma(distance), .gamma(count))
    }

    @Test func aDurableRangeLiesAboveTheFirstMissing() throws {
        #expect(end(try durable(5, 3, 3)) == nil)
        #expect(isRangeRefused(try durable(5, 3, 4)))
        #expect(isRangeRefused(try durable(5, 3, .max)))
    }

    @Test func aDurableRangeEndsAtTheLastSequence() throws {
        #expect(end(try durable(5, max - 5, 1)) == nil)
        #expect(isRangeRefused(try durable(5, max - 4, 1)))
        #expect(isRangeRefused(try durable(5, .max, 1)))
        #expect(isRangeRefused(try durable(max, 1, 1)))
        #expect(isRangeRefused(try durable(.max, .max, .max)))
    }

    @Test func aFurtherDurableRangeLiesAboveTheFirstMissingToo() throws {
        func second(_ gap: UInt32, _ count: UInt32) throws -> Payload {
            try Payload(
                .bits(1, 32), .bits(5, 32), .bits(2, 6), .bits(0, 6), .gamma(10), .gamma(1), .gamma(gap),
                .gamma(count))
        }
        #expect(end(try second(1, 8)) == nil)
        #expect(isRangeRefused(try second(1, 9)))
        #expect(isRangeRefused(try second(9, 1)))
        #expect(isRangeRefused(try second(.max, .max)))
    }

    @Test func aRangeToResendEndsAtTheLastSequence() throws {
        func resend(_ first: UInt32, _ count: UInt32) throws -> Payload {
            try Payload(.bits(1, 32), .bits(5, 32), .bits(0, 6), .bits(1, 6), .bits(first, 32), .gamma(count))
        }
        #expect(end(try resend(0, .max)) == nil)
        #expect(end(try resend(max, 1)) == nil)
        #expect(isRangeRefused(try resend(max, 2)))
        #expect(isRangeRefused(try resend(.max, 1)))
        #expect(isRangeRefused(try resend(.max, .max)))
    }

    @Test func aFurtherRangeToResendEndsThereToo() throws {
        func second(_ gap: UInt32, _ count: UInt32) throws -> Payload {
            try Payload(
                .bits(1, 32), .bits(5, 32), .bits(0, 6), .bits(2, 6), .bits(10, 32), .gamma(1), .gamma(gap),
                .gamma(count))
        }
        #expect(end(try second(1, 1)) == nil)
        #expect(end(try second(max - 11, 1)) == nil)
        #expect(isRangeRefused(try second(max - 11, 2)))
        #expect(isRangeRefused(try second(.max, .max)))
    }

    @Test func aNumberOf32ZeroBitsIsRefused() throws {
        let payload = try Payload(
            .bits(1, 32), .bits(5, 32), .bits(1, 6), .bits(0, 6), .bits(0, 32), .bits(.max, 32), .bits(.max, 32))
        #expect(isRangeRefused(payload))
    }

    /// The payload is cut after each byte: inside a number of fixed width, or inside an Elias gamma code.
    @Test func aPayloadThatEndsInsideAFieldIsTruncated() throws {
        let whole = try frame(of: .acknowledgement(.sample), log: .sample)
        var other: [DecodeError?] = []
        for end in 4..<whole.count - 3 {
            do throws(DecodeError) {
                _ = try decoded(sealed(Array(whole.prefix(end)), log: .sample))
                other.append(nil)
            } catch {
                if error != .truncated(bitOffset: end * 8) { other.append(error) }
            }
        }
        #expect(other.isEmpty)
    }
}
