/// Cuts a serial stream into bare frames: finds delimiters, undoes COBS.
///
/// It always makes progress, whatever the bytes: a frame that is damaged ends at the next delimiter.
///
///     var index = 0
///     while let event = decoder.next(in: bytes, at: &index) { … }
public struct StreamDecoder: Sendable {
    /// What a delimiter ended.
    public enum Event: Equatable, Sendable {
        /// A frame is complete; ``StreamDecoder/frame`` holds it until the next call.
        case frame
        /// Bytes between two delimiters that are no frame.
        case rejected(StreamFault)
    }

    /// What stands since the last delimiter, still stuffed.
    var stuffed = InlineArray<256, UInt8>(repeating: 0)
    /// Bytes in ``stuffed``. Above ``longest`` the piece is too long, and nothing more is kept of it.
    private var count = 0
    /// Bytes of the frame last announced with the code byte before it.
    private var stuffedFrameEnd = 1

    /// The longest stuffed frame.
    private static let longest = Frame.maximumByteCount + 1

    /// A decoder at the start of a stream.
    public init() {}

    /// The frame that the last ``Event/frame`` announced.
    public var frame: Span<UInt8> {
        @_lifetime(borrow self)
        get { stuffed.span.extracting(1..<stuffedFrameEnd) }
    }

    /// Reads on from `index` to the next event.
    /// - Parameter index: where to begin; afterwards behind the delimiter that ended the event, or at the end.
    /// - Returns: nil when all bytes are read and no delimiter ended anything.
    ///
    /// Complexity: linear in the bytes read.
    public mutating func next(in bytes: Span<UInt8>, at index: inout Int) -> Event? {
        while index < bytes.count {
            let byte = bytes[index]
            index &+= 1
            if byte == StreamEncoder.delimiter {
                // A delimiter behind a delimiter ends nothing.
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
    /// Safe: every integer is some bytes, and the range is checked.
    @inline(__always)
    mutating func keep<Word: FixedWidthInteger & BitwiseCopyable>(_ word: Word, at offset: Int) {
        var span = stuffed.mutableSpan
        var bytes = unsafe span.mutableBytes
        bytes.storeBytes(of: word.littleEndian, toByteOffset: offset, as: Word.self)
    }

    /// Whether the last byte read ended a piece, or none was read.
    var isBetweenFrames: Bool { count == 0 }
    #endif

    /// ``frame`` is now what stands in ``stuffed`` behind the code byte.
    mutating func announceFrame(stuffedByteCount: Int) { stuffedFrameEnd = stuffedByteCount }

    /// Puts back the zero bytes of a stuffed frame: behind its first byte they stand where the code bytes are.
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

/// Why the bytes between two delimiters are no frame.
public enum StreamFault: UInt8, Equatable, Sendable {
    /// A block of the byte stuffing reaches beyond the delimiter.
    case brokenStuffing
    /// More than 254 stuffed bytes.
    case tooLong
    /// Fewer than 7 bytes without the stuffing.
    case tooShort
}
