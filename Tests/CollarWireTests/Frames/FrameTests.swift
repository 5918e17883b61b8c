@testable import CollarWire
import Testing

/// The first four bytes of a frame, and the order in which a receiver checks them.
@Suite struct FrameHeaderTests {
    private func end(_ bytes: [UInt8]) -> DecodeError? {
        do throws(DecodeError) {
            _ = try decoded(bytes)
            return nil
        } catch {
            return error
        }
    }

    private let types = (0..<32 as Range<UInt8>).compactMap(MessageType.init)

    @Test func headersComeBack() throws {
        for type in types {
            for flags in 0..<0x20 as Range<UInt8> {
                let header = FrameHeader(typeCode: type.rawValue, flags: FrameFlags(rawValue: flags), address: 0xA5, lowByte: 0x5A)
                let bytes = [UInt8](capacity: 4) { header.encode(into: &$0) }
                #expect(bytes == [0x20 | type.rawValue, flags, 0xA5, 0x5A])
                #expect(try FrameHeader((bytes + [0, 0, 0]).span) == header)
            }
        }
    }

    @Test func theTypesAndWhatTheyAreBoundToAreThoseOfTheSpecification() {
        let bound: [UInt8] = [2, 3, 4, 6, 7, 8, 9, 13, 15, 16, 18, 19, 20, 29]
        let open: [UInt8] = [1, 5, 10, 11, 12, 17]
        #expect(types.filter(\.isBoundToLog).map(\.rawValue) == bound)
        #expect(types.filter { !$0.isBoundToLog }.map(\.rawValue) == open)
        for code in 32...255 as ClosedRange<UInt8> { #expect(MessageType(rawValue: code) == nil) }
    }

    @Test func fewerThan7AndMoreThan253BytesAreNoFrame() {
        for count in 0..<7 { #expect(end([UInt8](repeating: 0xFF, count: count)) == .tooShort(byteCount: count)) }
        for count in [254, 255, 256, 1000] {
            #expect(end([UInt8](repeating: 0xFF, count: count)) == .tooLong(byteCount: count))
        }
    }

    /// The order is version, critical flags, type, CRC. Each of them is checked only if those before it are right.
    @Test func whatIsWrongFirstIsSaid() {
        for version in 0..<8 as Range<UInt8> where version != 1 {
            #expect(end([version &<< 5 | 3, 0xFF, 1, 0, 9, 9, 9]) == .unsupportedVersion(version))
        }
        for critical in [0x40, 0x20, 0x60, 0xE0] as [UInt8] {
            #expect(end([0x23, critical | 0x1F, 1, 0, 9, 9, 9]) == .unknownCriticalFlags(critical & 0x60))
        }
        #expect(end([0x23, 0x9F, 1, 0, 9, 9, 9]) == .sealed)
        for code in 0..<32 as Range<UInt8> {
            let expected: DecodeError =
                switch MessageType(rawValue: code) {
                case nil: .unknownType(code)
                // The CRC of a live fix cannot be computed without its anchor.
                case .liveFix: .anchorNeeded
                default: .crcMismatch
                }
            #expect(end([0x20 | code, 0x1F, 1, 0, 9, 9, 9]) == expected)
        }
    }

    @Test(arguments: try Sample.all())
    func ignorableFlagsAreIgnored(_ sample: Sample) throws {
        // In an acknowledgement they have a meaning.
        let count: UInt8 = if case .acknowledgement = sample.message { 8 } else { 0x20 }
        for flags in 0..<count {
            var bytes = Array(sample.bytes.dropLast(3))
            bytes[1] = flags
            #expect(try decoded(sealed(bytes, log: sample.log), reference: 40_000) == sample.message)
        }
    }

    @Test(arguments: try Sample.all())
    func aValidCheckDoesNotExcuseACriticalFlag(_ sample: Sample) {
        var bytes = Array(sample.bytes.dropLast(3))
        bytes[1] = 0x40
        #expect(end(sealed(bytes, log: sample.log)) == .unknownCriticalFlags(0x40))
        bytes[1] = 0x80
        #expect(end(sealed(bytes, log: sample.log)) == .sealed)
    }

    @Test func pollsAreNumberedFromOneToSevenAndRoundAgain() {
        #expect(PollNumber(rawValue: 0) == nil)
        #expect(PollNumber(rawValue: 8) == nil)
        var poll = PollNumber.first
        var numbers: [UInt8] = []
        for _ in 0..<8 {
            numbers.append(poll.rawValue)
            poll = poll.next
        }
        #expect(numbers == [1, 2, 3, 4, 5, 6, 7, 1])
    }

    @Test func thePollIsInTheLowThreeBits() {
        for bits in 0...255 as ClosedRange<UInt8> {
            let flags = FrameFlags(rawValue: bits)
            #expect(flags.poll?.rawValue ?? 0 == bits % 8)
            #expect(flags.unknownCriticalBits == bits & 0x60)
        }
        #expect(FrameFlags(poll: nil).rawValue == 0)
        #expect(FrameFlags(poll: PollNumber(rawValue: 5)).rawValue == 5)
    }
}

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
        #expect(end(.command, try Payload(.bits(1, 16), .bits(7, 32), .bits(10, 8), .bits(1, 8)))
            == .invalidField(.command, code: 10))
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
