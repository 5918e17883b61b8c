/// Consistent Overhead Byte Stuffing (S. Cheshire and M. Baker, 1999): removes zero bytes from a frame, so that a
/// zero byte can delimit frames on a serial line.
///
/// Frames have at most 253 bytes, so the overhead is always exactly one byte, and the code 0xFF ("254 bytes, no
/// zero") never occurs: a decoder refuses it.
public enum COBS {
    /// The byte between frames.
    public static var delimiter: UInt8 { 0 }

    /// Bytes of an encoded frame, without delimiters.
    public static func encodedByteCount(for frameByteCount: Int) -> Int { frameByteCount + 1 }

    /// Appends the encoding of `frame`, without delimiters.
    ///
    /// - Precondition: `frame` has 1 … 253 bytes and `output` room for one more.
    public static func encode(_ frame: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
        precondition(frame.count >= 1 && frame.count <= Frame.maximumByteCount, "a frame has 1 to 253 bytes")
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
    }
}
