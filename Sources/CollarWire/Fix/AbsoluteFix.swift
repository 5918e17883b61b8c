/// The absolute form of a fix: bit-packed, decodable without any other fix.
///
/// With every field known, a time in whole seconds, a position step of 1e-5 degree, a 16-bit sequence and no escape, its payload
/// has exactly 20 bytes.
public enum AbsoluteFix {
    private typealias Layout = AbsoluteFixLayout

    /// Bytes of the largest payload, in which every escape is used: 31.
    public static var maximumPayloadByteCount: Int { Layout.maximumPayloadByteCount }

    /// Appends the bare frame of `fix`.
    ///
    /// `reference` is the sequence that the sender assumes as the receiver's reference; nil if it assumes none. A fix less than
    /// 32,768 away from `reference` is sent with 16 bits of its sequence, any other fix with all 32. The receiver completes the
    /// 16 bits around its own reference, which must be at most 32,767 away from `reference`.
    /// - Throws: ``EncodeError`` if a field is out of range or the output is too small.
    public static func encode(
        _ fix: Fix, address: UInt8, flags: FrameFlags, log: LogIdentity, reference: UInt32?,
        into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        var isWide = true
        if let reference {
            let distance = fix.sequence > reference ? fix.sequence - reference : reference - fix.sequence
            isWide = distance >= 1 &<< UInt32(truncatingIfNeeded: Layout.shortSequenceWidth &- 1)
        }
        var payload = BitWriter()
        try writePayload(of: fix, wideSequence: isWide, into: &payload)
        try payload.encode(
            as: .absoluteFix, flags: flags, address: address, lowByte: UInt8(truncatingIfNeeded: fix.sequence), crc: log.boundCRC,
            shortSequence: isWide ? 0 : fix.sequence, into: &output)
    }

    /// Writes the payload alone. A log in flash or on disk keeps fixes in this form, with the wide sequence.
    /// - Throws: ``EncodeError`` if a field is out of range.
    public static func writePayload(of fix: Fix, wideSequence: Bool, into writer: inout BitWriter) throws(EncodeError) {
        try fix.validate()
        writeFields(of: FixCodes(of: fix), isWide: wideSequence, into: &writer)
    }

    /// Writes the fields of a valid fix.
    ///
    /// `isWide` tells whether all bits of the sequence are written. If it is nil, all are written, without the field `wide`.
    static func writeFields(of codes: FixCodes, isWide: Bool?, into writer: inout BitWriter) {
        let time = TimeCode(unixMilliseconds: codes.unixMilliseconds)
        let isPartial = !codes.presence.isComplete
        let head =
            inHead(Layout.partial, isPartial ? 1 : 0) | inHead(Layout.timeForm, time.form.rawValue)
            | inHead(Layout.positionStep, codes.positionStep) | inHead(Layout.altitudeStep, codes.altitudeStep)
            | inHead(Layout.source, codes.source)
        writer.write(head, Layout.headWidth)
        if let isWide { writer.write(isWide ? 1 : 0, Layout.wide.width) }
        if isPartial { writer.write(UInt32(codes.presence.rawValue), Layout.maskWidth) }
        writer.write(Layout.upperBits(of: codes.sequence), isWide == false ? Layout.sequence.width : Layout.wideSequenceWidth)
        writer.write(time.start, Layout.time.width)
        writer.write(time.rest, time.form.restBitCount)
        let added = Layout.bitsPerPositionStep &* Int(codes.positionStep)
        let quarterTurn = codes.stepsPerQuarterTurn
        writer.write(UInt32(bitPattern: codes.givenValue(FixCodes.Field.latitude) &+ quarterTurn), Layout.latitude.width &+ added)
        writer.write(
            UInt32(bitPattern: codes.givenValue(FixCodes.Field.longitude) &+ 2 &* quarterTurn), Layout.longitude.width &+ added)
        var field = 0
        while field < FieldPresence.bitCount {
            if codes.isKnown(field) { write(codes.givenValue(field), as: field, into: &writer) }
            field &+= 1
        }
    }

    /// The head of a payload (``AbsoluteFixLayout/headWidth``) with `code` in `field` and zeros elsewhere.
    @inline(__always)
    private static func inHead(_ field: BitField, _ code: UInt8) -> UInt32 {
        field.word(with: UInt32(code), endingAt: Layout.wide.start)
    }

    /// Number of bits that follow the escape of `field`, which is the altitude or the speed.
    @inline(__always)
    private static func escapedWidth(of field: Int) -> Int {
        field == FixCodes.Field.altitude ? Layout.altitude.escapedWidth : Layout.speed.escapedWidth
    }

