/// Reads the fixes of a ``Batch`` one after the other. No fix may be used before all fixes of its frame were read.
public struct BatchDecoder: ~Copyable, ~Escapable {
    /// Number of fixes in the frame, 1 … 64.
    public let count: Int
    let startBitCount: Int
    private var readCount = 0
    private var model: BatchModel
    private var coder: AdaptiveDecoder

    /// Begins to read a frame whose header and CRC have been verified.
    /// - Throws: ``DecodeError`` if the first fix is invalid.
    @_lifetime(copy frame)
    public init(_ frame: Span<UInt8>, header: FrameHeader) throws(DecodeError) {
        try self.init(
            frame, from: FrameHeader.byteCount, to: frame.count - CRC24.byteCount, lowSequenceByte: header.lowByte)
    }

    /// Begins to read a payload.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, from start: Int, to end: Int, lowSequenceByte: UInt8) throws(DecodeError) {
        var reader = BitReader(bytes, from: start, to: end)
        let count = Int(reader.read(Batch.countBitCount)) + 1
        let first = AbsoluteFix.readFields(from: &reader, lowSequenceByte: lowSequenceByte, reference: nil)
        try reader.checkNotPastEnd()
        self.count = count
        startBitCount = reader.bitPosition - 8 * start
        model = BatchModel(behind: first)
        coder = AdaptiveDecoder(bytes, fromBit: reader.bitPosition, to: end)
    }

    /// The next fix, or nil after the last one.
    /// - Throws: ``DecodeError/invalidField(_:code:)``; after that the decoder must not be used.
    @_lifetime(self: copy self)
    public mutating func next() throws(DecodeError) -> Fix? {
        guard readCount < count else { return nil }
        if readCount > 0 {
            model.code(model.last, &coder)
            if let field = coder.invalidField {
                throw .invalidField(field, code: UInt32(truncatingIfNeeded: readCount))
            }
        }
        readCount += 1
        return model.last.fix
    }
}
