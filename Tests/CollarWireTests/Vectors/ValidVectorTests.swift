import CollarWire
import Testing

/// Every valid vector decodes in every form to the fields that it names. If it is canonical, it is encoded again byte for
/// byte.
@Suite struct ValidVectorTests {
    @Test func thereAreVectorsOfEveryMessage() throws {
        let types = try Vector.all(in: "valid").map { try FrameHeader($0.bare.orEmpty.span).type }
        for type in (0..<32 as Range<UInt8>).compactMap(MessageType.init) {
            #expect(types.contains(type))
        }
    }

    @Test(arguments: try Vector.all(in: "valid"))
    func bareFrameDecodesToItsFields(_ vector: Vector) throws {
        let bare = try #require(try vector.bare)
        let message = try VectorPeer(vector).read(bare)
        var expected = vector.contents.decoded
        if let type = expected?.removeValue(forKey: "type") { #expect(type == FieldValue(bare[0] & 0x1F)) }
        #expect(message.fields == expected)
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
        for garbage: [UInt8] in [[7], [0xFF, 1, 2], [1, 1, 1], [UInt8](repeating: 9, count: 300), [9, 8, 7]] {
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
        let message = try VectorPeer(vector).read(bare)
        let written = try VectorPeer(vector).write(message, like: bare, room: bare.count)
        // Hosts and base radios do not poll, so their encoders take no poll. As the CRC covers the flags, it differs too.
        guard written[1] == bare[1] else {
            let isAnswer = bare[0] & 0x1F == MessageType.acknowledgement.rawValue
            #expect(bare[0] & 0x1F >= 10 && written[1] == (isAnswer ? bare[1] & FrameFlags.ignorableMask : 0))
            #expect(written.dropLast(3).dropFirst(2) == bare.dropLast(3).dropFirst(2))
            return
        }
        #expect(written == bare)
    }

    @Test(arguments: try Vector.all(in: "valid").filter { $0.contents.canonical == false })
    func aFrameThatIsNotCanonicalIsReadAlikeWhenItIsWrittenAgain(_ vector: Vector) throws {
        let bare = try #require(try vector.bare)
        let message = try VectorPeer(vector).read(bare)
        let written = try VectorPeer(vector).write(message, like: bare, room: Frame.maximumByteCount)
        #expect(try VectorPeer(vector).read(written) == message)
    }
}

extension [UInt8]? {
    fileprivate var orEmpty: [UInt8] { self ?? [] }
}
