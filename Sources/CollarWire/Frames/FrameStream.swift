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
        // A code byte precedes the frame and replaces each zero byte. It is the distance to the next code byte, or to the delimiter.
        var codeIndex = output.count
        output.append(0)
        var index = 0
        while index < frame.count {
            let byte = frame[index]
            index &+= 1
            if byte == 0 {
                output[codeIndex] = UInt8(truncatingIfNeeded: output.count &- codeIndex)
                codeIndex = output.count
            }
            output.append(byte)
        }
        output[codeIndex] = UInt8(truncatingIfNeeded: output.count &- codeIndex)
        output.append(delimiter)
    }
}

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
    /// Stores a word in ``stuffed``.
    @inline(__always)
    mutating func keep<Word: FixedWidthInteger & BitwiseCopyable>(_ word: Word, at offset: Int) {
        var span = stuffed.mutableSpan
        span.store(word.littleEndian, at: offset)
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

    /// The name of the fault in `Protocol/PROTOCOL.md` and in the vectors.
    public var name: StaticString {
        switch self {
        case .brokenStuffing: "stuffing"
        case .tooLong: "too_long"
        case .tooShort: "too_short"
        }
    }
}

#if !hasFeature(Embedded)
    /// Decodes fixes of the commonest form directly from the stream, for a host that receives many of them.
    extension StreamDecoder {
        private typealias Layout = AbsoluteFixLayout

        /// Bytes of the commonest frame: an absolute fix with every field known, whole seconds, 1e-5 degree, 16 bits of sequence
        /// and no escape.
        static var commonFrameByteCount: UInt8 {
            UInt8(truncatingIfNeeded: Layout.commonByteCount &+ CRC24.byteCount)
        }
        /// ``commonFrameByteCount`` plus the code byte before the frame and the delimiter after it.
        private static var commonPieceByteCount: Int { Layout.commonByteCount &+ CRC24.byteCount &+ 2 }

        /// The bits that identify the commonest form: version, type and critical flags of the header, and form of the payload.
        private static var shapeMask: UInt64 {
            FrameWords.header(firstByte: 0xFF, flags: FrameFlags.sealedMask | FrameFlags.criticalMask)
                | FrameWords.mask(of: Layout.partial) | FrameWords.mask(of: Layout.timeForm) | FrameWords.mask(of: Layout.positionStep)
                | FrameWords.mask(of: Layout.wide)
        }
        /// The values of the ``shapeMask`` bits in the commonest form: version and type as in every absolute fix, all other bits
        /// 0.
        private static var shape: UInt64 {
            FrameWords.header(firstByte: FrameHeader.firstByte(typeCode: MessageType.absoluteFix.rawValue), flags: 0)
        }

        /// The limits of the fields that lie entirely in the third word.
        private static var limits: CodeLimits {
            CodeLimits()
                .adding(Layout.altitude, firstInvalid: Layout.altitude.escape)
                .adding(Layout.horizontalAccuracy, firstInvalid: UInt32(AccuracyCode.top) &+ 1)
                .adding(Layout.verticalAccuracy, firstInvalid: UInt32(AccuracyCode.top) &+ 1)
                .adding(Layout.speed, firstInvalid: Layout.speed.escape)
                .adding(Layout.course, firstInvalid: UInt32(AngleCode.count))
                .adding(Layout.heading, firstInvalid: UInt32(AngleCode.count))
                .adding(Layout.battery, firstInvalid: UInt32(Fix.maximumBatteryPercent) &+ 1)
        }

        /// Reads the next frame, if it is whole, undamaged, of this log, and a fix of the commonest form: absolute, every field
        /// known, whole seconds, 1e-5 degree, 16 bits of sequence, no escape.
        ///
        /// This is a shortcut with the same results as ``next(in:at:)`` and ``Message/decode(_:log:reference:)``. In this form
        /// the fields have fixed places, so they are taken from the three words over which the CRC is computed.
        /// - Parameters:
        ///   - bytes: bytes of the stream.
        ///   - index: where to begin; afterwards past the delimiter that ended the frame.
        ///   - log: the log to which the fix must belong.
        ///   - reference: the highest sequence known of this log, around which the sequence is completed.
        ///   - fix: receives the fix; unchanged if none was read.
        /// - Returns: whether a fix was read; then ``frame`` holds its frame. If none was read, `index` is unchanged, and
        ///   ``next(in:at:)`` gives the next event.
        public mutating func nextFix(
            in bytes: Span<UInt8>, at index: inout Int, log: LogIdentity, reference: UInt32, into fix: inout Fix
        ) -> Bool {
            guard isBetweenFrames else { return false }
            var rest = bytes.extracting(index..<bytes.count)
            guard rest.count > StreamDecoder.commonPieceByteCount else { return false }
            if rest[0] == StreamEncoder.delimiter { rest = rest.extracting(1..<rest.count) }
            guard unstuffCommonFrame(of: rest.extracting(0..<StreamDecoder.commonPieceByteCount)) else { return false }

            let words = FrameWords(stuffed.span, from: 1)
            guard words.first & StreamDecoder.shapeMask == StreamDecoder.shape else { return false }
            let lowSequence = Layout.joined(words[Layout.sequence], words[Layout.lowByte])
            // The distance from the reference is a signed number with as many bits as the sent part of the sequence.
            let unsent = Int32(UInt32.bitWidth &- Layout.shortSequenceWidth)
            let distance = (Int32(bitPattern: lowSequence &- reference) &<< unsent) &>> unsent
            let sequence = Int64(reference) &+ Int64(distance)
            var crc = log.commonFrameCRC
            crc.update(words: words.first, words.second, words.third)
            crc.update(upperBitsOf: UInt32(truncatingIfNeeded: sequence))
            guard crc.checksum == stuffed.span.littleEndianHalfWord(at: 25).byteSwapped &>> 8 else { return false }

            let quarterTurn = PositionStep.e5.stepsPerQuarterTurn
            let (latitudeCode, longitudeCode) = (words[Layout.latitude], words[Layout.longitude])
            guard StreamDecoder.limits.areKept(in: words.third), sequence >= 0, sequence <= Int64(Fix.maximumSequence),
                latitudeCode <= 2 &* UInt32(quarterTurn), longitudeCode <= 4 &* UInt32(quarterTurn),
                let source = FixSource(rawValue: UInt8(words[Layout.source]))
            else { return false }
            fix = Fix(
                sequence: UInt32(truncatingIfNeeded: sequence), unixMilliseconds: Int64(words[Layout.time]) &* 1000,
                source: source, positionStep: .e5, latitudeSteps: Int32(latitudeCode) &- quarterTurn,
                longitudeSteps: Int32(longitudeCode) &- 2 &* quarterTurn,
                altitudeStep: words[Layout.altitudeStep] == 0 ? .meter : .decimeter,
                altitudeSteps: Int32(words[Layout.altitude]) &+ Layout.lowestAltitude,
                horizontalAccuracy: AccuracyCode(checked: UInt8(words[Layout.horizontalAccuracy])),
                verticalAccuracy: AccuracyCode(checked: UInt8(words[Layout.verticalAccuracy])),
                speedDecimetersPerSecond: words[Layout.speed],
                course: AngleCode(checked: UInt8(words[Layout.course])),
                heading: AngleCode(checked: UInt8(words[Layout.heading])), batteryPercent: UInt8(words[Layout.battery]))
            index = bytes.count &- rest.count &+ StreamDecoder.commonPieceByteCount
            announceFrame(stuffedByteCount: StreamDecoder.commonPieceByteCount &- 1)
            return true
        }

        /// Stores a frame of ``commonFrameByteCount`` bytes without its stuffing.
        /// - Parameter piece: the code byte, the frame, the delimiter.
        /// - Returns: false if the piece has a delimiter before its end or none at its end, or if a block reaches beyond its end.
        @inline(__always)
        private mutating func unstuffCommonFrame(of piece: Span<UInt8>) -> Bool {
            let first = piece.littleEndianWord(at: 1)
            let second = piece.littleEndianWord(at: 9)
            let third = piece.littleEndianWord(at: 17)
            let last = piece.littleEndianHalfWord(at: 25)
            guard first.zeroByteMask | second.zeroByteMask | third.zeroByteMask == 0,
                last.zeroByteMask == 0x8000_0000
            else { return false }
            keep(first, at: 1)
            keep(second, at: 9)
            keep(third, at: 17)
            keep(last, at: 25)
            // A code byte of 0 would be a second delimiter.
            var codeIndex = UInt32(piece[0])
            guard codeIndex != 0 else { return false }
            while codeIndex <= StreamDecoder.commonFrameByteCount {
                let code = UInt32(stuffed[Int(codeIndex)])
                stuffed[Int(codeIndex)] = 0
                codeIndex &+= code
            }
            return codeIndex == UInt32(StreamDecoder.commonFrameByteCount) + 1
        }
    }

    /// A frame of the commonest form without its CRC, in the three words over which the CRC is computed. Places of fields are
    /// compile-time constants, so that reading a field takes a shift and a mask.
    private struct FrameWords {
        let first, second, third: UInt64

        @inline(__always)
        init(_ bytes: Span<UInt8>, from start: Int) {
            first = bytes.bigEndianWord(at: start)
            second = bytes.bigEndianWord(at: start &+ 8)
            third = bytes.bigEndianWord(at: start &+ 16)
        }

        /// Number of bits after the end of a field, in the word in which the field ends.
        @inline(__always)
        static func shift(of field: BitField) -> UInt64 { UInt64(truncatingIfNeeded: 0 &- field.end) & 63 }

        /// The mask of a field's bits in the word in which the field ends.
        @inline(__always)
        static func mask(of field: BitField) -> UInt64 { UInt64(field.highestCode) &<< shift(of: field) }

        /// A first word that has `firstByte` and `flags` in their places and zeros elsewhere.
        @inline(__always)
        static func header(firstByte: UInt8, flags: UInt8) -> UInt64 { UInt64(firstByte) &<< 56 | UInt64(flags) &<< 48 }

        /// The code of a field.
        @inline(__always)
        subscript(field: BitField) -> UInt32 {
            let word = field.end <= 64 ? first : field.end <= 128 ? second : third
            let before = field.end <= 128 ? first : second
            let shift = FrameWords.shift(of: field)
            let beginsBefore = field.start &>> 6 != (field.end &- 1) &>> 6
            let upper: UInt64 = beginsBefore ? before &<< (64 &- shift) : 0
            return UInt32(truncatingIfNeeded: upper | word &>> shift) & field.highestCode
        }
    }

    /// The lowest invalid code of each field of a word. One addition compares all fields with their limits.
    private struct CodeLimits {
        /// The number to add to the word. The addition carries from each field with an invalid code into the bit above the
        /// field.
        private var addend: UInt64 = 0
        /// The bits into which these carries go.
        private var carryMask: UInt64 = 0

        @inline(__always)
        func adding(_ field: BitField, firstInvalid code: UInt32) -> CodeLimits {
            var limits = self
            limits.addend |= UInt64(field.highestCode &- code &+ 1) &<< FrameWords.shift(of: field)
            limits.carryMask |= (FrameWords.mask(of: field) &<< 1) & ~FrameWords.mask(of: field)
            return limits
        }

        /// Whether all codes are valid. A field with an invalid code always carries; a field with a valid code can carry only if
        /// a field below it does.
        @inline(__always)
        func areKept(in word: UInt64) -> Bool {
            let carries = (word &+ addend) ^ word ^ addend
            return carries & carryMask == 0
        }
    }
#endif
