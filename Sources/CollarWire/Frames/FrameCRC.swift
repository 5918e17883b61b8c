/// Computes and verifies the CRC at the end of a frame.
///
/// The CRC covers a pseudo-header that is not sent, and then the frame up to the CRC. The pseudo-header has the device id
/// (8 bytes) and the log id (4 bytes), if the message is bound to a log, and the length of the frame (1 byte). So the CRC fails
/// for a frame of another collar or of an erased log, and for a frame that lost or gained a byte. If a frame holds only the low
/// 16 bits of a sequence, the CRC also covers the upper 16 bits, unless they are 0. So it fails if they are completed wrongly.
public enum FrameCRC {
    /// The CRC of a frame.
    /// - Parameters:
    ///   - bytes: header and payload; bytes after them are ignored.
    ///   - count: bytes of header and payload.
    ///   - log: the log to which the frame is bound; nil for a type that is not bound.
    ///   - shortSequence: the full sequence, if the frame holds only its low 16 bits; else 0.
    public static func checksum(of bytes: Span<UInt8>, count: Int, log: LogIdentity?, shortSequence: UInt32 = 0) -> UInt32 {
        checksum(of: bytes, count: count, crc: log?.boundCRC ?? CRC24(), shortSequence: shortSequence)
    }

    /// The same, where `crc` is the CRC over what the frame is bound to.
    static func checksum(of bytes: Span<UInt8>, count: Int, crc: CRC24, shortSequence: UInt32 = 0) -> UInt32 {
        var crc = crc
        crc.update(UInt8(truncatingIfNeeded: count + CRC24.byteCount))
        crc.update(bytes, from: 0, to: count)
        crc.update(upperBitsOf: shortSequence)
        return crc.checksum
    }

    /// Whether the last three bytes of a frame without a short sequence, or with one of at most 65,535, are its CRC.
    public static func isValid(_ frame: Span<UInt8>, log: LogIdentity?) -> Bool {
        isValid(frame, crc: log?.boundCRC ?? CRC24())
    }

    /// Whether the last three bytes of `frame` are its CRC, with a short sequence completed around `reference`.
    public static func isValid(_ frame: Span<UInt8>, log: LogIdentity?, reference: UInt32) -> Bool {
        self.reference(fitting: frame, crc: log?.boundCRC ?? CRC24()) { $0 == 0 ? reference : nil } != nil
    }

    /// Completes the short sequence of a frame around each reference in turn, and returns the first reference with which the CRC
    /// is valid; nil if there is none. For a frame without a short sequence it returns the first reference if the CRC is valid.
    /// - Parameters:
    ///   - frame: a whole frame.
    ///   - log: the log to which the frame is bound.
    ///   - candidate: the reference to try at a position, counted from 0; nil after the last one. A candidate is computed only
    ///     if the ones before it did not fit.
    ///
    /// Complexity: linear in the frame; each further reference takes a CRC over two bytes.
    public static func reference(
        fitting frame: Span<UInt8>, log: LogIdentity, candidate: (_ position: Int) -> UInt32?
    ) -> UInt32? {
        reference(fitting: frame, crc: log.boundCRC, candidate: candidate)
    }

    /// The same, where `crc` is the CRC over what the frame is bound to.
    private static func reference(fitting frame: Span<UInt8>, crc: CRC24, candidate: (_ position: Int) -> UInt32?) -> UInt32? {
        guard let body = crc.body(of: frame), let first = candidate(0) else { return nil }
        guard let lowBits = AbsoluteFix.shortSequence(of: frame) else {
            return body.checksum == sent(in: frame) ? first : nil
        }
        var (reference, position) = (first, 0)
        while true {
            var completed = body
            completed.update(upperBitsOf: AbsoluteFix.complete(lowBits, around: reference))
            if completed.checksum == sent(in: frame) { return reference }
            position &+= 1
            guard let next = candidate(position) else { return nil }
            reference = next
        }
    }

    /// The lowest full sequence with which the CRC of a frame with a short sequence is valid, for a decoder that knows no
    /// sequence of the log. Nil for other frames, and if there is no such sequence. The result is not verified: one of 256
    /// damaged frames also has such a sequence.
    ///
    /// Complexity: linear in the frame, plus up to 65,536 CRCs over two bytes.
    public static func solvedSequence(of frame: Span<UInt8>, log: LogIdentity) -> UInt32? {
        guard let lowBits = AbsoluteFix.shortSequence(of: frame), let body = log.boundCRC.body(of: frame) else { return nil }
        for upperBits in 0...0xFFFF as ClosedRange<UInt32> {
            let sequence = upperBits &<< 16 | lowBits
            var completed = body
            completed.update(upperBitsOf: sequence)
            if completed.checksum == sent(in: frame) { return sequence }
        }
        return nil
    }

    /// The same as ``isValid(_:log:)``, where `crc` is the CRC over what the frame is bound to.
    static func isValid(_ frame: Span<UInt8>, crc: CRC24) -> Bool {
        guard let body = crc.body(of: frame) else { return false }
        return body.checksum == sent(in: frame)
    }

    /// The CRC that a frame holds, valid or not.
    /// - Precondition: `frame` has three bytes or more.
    public static func sent(in frame: Span<UInt8>) -> UInt32 {
        let end = frame.count - CRC24.byteCount
        return UInt32(frame[end]) &<< 16 | UInt32(frame[end + 1]) &<< 8 | UInt32(frame[end + 2])
    }

    /// Appends the CRC to a frame without one.
    /// - Parameters:
    ///   - frame: header and payload.
    ///   - crc: the CRC over what the frame is bound to.
    ///   - shortSequence: the full sequence, if the frame holds only its low 16 bits; else 0.
    static func append(to frame: inout OutputSpan<UInt8>, crc: CRC24, shortSequence: UInt32 = 0) {
        let sum = checksum(of: frame.span, count: frame.count, crc: crc, shortSequence: shortSequence)
        frame.append(sum, byteCount: CRC24.byteCount)
    }

    /// Replaces the flags of a finished frame and updates its CRC.
    /// - Precondition: `frame` is a whole frame. If it holds a short sequence, the full sequence is at most 65,535.
    public static func seal(_ frame: inout MutableSpan<UInt8>, flags: FrameFlags, log: LogIdentity?) {
        let end = frame.count - CRC24.byteCount
        precondition(end >= FrameHeader.byteCount, "a frame has a header and a CRC")
        frame[1] = flags.rawValue
        let sum = checksum(of: frame.span, count: end, log: log)
        frame[end] = UInt8(truncatingIfNeeded: sum &>> 16)
        frame[end + 1] = UInt8(truncatingIfNeeded: sum &>> 8)
        frame[end + 2] = UInt8(truncatingIfNeeded: sum)
    }
}

extension CRC24 {
    /// This CRC, extended by the length of a frame and the frame up to its own CRC; nil if the frame is too short or long.
    fileprivate func body(of frame: Span<UInt8>) -> CRC24? {
        let end = frame.count - CRC24.byteCount
        guard end >= FrameHeader.byteCount, frame.count <= Frame.maximumByteCount else { return nil }
        var crc = self
        crc.update(UInt8(truncatingIfNeeded: frame.count))
        crc.update(frame, from: 0, to: end)
        return crc
    }

    /// Adds the upper 16 bits of a sequence, which the short form leaves out, unless these bits are 0.
    @inline(__always)
    mutating func update(upperBitsOf sequence: UInt32) {
        guard sequence > 0xFFFF else { return }
        update(UInt8(truncatingIfNeeded: sequence &>> 24))
        update(UInt8(truncatingIfNeeded: sequence &>> 16))
    }
}
