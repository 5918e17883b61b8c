/// The live form of a fix: the entropy-coded difference to an earlier fix, the *anchor*, which the collar knows to be
/// acknowledged. Whatever is lost, a receiver that has the anchor can decode it.
///
/// The anchor is named by its distance in the log. The check covers the anchor's sequence and codes, so a frame against
/// another anchor fails.
public enum LiveFix {
    /// How far the newest sequence may be above the highest acknowledged one for a live fix to be sent: the header
    /// carries 8 bits of the sequence.
    public static let maximumLead: UInt32 = 127

    /// Appends the bare frame of `fix`.
    /// - Parameter anchor: an acknowledged fix of the same log with a lower sequence.
    /// - Throws: a field out of range; ``EncodeError/field(_:value:)`` for an anchor that is not older; an output too
    ///   small, for example for a fix so far from its anchor that the absolute form is shorter.
    public static func encode(
        _ fix: Fix, anchor: Fix, address: UInt8, flags: FrameFlags, log: LogIdentity,
        into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        do throws(FixRangeError) { try fix.validate() } catch { throw .fix(error) }
        guard fix.sequence > anchor.sequence, fix.sequence - anchor.sequence < 1 &<< 31 else {
            throw .field(.sequence, value: anchor.sequence)
        }
        var coder = LiveEncoder()
        _ = coder.eliasGamma(fix.sequence - anchor.sequence)
        _ = LiveTransfer(anchor: anchor).fix(fix, &coder)
        coder.encoder.finish()
        let byteCount = Frame.overheadByteCount + coder.encoder.count
        guard coder.encoder.fits, byteCount <= output.freeCapacity else {
            throw .frameTooSmall(neededByteCount: byteCount)
        }
        precondition(output.count == 0, "a frame starts an output of its own")
        let header = FrameHeader(
            type: .liveFix, flags: flags, address: address, lowByte: UInt8(truncatingIfNeeded: fix.sequence))
        header.encode(into: &output)
        coder.encoder.write(into: &output)
        let sum = try checksum(of: output.span, count: output.count, anchor: anchor, log: log)
        output.append(UInt8(truncatingIfNeeded: sum &>> 16))
        output.append(UInt8(truncatingIfNeeded: sum &>> 8))
        output.append(UInt8(truncatingIfNeeded: sum))
    }

    /// The sequence of a live frame and that of its anchor, which a receiver needs before it can check the frame.
    /// - Parameter reference: the highest sequence known of the log.
    /// - Returns: nil where the frame names no possible anchor.
    public static func sequences(
        of frame: Span<UInt8>, header: FrameHeader, reference: UInt32
    ) -> (sequence: UInt32, anchor: UInt32)? {
        var coder = LiveDecoder(frame)
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
        let end = frame.count - CRC24.byteCount
        guard end >= FrameHeader.byteCount else { throw .tooShort(byteCount: frame.count) }
        let sent = UInt32(frame[end]) &<< 16 | UInt32(frame[end + 1]) &<< 8 | UInt32(frame[end + 2])
        let computed: UInt32
        do throws(EncodeError) { computed = try checksum(of: frame, count: end, anchor: anchor, log: log) } catch {
            throw .checkFailed
        }
        guard computed == sent else { throw .checkFailed }
        var coder = LiveDecoder(frame)
        guard let distance = coder.eliasGamma(0), sequence >= distance, sequence - distance == anchor.sequence else {
            throw .invalidField(.anchor, code: sequence)
        }
        guard var fix = LiveTransfer(anchor: anchor).fix(anchor, &coder) else {
            throw .invalidField(.difference, code: sequence)
        }
        fix.sequence = sequence
        return fix
    }

    /// The check over the log, the anchor's sequence and absolute form, the length, and the frame.
    private static func checksum(
        of bytes: Span<UInt8>, count: Int, anchor: Fix, log: LogIdentity
    ) throws(EncodeError) -> UInt32 {
        var check = log.boundCheck
        check.update(bigEndian: anchor.sequence)
        var record = BitWriter()
        try AbsoluteFix.writePayload(of: anchor, wideSequence: true, into: &record)
        record.addTo(&check)
        check.update(UInt8(truncatingIfNeeded: count + CRC24.byteCount))
        check.update(bytes, from: 0, to: count)
        return check.checksum
    }
}

/// ``LiveCoder`` towards the wire.
private struct LiveEncoder: LiveCoder {
    var encoder = RangeEncoder()

    mutating func bit(_ bit: Bool, context: Int) -> Bool {
        encoder.encode(bit, zeroProbability: LivePriors.zeroProbabilities[context])
        return bit
    }

    mutating func uniform(_ value: UInt32, of count: UInt32) -> UInt32 {
        encoder.encode(value, of: count)
        return value
    }
}

/// ``LiveCoder`` from the wire.
private struct LiveDecoder: LiveCoder, ~Escapable {
    private var decoder: RangeDecoder

    @_lifetime(copy frame)
    init(_ frame: Span<UInt8>) {
        decoder = RangeDecoder(frame, from: FrameHeader.byteCount, to: frame.count - CRC24.byteCount)
    }

    @_lifetime(self: copy self)
    mutating func bit(_ bit: Bool, context: Int) -> Bool {
        decoder.decode(zeroProbability: LivePriors.zeroProbabilities[context])
    }

    @_lifetime(self: copy self)
    mutating func uniform(_ value: UInt32, of count: UInt32) -> UInt32 { decoder.decode(of: count) }
}
