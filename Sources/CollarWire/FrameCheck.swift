/// Computing and verifying the check at the end of a frame.
///
/// The check covers a pseudo-header that is not sent, then the frame up to the check: in messages bound to a log
/// the device id (8 bytes) and the log id (4 bytes), then in every message the frame's length (1 byte).
/// A frame of another collar or of an erased log, or one with a byte too many, therefore fails.
public enum FrameCheck {
    /// The check of a frame whose header and payload are the first `count` bytes of `bytes`.
    /// - Parameter log: the log the frame is bound to; nil for the types that are not.
    public static func checksum(of bytes: Span<UInt8>, count: Int, log: LogIdentity?) -> UInt32 {
        checksum(of: bytes, count: count, check: log?.boundCheck ?? CRC24())
    }

    /// The same behind whatever else the check is bound to.
    static func checksum(of bytes: Span<UInt8>, count: Int, check: CRC24) -> UInt32 {
        var check = check
        check.update(UInt8(truncatingIfNeeded: count + CRC24.byteCount))
        check.update(bytes, from: 0, to: count)
        return check.checksum
    }

    /// Whether the last three bytes of `frame` are its check.
    public static func isValid(_ frame: Span<UInt8>, log: LogIdentity?) -> Bool {
        isValid(frame, check: log?.boundCheck ?? CRC24())
    }

    /// The same behind whatever else the check is bound to.
    static func isValid(_ frame: Span<UInt8>, check: CRC24) -> Bool {
        let end = frame.count - CRC24.byteCount
        guard end >= FrameHeader.byteCount, frame.count <= Frame.maximumByteCount else { return false }
        return checksum(of: frame, count: end, check: check) == sent(in: frame)
    }

    /// The check that a frame brings, right or not.
    /// - Precondition: `frame` has three bytes or more.
    public static func sent(in frame: Span<UInt8>) -> UInt32 {
        let end = frame.count - CRC24.byteCount
        return UInt32(frame[end]) &<< 16 | UInt32(frame[end + 1]) &<< 8 | UInt32(frame[end + 2])
    }

    /// Gives a finished frame other flags, and the check that belongs to them.
    /// - Precondition: `frame` is a whole frame.
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
