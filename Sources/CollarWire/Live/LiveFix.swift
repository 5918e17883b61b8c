/// The live form of a fix: the entropy-coded difference from an earlier fix, the *anchor*, which the collar knows to be
/// acknowledged. A receiver that has the anchor can decode the live fix, whatever other frames were lost.
///
/// A frame names its anchor by the difference of the two sequences. The CRC of the frame also covers the anchor's sequence and
/// fields, so the frame fails the CRC of a receiver that has another fix as the anchor.
public enum LiveFix {
    /// A live fix is sent only if its sequence is at most this much above the highest acknowledged one, because the header
    /// carries only 8 bits of the sequence.
    public static var maximumLead: UInt32 { 127 }

    #if hasFeature(Embedded)
    // If inlined, the coder's kilobyte would stay on the stack of the caller.
    @inline(never)
    #endif
    /// Appends the bare frame of `fix`. Its anchor is an acknowledged fix of the same log with a lower sequence.
    /// - Throws: ``EncodeError/field(_:value:)`` if a field is out of range or the anchor's sequence is not lower by 1 … 2³¹ − 1;
    ///   ``EncodeError/frameTooSmall(neededByteCount:)`` if the output is too small, for example because the fix differs so much
    ///   from its anchor that the absolute form is shorter.
    public static func encode(
        _ fix: Fix, anchor: Fix, address: UInt8, flags: FrameFlags, log: LogIdentity,
        into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        try fix.validate()
        guard fix.sequence > anchor.sequence, fix.sequence - anchor.sequence < 1 &<< 31 else {
            throw .field(.sequence, value: anchor.sequence)
        }
        var coder = FixEntropyEncoder(MutableSpan())
        code(fix, anchor: anchor, into: &coder)
        try coder.output.payload.encode(
            as: .liveFix, flags: flags, address: address, lowByte: UInt8(truncatingIfNeeded: fix.sequence),
            crc: try LiveFix.crc(boundTo: anchor, log), into: &output)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    @_lifetime(coder: copy coder)
    private static func code(_ fix: Fix, anchor: Fix, into coder: inout FixEntropyEncoder) {
        let distance = fix.sequence - anchor.sequence
        _ = coder.eliasGamma(distance)
        var model = LiveModel(anchor: anchor, distance: distance)
        model.code(FixCodes(of: fix), &coder)
        coder.output.finish()
    }

    /// The sequence of a live fix and that of its anchor. A receiver needs both before it can verify the CRC of the frame.
    ///
    /// `reference` is the highest known sequence of the log.
    /// - Returns: nil if the frame names no possible anchor.
    public static func sequences(
        of frame: Span<UInt8>, header: FrameHeader, reference: UInt32
    ) -> (sequence: UInt32, anchor: UInt32)? {
        var coder = LiveDecoder(frame, fromBit: 8 * FrameHeader.byteCount, to: frame.count - CRC24.byteCount)
        let sequence = SequenceNumber.nearest(to: reference, lowBits: UInt32(header.lowByte), bitCount: 8)
        guard let distance = coder.eliasGamma(0), distance <= sequence, sequence <= Fix.maximumSequence else { return nil }
        return (sequence, sequence - distance)
    }

    /// Checks and decodes a frame.
    ///
    /// `sequences(of:header:reference:)` gives `sequence` and the sequence of `anchor`.
    /// - Throws: ``DecodeError``. An anchor other than the one that the collar used causes ``DecodeError/crcMismatch``.
    public static func decode(_ frame: Span<UInt8>, sequence: UInt32, anchor: Fix, log: LogIdentity) throws(DecodeError) -> Fix {
        guard frame.count >= Frame.overheadByteCount else { throw .tooShort(byteCount: frame.count) }
        let crc: CRC24
        do throws(EncodeError) { crc = try LiveFix.crc(boundTo: anchor, log) } catch { throw .crcMismatch }
        guard FrameCRC.isValid(frame, crc: crc) else { throw .crcMismatch }
        var coder = LiveDecoder(frame, fromBit: 8 * FrameHeader.byteCount, to: frame.count - CRC24.byteCount)
        guard let distance = coder.eliasGamma(0), sequence >= distance, sequence - distance == anchor.sequence else {
            throw .invalidField(.anchor, code: sequence)
        }
        var model = LiveModel(anchor: anchor, distance: distance)
        model.code(model.fix, &coder)
        if let field = coder.invalidField { throw .invalidField(field, code: sequence) }
        var fix = model.fix.fix
        fix.sequence = sequence
        return fix
    }

    /// The distance of a live fix from its anchor.
    /// - Parameter end: the end of the payload in the frame.
    static func distance(in frame: Span<UInt8>, payloadEnd end: Int) -> UInt32? {
        var coder = LiveDecoder(frame, fromBit: 8 * FrameHeader.byteCount, to: end)
        return coder.eliasGamma(0)
    }

    /// The CRC over the log, the anchor's sequence and the anchor's absolute form.
    static func crc(boundTo anchor: Fix, _ log: LogIdentity) throws(EncodeError) -> CRC24 {
        try anchor.validate()
        var crc = log.boundCRC
        var record = BitWriter()
        write(anchor: anchor, into: &record)
        crc.update(record.written, from: 0, to: record.written.count)
        return crc
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Writes what a live fix is bound to: the sequence of its anchor and the anchor's absolute form, in whole bytes.
    static func write(anchor: Fix, into record: inout BitWriter) {
        record.write(anchor.sequence, 32)
        AbsoluteFix.writeFields(of: FixCodes(of: anchor), isWide: true, into: &record)
        record.pad()
    }
}
