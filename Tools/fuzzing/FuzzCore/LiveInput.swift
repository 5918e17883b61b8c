import CollarWire

/// The live fix in an input: its frame, and the anchor that the frame names.
///
/// The CRC covers the anchor, and the payload names the anchor's sequence. So the payload is read before the CRC is computed.
struct LiveInput {
    /// The highest known sequence.
    let reference: UInt32
    /// The frame with its CRC.
    private(set) var frame: FrameBuffer
    /// The anchor; nil if the frame names no possible anchor.
    private(set) var anchor: Fix?

    /// - Parameter isTwin: whether the frame has another address, and one more zero byte after its payload.
    init(_ input: Span<UInt8>, isTwin: Bool = false) {
        let context = FrameInput(input)
        reference = context.reference
        frame = FrameBuffer(filler: isTwin ? 0x5A : 0xFF)
        frame.append(input, from: FrameInput.contextByteCount + AnchorBytes.count)
        if frame.count > 0 { frame[0] = frame[0] & 0xE0 | MessageType.liveFix.rawValue }
        if isTwin {
            if frame.count > 2 { frame[2] ^= 0xA7 }
            if frame.count < Frame.maximumByteCount - 3 { frame.append(0) }
        }
        frame.appendPlaceholder()
        let names = readNames()
        frame.removeCheck()
        guard let names else {
            frame.seal(.bound, damage: context.damage)
            return
        }
        var anchor = AnchorBytes.fix(in: input, at: FrameInput.contextByteCount)
        anchor.sequence = names.anchor
        self.anchor = anchor
        frame.seal(LiveInput.crc(boundTo: anchor), damage: context.damage)
    }

    /// The sequences of the fix and of its anchor; nil if the frame names no possible anchor or its header is wrong.
    func readNames() -> (sequence: UInt32, anchor: UInt32)? {
        guard HeaderModel.refusal(of: frame.span) == nil else { return nil }
        do throws(DecodeError) {
            let header = try FrameHeader(frame.span)
            return LiveFix.sequences(of: frame.span, header: header, reference: reference)
        } catch {
            return nil
        }
    }

    /// The result of a receiver that decodes the frame with `anchor`.
    func read(anchor: Fix) -> Result<Fix, DecodeError> {
        guard let names = readNames() else { return .failure(.invalidField(.anchor, code: 0)) }
        return LiveInput.read(frame.span, sequence: names.sequence, anchor: anchor)
    }

    static func read(_ frame: Span<UInt8>, sequence: UInt32, anchor: Fix) -> Result<Fix, DecodeError> {
        do throws(DecodeError) {
            return .success(try LiveFix.decode(frame, sequence: sequence, anchor: anchor, log: .fuzzed))
        } catch {
            return .failure(error)
        }
    }

    /// The start of a live fix's CRC, with all to which it is bound: the log, the anchor's sequence, and the anchor's
    /// absolute form.
    private static func crc(boundTo anchor: Fix) -> PlainCRC {
        var crc = PlainCRC.bound
        crc.add(UInt64(anchor.sequence), byteCount: 4)
        var writer = BitWriter()
        do throws(EncodeError) {
            try AbsoluteFix.writePayload(of: anchor, wideSequence: true, into: &writer)
            let record = try [UInt8](capacity: AbsoluteFix.maximumPayloadByteCount) {
                (output: inout OutputSpan<UInt8>) throws(EncodeError) in try writer.finish(into: &output)
            }
            for byte in record { crc.add(byte) }
        } catch {
            preconditionFailure("an anchor is a fix")
        }
        return crc
    }
}
