import CollarWire
import Testing

/// An end of the link that knows the log, the reference and the anchor that a vector names.
struct VectorPeer {
    let log: LogIdentity?
    let reference: UInt32
    let anchor: Fix?

    init(_ vector: Vector) throws {
        log = try vector.log
        reference = vector.contents.reference ?? 0
        anchor = try vector.contents.anchor.map { try Fix(vectorFields: $0) }
    }

    /// Decodes a bare frame. The anchor of a live fix is the anchor of the vector.
    func read(_ bytes: [UInt8]) throws(DecodeError) -> Message {
        guard try FrameHeader(bytes.span).type == .liveFix else {
            return try decoded(bytes, log: log, reference: reference)
        }
        let header = try FrameHeader(bytes.span)
        guard let names = LiveFix.sequences(of: bytes.span, header: header, reference: reference) else {
            throw .invalidField(.anchor, code: 0)
        }
        guard let log, let anchor, anchor.sequence == names.anchor else { throw .crcMismatch }
        return .fix(try LiveFix.decode(bytes.span, sequence: names.sequence, anchor: anchor, log: log))
    }

    /// Encodes `message` with the address, the flags and the form of `bytes`.
    func write(_ message: Message, like bytes: [UInt8], room: Int) throws -> [UInt8] {
        let header = try FrameHeader(bytes.span)
        if case .fix(let fix) = message, header.type == .liveFix, let anchor, let log {
            return try frame(room: room) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try LiveFix.encode(
                    fix, anchor: anchor, address: header.address, flags: header.flags, log: log, into: &output)
            }
        }
        // An encoder writes the short form of a sequence only if it gets a reference near that sequence.
        var near: UInt32?
        if case .fix(let fix) = message, bytes[5] & 0x80 == 0 { near = fix.sequence }
        return try frame(
            of: message, address: header.address, flags: header.flags, log: log ?? .sample, reference: near,
            room: room)
    }
}
