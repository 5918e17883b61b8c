/// Computing and verifying the check at the end of a frame.
///
/// The check covers a pseudo-header that is not sent, then the frame up to the check: in messages bound to a log
/// the device id (8 bytes) and the log id (4 bytes), then in every message the frame's length (1 byte).
/// A frame of another collar or of an erased log, or one with a byte too many, therefore fails.
public enum FrameCheck {
    /// The check of a frame whose header and payload are the first `count` bytes of `bytes`.
    /// - Parameter log: the log the frame is bound to; nil for the types that are not.
    public static func checksum(of bytes: Span<UInt8>, count: Int, log: LogIdentity?) -> UInt32 {
        var check = log?.boundCheck ?? CRC24()
        check.update(UInt8(truncatingIfNeeded: count + CRC24.byteCount))
        check.update(bytes, from: 0, to: count)
        return check.checksum
    }

    /// Whether the last three bytes of `frame` are its check.
    public static func isValid(_ frame: Span<UInt8>, log: LogIdentity?) -> Bool {
        let end = frame.count - CRC24.byteCount
        guard end >= FrameHeader.byteCount, frame.count <= Frame.maximumByteCount else { return false }
        let sent = UInt32(frame[end]) &<< 16 | UInt32(frame[end + 1]) &<< 8 | UInt32(frame[end + 2])
        return checksum(of: frame, count: end, log: log) == sent
    }
}
