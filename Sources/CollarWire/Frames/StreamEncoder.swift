/// Writes frames to a serial stream with Consistent Overhead Byte Stuffing (S. Cheshire and M. Baker, 1999), which removes
/// zero bytes from a frame, so that a zero byte can delimit frames.
///
/// Frames have at most 253 bytes, so the overhead is always exactly one byte, and the code 0xFF ("254 bytes, no
/// zero") never occurs: a decoder rejects it.
public enum StreamEncoder {
    /// The byte between frames.
    public static var delimiter: UInt8 { 0 }

    /// Number of bytes that a frame of `frameByteCount` bytes takes on the stream, with both delimiters.
    public static func encodedByteCount(for frameByteCount: Int) -> Int { frameByteCount + 3 }

    /// Appends `frame` between two delimiters. The first one ends any noise that was on the line before.
    /// - Precondition: `frame` has 1 … 253 bytes and `output` room for ``encodedByteCount(for:)``.
    public static func encode(_ frame: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
        precondition(frame.count >= 1 && frame.count <= Frame.maximumByteCount, "a frame has 1 to 253 bytes")
        output.append(delimiter)
        var blockStart = 0
        while blockStart <= frame.count {
            var blockEnd = blockStart
            while blockEnd < frame.count, frame[blockEnd] != 0 { blockEnd += 1 }
            output.append(UInt8(blockEnd - blockStart + 1))
            var index = blockStart
            while index < blockEnd {
                output.append(frame[index])
                index += 1
            }
            blockStart = blockEnd + 1
        }
        output.append(delimiter)
    }
}
