import CollarWire

/// A frame of any type in an input that has room for an anchor.
public struct AnyFrameInput {
    /// The bare frame.
    public let bytes: [UInt8]
    /// The highest known sequence.
    public let reference: UInt32
    /// The anchor of a live fix; nil for other types, and if the frame names no possible anchor.
    public let anchor: Fix?

    /// Makes the frame of an input.
    public init(_ input: Span<UInt8>) {
        let start = FrameInput.contextByteCount + AnchorBytes.count
        reference = FrameInput(input).reference
        if input.count > start, input[start] % 32 == MessageType.liveFix.rawValue {
            let live = LiveInput(input)
            bytes = live.frame.span.indices.map { live.frame.span[$0] }
            anchor = live.anchor
        } else {
            var frame = FrameBuffer(filler: 0xFF)
            frame.append(input, from: start)
            let isBound = frame.count > 0 && HeaderModel.isBound(frame[0] % 32)
            frame.seal(isBound ? .bound : PlainCRC(), damage: FrameInput(input).damage, reference: FrameInput(input).reference)
            bytes = frame.span.indices.map { frame.span[$0] }
            anchor = nil
        }
    }

    /// The result of a receiver that has the anchor.
    public func read() -> Result<Message, DecodeError> {
        guard HeaderModel.refusal(of: bytes.span) == nil, bytes[0] % 32 == MessageType.liveFix.rawValue else {
            return FrameReading.read(bytes.span, reference: reference)
        }
        do throws(DecodeError) {
            let header = try FrameHeader(bytes.span)
            guard let names = LiveFix.sequences(of: bytes.span, header: header, reference: reference) else {
                throw .invalidField(.anchor, code: 0)
            }
            guard let anchor else { throw .crcMismatch }
            return .success(
                .fix(try LiveFix.decode(bytes.span, sequence: names.sequence, anchor: anchor, log: .fuzzed)))
        } catch {
            return .failure(error)
        }
    }
}
