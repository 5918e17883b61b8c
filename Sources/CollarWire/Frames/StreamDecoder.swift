/// Cuts a serial stream into bare frames: finds the delimiters and decodes COBS.
///
/// No sequence of bytes stops the decoder: a damaged frame ends at the next delimiter.
///
///     var index = 0
///     while let event = decoder.next(in: bytes, at: &index) { … }
public struct StreamDecoder: Sendable {
    /// The result for the bytes up to a delimiter.
    public enum Event: Equatable, Sendable {
        /// A frame is complete; ``StreamDecoder/frame`` holds it until the next call.
        case frame
        /// The bytes between two delimiters are not a frame.
        case rejected(StreamFault)
    }

    /// The bytes since the last delimiter, still stuffed.
    var stuffed = InlineArray<256, UInt8>(repeating: 0)
    /// Number of bytes in ``stuffed``. If it is above ``longest``, they are too many for a frame, and further ones are dropped.
    private var count = 0
    /// Number of bytes of the frame announced last, plus the code byte before it.
    private var stuffedFrameEnd = 1

    /// Bytes of the longest stuffed frame.
    private static let longest = Frame.maximumByteCount + 1

    /// A decoder at the start of a stream.
    public init() {}

    /// The frame that the last ``Event/frame`` announced.
    public var frame: Span<UInt8> {
        @_lifetime(borrow self)
        get { stuffed.span.extracting(1..<stuffedFrameEnd) }
    }

    /// Reads on from `index` to the next event. Afterwards `index` is past the delimiter that ended the event, or at the end.
    /// - Returns: nil if all bytes were read without an event.
    ///
    /// Complexity: linear in the bytes read.
    public mutating func next(in bytes: Span<UInt8>, at index: inout Int) -> Event? {
        while index < bytes.count {
            let byte = bytes[index]
            index &+= 1
            if byte == StreamEncoder.delimiter {
                // Two delimiters with nothing between them are no event.
                if count == 0 { continue }
                let length = count
                count = 0
                return end(length)
            }
            if count <= StreamDecoder.longest {
                stuffed[count] = byte
                count &+= 1
            }
        }
        return nil
    }

    #if !hasFeature(Embedded)
    /// Stores a word in ``stuffed``. This is safe: an integer consists of plain bytes, and the range is checked.
    @inline(__always)
    mutating func keep<Word: FixedWidthInteger & BitwiseCopyable>(_ word: Word, at offset: Int) {
        var span = stuffed.mutableSpan
        var bytes = unsafe span.mutableBytes
        bytes.storeBytes(of: word.littleEndian, toByteOffset: offset, as: Word.self)
    }

    /// Whether the last byte read was a delimiter, or no byte was read yet.
    var isBetweenFrames: Bool { count == 0 }
    #endif

    /// Sets ``frame`` to the bytes in ``stuffed`` after the code byte.
    mutating func announceFrame(stuffedByteCount: Int) { stuffedFrameEnd = stuffedByteCount }

    /// Restores the zero bytes of a stuffed frame: each code byte after the first is in the place of a zero byte.
    private mutating func end(_ stuffedCount: Int) -> Event {
        guard stuffedCount <= StreamDecoder.longest else { return .rejected(.tooLong) }
        var codeIndex = Int(stuffed[0])
        while codeIndex < stuffedCount {
            let code = Int(stuffed[codeIndex])
            stuffed[codeIndex] = 0
            codeIndex &+= code
        }
        guard codeIndex == stuffedCount else { return .rejected(.brokenStuffing) }
        guard stuffedCount > Frame.overheadByteCount else { return .rejected(.tooShort) }
        announceFrame(stuffedByteCount: stuffedCount)
        return .frame
    }
}

/// Why the bytes between two delimiters are not a frame.
public enum StreamFault: UInt8, Equatable, Sendable {
    /// A block of the byte stuffing reaches beyond the delimiter.
    case brokenStuffing
    /// More than 254 stuffed bytes.
    case tooLong
    /// Fewer than 7 bytes without the stuffing.
    case tooShort
}