    /// Writes a field that may be unknown.
    @inline(__always)
    private static func write(_ value: Int32, as field: Int, into writer: inout BitWriter) {
        let width = Layout.width(of: field)
        let escape: UInt32 = 1 &<< width &- 1
        let code = UInt32(bitPattern: field == FixCodes.Field.altitude ? value &- Layout.lowestAltitude : value)
        writer.write(min(code, escape), Int(width))
        if code >= escape { writer.writeSigned(value, escapedWidth(of: field)) }
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    ///
    /// A sequence of 16 bits is completed around `reference`, for example the highest sequence known of this log.
    /// - Throws: ``DecodeError`` if the payload is invalid.
    public static func decode(_ frame: Span<UInt8>, header: FrameHeader, reference: UInt32) throws(DecodeError) -> Fix {
        var reader = BitReader(payloadOf: frame)
        return try readPayload(from: &reader, lowSequenceByte: header.lowByte, reference: reference)
    }

    /// Decodes a payload that is kept without its frame, in the first `count` of `bytes`. The payload must hold the wide
    /// sequence.
    public static func decodePayload(_ bytes: Span<UInt8>, count: Int, lowSequenceByte: UInt8) throws(DecodeError) -> Fix {
        var reader = BitReader(bytes, from: 0, to: count)
        return try readPayload(from: &reader, lowSequenceByte: lowSequenceByte, reference: 0)
    }

    private static func readPayload(
        from reader: inout BitReader, lowSequenceByte: UInt8, reference: UInt32
    ) throws(DecodeError) -> Fix {
        let codes = readFields(from: &reader, lowSequenceByte: lowSequenceByte, reference: reference)
        try reader.checkEnd()
        return codes.fix
    }

    /// Reads the fields of a fix. The caller must then check with `reader` that they are valid and complete.
    ///
    /// A sequence of 16 bits is completed around `reference`. A nil `reference` stands for a payload that lacks the field `wide`
    /// and holds all bits of the sequence.
    static func readFields(from reader: inout BitReader, lowSequenceByte: UInt8, reference: UInt32?) -> FixCodes {
        var codes = FixCodes()
        let head = reader.read(Layout.headWidth)
        let isPartial = code(of: Layout.partial, in: head) == 1
        let timeForm = TimeCode.Form(rawValue: code(of: Layout.timeForm, in: head)) ?? .seconds
        codes.positionStep = code(of: Layout.positionStep, in: head)
        reader.require(codes.positionStep <= PositionStep.e7.rawValue, .positionStep, UInt32(codes.positionStep))
        codes.altitudeStep = code(of: Layout.altitudeStep, in: head)
        codes.source = code(of: Layout.source, in: head)
        reader.require(codes.source <= FixSource.collar.rawValue, .source, UInt32(codes.source))
        let isWide = reference == nil || reader.read(Layout.wide.width) == 1
        codes.presence = isPartial ? FieldPresence(rawValue: UInt8(reader.read(Layout.maskWidth))) : .complete
        let upperBits = reader.read(isWide ? Layout.wideSequenceWidth : Layout.sequence.width)
        codes.sequence = Layout.joined(upperBits, UInt32(lowSequenceByte))
        if let reference, !isWide { codes.sequence = complete(codes.sequence, around: reference) }
        reader.require(codes.sequence <= Fix.maximumSequence, .sequence, codes.sequence)
        codes.unixMilliseconds = timeForm.read(from: &reader)
        let added = Layout.bitsPerPositionStep &* Int(codes.positionStep)
        let quarterTurn = codes.stepsPerQuarterTurn
        readAngle(FixCodes.Field.latitude, Layout.latitude.width &+ added, limit: quarterTurn, into: &codes, from: &reader)
        readAngle(FixCodes.Field.longitude, Layout.longitude.width &+ added, limit: 2 &* quarterTurn, into: &codes, from: &reader)
        var field = 0
        while field < FieldPresence.bitCount {
            if codes.isKnown(field) { read(field, into: &codes, from: &reader) }
            field &+= 1
        }
        return codes
    }

    /// The low 16 bits of the sequence in a bare frame; nil if the frame is not an absolute fix, holds the whole sequence, or
    /// ends before the sequence.
    static func shortSequence(of frame: Span<UInt8>) -> UInt32? {
        let start = Layout.lowByte.start / 8
        let end = start + 4
        guard frame.count >= end + CRC24.byteCount, FrameHeader.typeCode(of: frame) == MessageType.absoluteFix.rawValue else {
            return nil
        }
        // These four bytes hold the fields from the low byte to the sequence, with or without a mask between them.
        let word = frame.bigEndianHalfWord(at: start)
        guard Layout.wide.code(in: word, endingAt: 8 * end) == 0 else { return nil }
        let isPartial = Layout.partial.code(in: word, endingAt: 8 * end) == 1
        let sequence = isPartial ? Layout.sequence.moved(by: Layout.maskWidth) : Layout.sequence
        return Layout.joined(sequence.code(in: word, endingAt: 8 * end), Layout.lowByte.code(in: word, endingAt: 8 * end))
    }

    /// The sequence nearest to `reference` whose low 16 bits are `lowBits`.
    static func complete(_ lowBits: UInt32, around reference: UInt32) -> UInt32 {
        SequenceNumber.nearest(to: reference, lowBits: lowBits, bitCount: Layout.shortSequenceWidth)
    }

    @inline(__always)
    private static func code(of field: BitField, in head: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: field.code(in: head, endingAt: Layout.wide.start))
    }

    private static func readAngle(
        _ field: Int, _ bitCount: Int, limit: Int32, into codes: inout FixCodes, from reader: inout BitReader
    ) {
        let code = reader.read(bitCount)
        reader.require(code <= 2 &* UInt32(limit), FixCodes.Field.name(of: field), code)
        codes.keep(field, Int32(bitPattern: code) &- limit)
    }

    /// Reads a field that may be unknown.
    private static func read(_ field: Int, into codes: inout FixCodes, from reader: inout BitReader) {
        let width = Layout.width(of: field)
        let code = reader.read(Int(width))
        let isAltitude = field == FixCodes.Field.altitude
        var value = Int32(bitPattern: code) &+ (isAltitude ? Layout.lowestAltitude : 0)
        if isAltitude || field == FixCodes.Field.speed, code == 1 &<< width &- 1 {
            let wide = reader.readSigned(escapedWidth(of: field))
            value = isAltitude ? wide : wide & Int32(bitPattern: Fix.maximumSpeedDecimetersPerSecond)
        }
        reader.require(codes.accepts(Int64(widening: value), as: field), FixCodes.Field.name(of: field), code)
        codes.keep(field, value)
    }
}
