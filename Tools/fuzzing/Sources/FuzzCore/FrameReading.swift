import CollarWire

/// What the decoder of all messages makes of a frame.
typealias Reading = Result<Message, DecodeError>

/// Making frames of inputs, reading them, and judging what was read.
enum FrameReading {
    /// The frame in `input`, of the type given or of its own.
    /// - Parameter isTwin: whether to send it from another address and put other bytes behind it, which must change
    ///   nothing but the check.
    static func frame(in input: Span<UInt8>, type: MessageType? = nil, isTwin: Bool = false) -> FrameBuffer {
        var frame = FrameBuffer(filler: isTwin ? 0x5A : 0xFF)
        frame.append(input, from: FrameInput.contextByteCount)
        if let type, frame.count > 0 { frame[0] = frame[0] & 0xE0 | type.rawValue }
        if isTwin, frame.count > 2 { frame[2] ^= 0xA7 }
        let isBound = frame.count > 0 && HeaderModel.isBound(frame[0] % 32)
        frame.seal(isBound ? .bound : PlainCheck(), damage: FrameInput(input).damage, reference: FrameInput(input).reference)
        return frame
    }

    static func read(_ frame: Span<UInt8>, reference: UInt32) -> Reading {
        do throws(DecodeError) {
            return .success(try Message.decode(frame, log: .fuzzed, reference: reference))
        } catch {
            return .failure(error)
        }
    }

    /// Whether a frame was refused for what is wrong before its payload, and only then.
    static func judge(_ reading: Reading, of frame: Span<UInt8>, context: FrameInput) -> Outcome {
        var expected = HeaderModel.refusal(of: frame)
        if expected == nil, frame[0] % 32 == MessageType.liveFix.rawValue { expected = .anchorNeeded }
        if expected == nil, context.damage != 0 { expected = .checkFailed }
        switch reading {
        case .success:
            guard let expected else { return .accepted }
            return .wrong("accepted, where it must be refused as \(expected)")
        case .failure(let error):
            if let expected {
                return error == expected ? .refused : .wrong("refused as \(error), not as \(expected)")
            }
            return HeaderModel.isAboutPayload(error)
                ? .behindCheck : .wrong("refused as \(error), although header and check are right")
        }
    }

    /// Seeds from the frame of a vector.
    static func seeds(from vector: SeedVector, type: MessageType? = nil) -> [[UInt8]] {
        guard let bare = vector.bare, bare.count >= 3, type == nil || bare[0] % 32 == type?.rawValue else { return [] }
        return [FrameInput.context(reference: vector.reference) + bare.dropLast(3)]
    }

    static func describe(_ input: [UInt8], type: MessageType? = nil) -> InputDescription {
        let frame = frame(in: input.span, type: type)
        var description = InputDescription()
        description.bare = frame.span.indices.map { frame.span[$0] }
        description.reference = FrameInput(input.span).reference
        description.log = .fuzzed
        return description
    }
}
