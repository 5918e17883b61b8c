import CollarWire
import Testing

/// Every valid vector is read as it says, in every form, and written again byte for byte.
@Suite struct ValidVectorTests {
    @Test func thereAreVectorsOfEveryMessage() throws {
        let types = try Vector.all(in: "valid").map { try FrameHeader($0.bare.orEmpty.span).type }
        for type in [.identity, .absoluteFix, .probe, .tombstone, .acknowledgement, .identityRequest] as [MessageType] {
            #expect(types.contains(type))
        }
    }

    @Test(arguments: try Vector.all(in: "valid"))
    func bareFrameDecodesToItsFields(_ vector: Vector) throws {
        let bare = try #require(try vector.bare)
        let message = try decoded(bare, log: vector.log, reference: vector.contents.reference ?? 0)
        #expect(message.fields == vector.contents.decoded)
        #expect(!vector.contents.meaning.isEmpty)
        #expect(!vector.contents.origin.isEmpty)
    }

    @Test(arguments: try Vector.all(in: "valid"))
    func serialFormHoldsTheBareFrame(_ vector: Vector) throws {
        let bare = try #require(try vector.bare)
        let serial = try #require(try vector.serial)
        #expect(serialForm(of: bare) == serial)
        let expected = StreamOutcome(of: serial)
        #expect(expected.frames == [bare])
        #expect(expected.faults.isEmpty)
        #expect(StreamOutcome(of: serial, pieceByteCount: 1) == expected)
    }

    @Test(arguments: try Vector.all(in: "valid"))
    func aFrameIsFoundBehindGarbage(_ vector: Vector) throws {
        let bare = try #require(try vector.bare)
        let serial = try #require(try vector.serial)
        let torn = Array(serial.dropFirst().dropLast(2))
        for garbage: [UInt8] in [[7], [0xFF, 1, 2], [1, 1, 1], [UInt8](repeating: 9, count: 300), torn] {
            let stream = garbage + [0] + serial
            let outcome = StreamOutcome(of: stream, pieceByteCount: 1)
            #expect(outcome.frames == [bare])
            #expect(outcome.faults.count == 1)
            #expect(StreamOutcome(of: stream) == outcome)
        }
    }

    @Test(arguments: try Vector.all(in: "valid").filter { $0.contents.canonical ?? true })
    func aCanonicalFrameIsWrittenTheSame(_ vector: Vector) throws {
        let bare = try #require(try vector.bare)
        let message = try decoded(bare, log: vector.log, reference: vector.contents.reference ?? 0)
        let header = try FrameHeader(bare.span)
        // A short sequence is written where the sender knows that its receiver is near.
        var near: UInt32?
        if case .fix(let fix) = message, bare[5] & 0x80 == 0 { near = fix.sequence }
        let written = try frame(
            of: message, address: header.address, flags: header.flags, log: vector.log ?? .sample, reference: near,
            room: bare.count)
        #expect(written == bare)
    }

    @Test(arguments: try Vector.all(in: "valid").filter { $0.contents.canonical == false })
    func aFrameThatIsNotCanonicalIsWrittenDifferentlyAndReadAlike(_ vector: Vector) throws {
        let bare = try #require(try vector.bare)
        let message = try decoded(bare, log: vector.log, reference: vector.contents.reference ?? 0)
        let written = try frame(
            of: message, address: bare[2], flags: FrameFlags(ask: FrameFlags(rawValue: bare[1]).ask),
            log: vector.log ?? .sample)
        #expect(written != bare)
        #expect(try decoded(written, log: vector.log, reference: vector.contents.reference ?? 0) == message)
    }
}

extension [UInt8]? {
    fileprivate var orEmpty: [UInt8] { self ?? [] }
}
