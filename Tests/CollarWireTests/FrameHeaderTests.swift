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
                let header = FrameHeader(type: type, flags: FrameFlags(rawValue: flags), address: 0xA5, lowByte: 0x5A)
                let bytes = [UInt8](capacity: 4) { header.encode(into: &$0) }
                #expect(bytes == [0x20 | type.rawValue, flags, 0xA5, 0x5A])
                #expect(try FrameHeader((bytes + [0, 0, 0]).span) == header)
            }
        }
    }

    @Test func theTypesAndWhatTheyAreBoundToAreThoseOfTheSpecification() {
        let bound: [UInt8] = [2, 3, 4, 6, 7, 8, 9, 13, 16, 18, 19, 20, 29]
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
