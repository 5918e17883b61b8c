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

    private var storage = InlineArray<256, UInt8>(repeating: 0)
    private var count = 0
    private var blockRemaining = 0
    private var isZeroPending = false
    private var fault: StreamFault?

    /// A decoder at the start of a stream.
    public init() {}

    /// The frame that the last ``Event/frame`` announced.
    public var frame: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(0..<count) }
    }

    /// Reads on from `index` to the next event.
    /// - Parameter index: where to begin; afterwards behind the delimiter that ended the event, or at the end.
    /// - Returns: nil when all bytes are read and no delimiter ended anything.
    ///
    /// Complexity: linear in the bytes read.
    public mutating func next(in bytes: Span<UInt8>, at index: inout Int) -> Event? {
        if isFinished { restart() }
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == COBS.delimiter {
                if let event = end() { return event }
            } else {
                add(byte)
            }
        }
        return nil
    }

    private var isFinished = false

    private mutating func restart() {
        count = 0
        blockRemaining = 0
        isZeroPending = false
        fault = nil
        isFinished = false
    }

    private mutating func end() -> Event? {
        if let fault {
            restart()
            return .rejected(fault)
        }
        guard blockRemaining == 0 else {
            restart()
            return .rejected(.brokenStuffing)
        }
        // A delimiter behind a delimiter ends nothing. A lone code byte 1 would be an empty frame.
        guard count > 0 || isZeroPending else {
            restart()
            return nil
        }
        guard count >= Frame.overheadByteCount else {
            restart()
            return .rejected(.tooShort)
        }
        isFinished = true
        return .frame
    }

    private mutating func add(_ byte: UInt8) {
        guard fault == nil else { return }
        if blockRemaining > 0 {
            append(byte)
            blockRemaining -= 1
            return
        }
        if isZeroPending { append(0) }
        guard byte != 0xFF else {
            fault = .brokenStuffing
            return
        }
        blockRemaining = Int(byte) - 1
        isZeroPending = true
    }

    private mutating func append(_ byte: UInt8) {
        guard count < Frame.maximumByteCount else {
            fault = .tooLong
            return
        }
        storage[count] = byte
        count += 1
    }
}

/// Why the bytes between two delimiters are no frame.
public enum StreamFault: UInt8, Equatable, Sendable {
    /// A block of the byte stuffing reaches beyond the delimiter, or its code is 0xFF.
    case brokenStuffing
    /// More than 253 bytes.
    case tooLong
    /// Fewer than 7 bytes.
    case tooShort
}

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
