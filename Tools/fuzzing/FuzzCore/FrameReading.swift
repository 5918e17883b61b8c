import CollarWire

/// The result of decoding a frame as any message.
typealias Reading = Result<Message, DecodeError>

/// Makes frames of inputs, decodes them, and judges the results.
enum FrameReading {
    /// The frame in `input`.
    /// - Parameters:
    ///   - type: the type of the frame; nil for the type that the input has.
    ///   - isTwin: whether the frame has another address, and other bytes after it in its buffer. Both must change nothing but
    ///     the CRC.
    static func frame(in input: Span<UInt8>, type: MessageType? = nil, isTwin: Bool = false) -> FrameBuffer {
        var frame = FrameBuffer(filler: isTwin ? 0x5A : 0xFF)
        frame.append(input, from: FrameInput.contextByteCount)
        if let type, frame.count > 0 { frame[0] = frame[0] & 0xE0 | type.rawValue }
        if isTwin, frame.count > 2 { frame[2] ^= 0xA7 }
        let isBound = frame.count > 0 && HeaderModel.isBound(frame[0] % 32)
        frame.seal(isBound ? .bound : PlainCRC(), damage: FrameInput(input).damage, reference: FrameInput(input).reference)
        return frame
    }

    static func read(_ frame: Span<UInt8>, reference: UInt32) -> Reading {
        do throws(DecodeError) {
            return .success(try Message.decode(frame, log: .fuzzed, reference: reference))
        } catch {
            return .failure(error)
        }
    }

    /// Checks that a frame was refused for its size, its header or its CRC exactly if one of these is wrong.
    static func judge(_ reading: Reading, of frame: Span<UInt8>, context: FrameInput) -> Outcome {
        var expected = HeaderModel.refusal(of: frame)
        if expected == nil, frame[0] % 32 == MessageType.liveFix.rawValue { expected = .anchorNeeded }
        if expected == nil, context.damage != 0 { expected = .crcMismatch }
        switch reading {
        case .success:
            guard let expected else { return .accepted }
            return .wrong("accepted, where it must be refused as \(expected)")
        case .failure(let error):
            if let expected {
                return error == expected ? .refused : .wrong("refused as \(error), not as \(expected)")
            }
            return HeaderModel.isAboutPayload(error)
                ? .behindCRC : .wrong("refused as \(error), although header and CRC are right")
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
