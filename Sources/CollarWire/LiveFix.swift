/// The live form of a fix: the entropy-coded difference to an earlier fix, the *anchor*, which the collar knows to be
/// acknowledged. Whatever is lost, a receiver that has the anchor can decode it.
///
/// The anchor is named by its distance in the log. The check covers the anchor's sequence and codes, so a frame against
/// another anchor fails.
public enum LiveFix {
    /// How far the newest sequence may be above the highest acknowledged one for a live fix to be sent: the header
    /// carries 8 bits of the sequence.
    public static var maximumLead: UInt32 { 127 }

    /// Appends the bare frame of `fix`.
    /// - Parameter anchor: an acknowledged fix of the same log with a lower sequence.
    /// - Throws: a field out of range; ``EncodeError/field(_:value:)`` for an anchor that is not older; an output too
    ///   small, for example for a fix so far from its anchor that the absolute form is shorter.
    public static func encode(
        _ fix: Fix, anchor: Fix, address: UInt8, flags: FrameFlags, log: LogIdentity,
        into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        try fix.validate()
        guard fix.sequence > anchor.sequence, fix.sequence - anchor.sequence < 1 &<< 31 else {
            throw .field(.sequence, value: anchor.sequence)
        }
        var coder = FixEncoder()
        code(fix, anchor: anchor, into: &coder)
        let header = FrameHeader(
            type: .liveFix, flags: flags, address: address, lowByte: UInt8(truncatingIfNeeded: fix.sequence))
        let check = try boundCheck(anchor: anchor, log: log)
        try FrameEncoder.encode(header: header, payload: &coder.output.payload, check: check, into: &output)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    private static func code(_ fix: Fix, anchor: Fix, into coder: inout FixEncoder) {
        _ = coder.eliasGamma(fix.sequence - anchor.sequence)
        var transfer = LiveTransfer(anchor: anchor)
        _ = transfer.code(FixCodes(of: fix), &coder)
        coder.output.finish()
    }

    /// The sequence of a live frame and that of its anchor, which a receiver needs before it can check the frame.
    /// - Parameter reference: the highest sequence known of the log.
    /// - Returns: nil where the frame names no possible anchor.
    public static func sequences(
        of frame: Span<UInt8>, header: FrameHeader, reference: UInt32
    ) -> (sequence: UInt32, anchor: UInt32)? {
        var coder = LiveDecoder(frame, fromBit: 8 * FrameHeader.byteCount, to: frame.count - CRC24.byteCount)
        let sequence = SequenceNumber.nearest(to: reference, lowBits: UInt32(header.lowByte), bitCount: 8)
        guard let distance = coder.eliasGamma(0), distance <= sequence, sequence <= Fix.maximumSequence else {
            return nil
        }
        return (sequence, sequence - distance)
    }

    /// Checks and decodes a frame.
    /// - Parameters:
    ///   - sequence: as ``sequences(of:header:reference:)`` gave it.
    ///   - anchor: the fix with the anchor's sequence.
    /// - Throws: ``DecodeError/checkFailed`` also where the anchor is not the one the collar used.
    public static func decode(
        _ frame: Span<UInt8>, sequence: UInt32, anchor: Fix, log: LogIdentity
    ) throws(DecodeError) -> Fix {
        guard frame.count >= Frame.overheadByteCount else { throw .tooShort(byteCount: frame.count) }
        let check: CRC24
        do throws(EncodeError) { check = try boundCheck(anchor: anchor, log: log) } catch { throw .checkFailed }
        guard FrameCheck.isValid(frame, check: check) else { throw .checkFailed }
        var coder = LiveDecoder(frame, fromBit: 8 * FrameHeader.byteCount, to: frame.count - CRC24.byteCount)
        guard let distance = coder.eliasGamma(0), sequence >= distance, sequence - distance == anchor.sequence else {
            throw .invalidField(.anchor, code: sequence)
        }
        var transfer = LiveTransfer(anchor: anchor)
        guard transfer.code(transfer.fix, &coder) else { throw .invalidField(.difference, code: sequence) }
        var fix = transfer.fix.fix
        fix.sequence = sequence
        return fix
    }

    /// The check over the log, the anchor's sequence and absolute form.
    private static func boundCheck(anchor: Fix, log: LogIdentity) throws(EncodeError) -> CRC24 {
        var check = log.boundCheck
        check.update(bigEndian: anchor.sequence)
        var record = BitWriter()
        try AbsoluteFix.writePayload(of: anchor, wideSequence: true, into: &record)
        record.addTo(&check)
        return check
    }
}
