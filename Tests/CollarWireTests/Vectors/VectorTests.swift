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

/// Every invalid vector is refused in every form, with the error that it names. A valid frame after it is still found.
@Suite struct InvalidVectorTests {
    @Test func thereAreVectorsOfEveryError() throws {
        let errors = Set(try Vector.all(in: "invalid").compactMap(\.contents.error))
        let known = [
            "too_short", "too_long", "unsupported_version", "critical_flags", "unknown_type", "check_failed",
            "truncated", "trailing_bytes", "nonzero_padding", "invalid_field", "stuffing", "not_opened",
        ]
        #expect(errors == Set(known))
    }

    @Test(arguments: try Vector.all(in: "invalid").filter { $0.contents.bare != nil })
    func bareFrameIsRefused(_ vector: Vector) throws {
        let error = try end(try #require(try vector.bare), vector)
        #expect(error?.name.description == vector.contents.error, "\(String(describing: error))")
        if let field = vector.contents.field {
            #expect(error?.fieldNames.contains(field) == true, "\(String(describing: error)) for \(field)")
        }
        #expect(!vector.contents.meaning.isEmpty)
        #expect(!vector.contents.origin.isEmpty)
    }

    @Test(arguments: try Vector.all(in: "invalid").filter { $0.contents.serial != nil })
    func serialFormIsRefused(_ vector: Vector) throws {
        let serial = try #require(try vector.serial)
        let outcome = StreamOutcome(of: serial)
        if ["too_short", "too_long", "stuffing"].contains(vector.contents.error) {
            #expect(outcome.faults.map(\.name.description) == [vector.contents.error])
            #expect(outcome.frames.isEmpty)
        } else {
            #expect(outcome.faults.isEmpty)
            #expect(outcome.frames.count == 1)
            for frame in outcome.frames {
                #expect(try frame == vector.bare)
                #expect(try end(frame, vector)?.name.description == vector.contents.error)
            }
        }
        #expect(StreamOutcome(of: serial, pieceByteCount: 1) == outcome)
    }

    @Test(arguments: try Vector.all(in: "invalid").filter { $0.contents.serial != nil })
    func theFrameBehindItIsFound(_ vector: Vector) throws {
        let serial = try #require(try vector.serial)
        let next = try frame(of: .probe(Probe(logTag: 1, nextSequence: 2)), log: .sample)
        for garbage: [UInt8] in [[], [7, 0], [0xFF, 1, 2, 0]] {
            let stream = garbage + serial + serialForm(of: next)
            let outcome = StreamOutcome(of: stream, pieceByteCount: 1)
            #expect(outcome.frames.last == next)
            #expect(outcome.frames.count + outcome.faults.count == (garbage.isEmpty ? 2 : 3))
            #expect(StreamOutcome(of: stream) == outcome)
        }
    }

    private func end(_ bytes: [UInt8], _ vector: Vector) throws -> DecodeError? {
        let peer = try VectorPeer(vector)
        do throws(DecodeError) {
            _ = try peer.read(bytes)
            return nil
        } catch {
            return error
        }
    }
}
