import CollarWire

/// Finds the intact records in the bytes of a segment, and skips everything else.
struct RecordParser {
    /// A record and the bytes it takes with its stuffing and both delimiters.
    struct Found {
        let record: Record
        let encodedByteCount: Int
    }

    private var decoder = StreamDecoder()
    private let crc: RecordCRC

    init(crc: RecordCRC) { self.crc = crc }

    /// Reads from `index` to the end of the next intact record; nil at the end of the bytes. A further call can continue with
    /// the next bytes.
    mutating func next(in bytes: Span<UInt8>, at index: inout Int) -> Found? {
        while let event = decoder.next(in: bytes, at: &index) {
            guard event == .frame else { continue }
            let frame = decoder.frame
            guard let record = Record(frame, crc: crc) else { continue }
            return Found(
                record: record, encodedByteCount: StreamEncoder.encodedByteCount(for: frame.count))
        }
        return nil
    }
}
