/// Computing and verifying the check at the end of a frame.
///
/// The check covers a pseudo-header that is not sent, then the frame up to the check: in messages bound to a log
/// the device id (8 bytes) and the log id (4 bytes), then in every message the frame's length (1 byte).
/// A frame of another collar or of an erased log, or one with a byte too many, therefore fails.
/// Behind the frame it covers the upper 16 bits of a short sequence where they are not 0: a sequence that is completed
/// wrongly fails too.
public enum FrameCheck {
    /// The check of a frame whose header and payload are the first `count` bytes of `bytes`.
    /// - Parameters:
    ///   - log: the log the frame is bound to; nil for the types that are not.
    ///   - shortSequence: the sequence of which the frame holds the low 16 bits; 0 where there is none.
    public static func checksum(
        of bytes: Span<UInt8>, count: Int, log: LogIdentity?, shortSequence: UInt32 = 0
    ) -> UInt32 {
        checksum(of: bytes, count: count, check: log?.boundCheck ?? CRC24(), shortSequence: shortSequence)
    }

    /// The same behind whatever else the check is bound to.
    static func checksum(of bytes: Span<UInt8>, count: Int, check: CRC24, shortSequence: UInt32 = 0) -> UInt32 {
        var check = check
        check.update(UInt8(truncatingIfNeeded: count + CRC24.byteCount))
        check.update(bytes, from: 0, to: count)
        check.update(upperBitsOf: shortSequence)
        return check.checksum
    }

    /// Whether the last three bytes of `frame` are its check.
    /// - Parameter reference: what a short sequence is completed around.
    public static func isValid(_ frame: Span<UInt8>, log: LogIdentity?, reference: UInt32 = 0) -> Bool {
        let references: InlineArray<1, UInt32> = [reference]
        return self.reference(among: references.span, fitting: frame, check: log?.boundCheck ?? CRC24()) != nil
    }

    /// The first of some references around which the short sequence of a frame is completed so that its check fits; where
    /// it has no short sequence, the first one if its check fits. Nil where none does.
    ///
    /// Complexity: linear in the frame; each further reference costs two bytes.
    public static func reference(
        among references: Span<UInt32>, fitting frame: Span<UInt8>, log: LogIdentity
    ) -> UInt32? {
        reference(among: references, fitting: frame, check: log.boundCheck)
    }

    /// The same behind whatever else the check is bound to.
    private static func reference(
        among references: Span<UInt32>, fitting frame: Span<UInt8>, check: CRC24
    ) -> UInt32? {
        guard let body = check.body(of: frame) else { return nil }
        let lowBits = AbsoluteFix.shortSequence(of: frame)
        for index in references.indices {
            var completed = body
            if let lowBits { completed.update(upperBitsOf: AbsoluteFix.complete(lowBits, around: references[index])) }
            if completed.checksum == sent(in: frame) { return references[index] }
        }
        return nil
    }

    /// The one sequence with which the check of a short frame fits, for a decoder that knows nothing of the log; nil for other
    /// frames, and where there is none. Nothing vouches for it: one of 256 damaged frames has such a sequence.
    ///
    /// Complexity: linear in the frame, and 65,536 times two bytes.
    public static func solvedSequence(of frame: Span<UInt8>, log: LogIdentity) -> UInt32? {
        guard let lowBits = AbsoluteFix.shortSequence(of: frame), let body = log.boundCheck.body(of: frame) else { return nil }
        for upperBits in 0...0xFFFF as ClosedRange<UInt32> {
            let sequence = upperBits &<< 16 | lowBits
            var completed = body
            completed.update(upperBitsOf: sequence)
            if completed.checksum == sent(in: frame) { return sequence }
        }
        return nil
    }

    /// Whether the last three bytes of a frame without a short sequence are its check, behind whatever it is bound to.
    static func isValid(_ frame: Span<UInt8>, check: CRC24) -> Bool {
        let references: InlineArray<1, UInt32> = [0]
        return reference(among: references.span, fitting: frame, check: check) != nil
    }

    /// The check that a frame brings, right or not.
    /// - Precondition: `frame` has three bytes or more.
    public static func sent(in frame: Span<UInt8>) -> UInt32 {
        let end = frame.count - CRC24.byteCount
        return UInt32(frame[end]) &<< 16 | UInt32(frame[end + 1]) &<< 8 | UInt32(frame[end + 2])
    }

    /// Gives a finished frame other flags, and the check that belongs to them.
    /// - Precondition: `frame` is a whole frame, and not one with a short sequence above 65,535.
    public static func seal(_ frame: inout MutableSpan<UInt8>, flags: FrameFlags, log: LogIdentity?) {
        let end = frame.count - CRC24.byteCount
        precondition(end >= FrameHeader.byteCount, "a frame has a header and a check")
        frame[1] = flags.rawValue
        let sum = checksum(of: frame.span, count: end, log: log)
        frame[end] = UInt8(truncatingIfNeeded: sum &>> 16)
        frame[end + 1] = UInt8(truncatingIfNeeded: sum &>> 8)
        frame[end + 2] = UInt8(truncatingIfNeeded: sum)
    }
}

extension CRC24 {
    /// The check over what it is bound to, the length of a frame and the frame up to its check; nil where it has none.
    fileprivate func body(of frame: Span<UInt8>) -> CRC24? {
        let end = frame.count - CRC24.byteCount
        guard end >= FrameHeader.byteCount, frame.count <= Frame.maximumByteCount else { return nil }
        var check = self
        check.update(UInt8(truncatingIfNeeded: frame.count))
        check.update(frame, from: 0, to: end)
        return check
    }

    /// Adds the bits of a sequence that its short form leaves out, where they are not 0.
    @inline(__always)
    mutating func update(upperBitsOf sequence: UInt32) {
        guard sequence > 0xFFFF else { return }
        update(UInt8(truncatingIfNeeded: sequence &>> 24))
        update(UInt8(truncatingIfNeeded: sequence &>> 16))
    }
}
