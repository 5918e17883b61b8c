import CollarWire
import Testing

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
