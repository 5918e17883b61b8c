/// Writing frames to a serial stream.
public enum StreamEncoder {
    /// Bytes of a frame on the stream with both delimiters.
    public static func encodedByteCount(for frameByteCount: Int) -> Int {
        COBS.encodedByteCount(for: frameByteCount) + 2
    }

    /// Appends `frame` between delimiters. The leading one ends whatever noise stood on the line before.
    /// - Precondition: `frame` has 1 … 253 bytes and `output` room for ``encodedByteCount(for:)``.
    public static func encode(_ frame: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
        output.append(COBS.delimiter)
        COBS.encode(frame, into: &output)
        output.append(COBS.delimiter)
    }
}
