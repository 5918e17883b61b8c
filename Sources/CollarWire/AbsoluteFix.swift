/// The absolute form of a fix: bit-packed, decodable without any other fix.
///
/// With every field known, whole seconds, 1e-5 degree and a 16-bit sequence its payload is exactly 20 bytes.
public enum AbsoluteFix {
    /// Upper bound of the payload, every escape taken: 31 bytes.
    public static var maximumPayloadByteCount: Int { 31 }

    /// Appends the bare frame of `fix`.
    /// - Parameters:
    ///   - reference: a sequence the receiver is known to be within 32,767 of; then 16 bits of the sequence are
    ///     sent, else all 32.
    /// - Throws: a field out of range, or an output too small.
    public static func encode(
        _ fix: Fix, address: UInt8, flags: FrameFlags, log: LogIdentity, reference: UInt32?,
        into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        var isWide = true
        if let reference {
            let distance = fix.sequence > reference ? fix.sequence - reference : reference - fix.sequence
            isWide = distance >= 32_768
        }
        var payload = BitWriter()
        try writePayload(of: fix, wideSequence: isWide, into: &payload)
        let header = FrameHeader(
            type: .absoluteFix, flags: flags, address: address, lowByte: UInt8(truncatingIfNeeded: fix.sequence))
        try FrameEncoder.encode(
            header: header, payload: &payload, check: log.boundCheck, shortSequence: isWide ? 0 : fix.sequence,
            into: &output)
    }

    /// Writes the payload alone. A log in flash or on disk keeps fixes in this form, with the wide sequence.
    /// - Throws: a field out of range.
    public static func writePayload(
        of fix: Fix, wideSequence: Bool, into writer: inout BitWriter
    ) throws(EncodeError) {
        try fix.validate()
        writeFields(of: FixCodes(of: fix), isWide: wideSequence, into: &writer)
    }

    /// Writes the fields of a valid fix.
    /// - Parameter isWide: whether all bits of the sequence are written; nil where that goes without saying.
    static func writeFields(of codes: FixCodes, isWide: Bool?, into writer: inout BitWriter) {
        let time = TimeCode(unixMilliseconds: codes.unixMilliseconds)
        let isPartial = !codes.presence.isComplete
        let steps = UInt32(codes.positionStep) &<< 3 | UInt32(codes.altitudeStep) &<< 2 | UInt32(codes.source)
        writer.write((isPartial ? 1 &<< 7 : 0) | UInt32(time.form.rawValue) &<< 5 | steps, 8)
        if let isWide { writer.write(isWide ? 1 : 0, 1) }
        if isPartial { writer.write(UInt32(codes.presence.rawValue), FieldPresence.bitCount) }
        writer.write(codes.sequence &>> 8, isWide == false ? 8 : 24)
        writer.write(time.start, 32)
        writer.write(time.rest, time.form.restBitCount)
        let width = 25 &+ 3 &* Int(codes.positionStep)
        let quarterTurn = codes.stepsPerQuarterTurn
        writer.write(UInt32(bitPattern: codes.value(FixCodes.Field.latitude) &+ quarterTurn), width)
        writer.write(UInt32(bitPattern: codes.value(FixCodes.Field.longitude) &+ 2 &* quarterTurn), width &+ 1)
        var field = 0
        while field < FieldPresence.bitCount {
            if codes.isKnown(field) { write(codes.value(field), as: field, into: &writer) }
            field &+= 1
        }
    }

    /// Width of a field that may be unknown: 14, 7, 7, 9, 8, 8 or 7 bits.
    @inline(__always)
    private static func bitCount(of field: Int) -> UInt32 {
        0x788_977E &>> UInt32(truncatingIfNeeded: field &* 4) & 0xF
    }

    /// What stands for an altitude or a speed that is too wide for its field: its last code, and these bits behind it.
    @inline(__always)
    private static func wideBitCount(of field: Int) -> Int { field == FixCodes.Field.altitude ? 24 : 20 }

    /// The altitude of code 0.
    static var lowestAltitude: Int32 { -1000 }

    /// Writes a field that may be unknown.
    @inline(__always)
    private static func write(_ value: Int32, as field: Int, into writer: inout BitWriter) {
        let bitCount = bitCount(of: field)
        let escape: UInt32 = 1 &<< bitCount &- 1
        let code = UInt32(bitPattern: field == FixCodes.Field.altitude ? value &- lowestAltitude : value)
        writer.write(min(code, escape), Int(bitCount))
        if code >= escape { writer.writeSigned(value, wideBitCount(of: field)) }
    }

    /// Decodes the payload of a frame whose header and check have been verified.
    /// - Parameters:
    ///   - reference: the highest sequence known of this log, against which a 16-bit sequence is completed.
    /// - Throws: ``DecodeError`` where the payload is not what an encoder writes.
    public static func decode(
        _ frame: Span<UInt8>, header: FrameHeader, reference: UInt32
    ) throws(DecodeError) -> Fix {
        var reader = BitReader(payloadOf: frame)
        return try readPayload(from: &reader, lowSequenceByte: header.lowByte, reference: reference)
    }

    /// Decodes a payload alone, written with the wide sequence, from the first `count` bytes.
    public static func decodePayload(
        _ bytes: Span<UInt8>, count: Int, lowSequenceByte: UInt8
    ) throws(DecodeError) -> Fix {
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

    /// Reads the fields of a fix; whether they are valid and all there is left to check.
    /// - Parameter reference: the highest sequence known of the log; nil where all bits of a sequence are always there.
    static func readFields(from reader: inout BitReader, lowSequenceByte: UInt8, reference: UInt32?) -> FixCodes {
        var codes = FixCodes()
        let isPartial = reader.read(1) == 1
        let timeForm = TimeCode.Form(rawValue: UInt8(reader.read(2))) ?? .seconds
        codes.positionStep = UInt8(reader.read(2))
        reader.require(codes.positionStep <= 2, .positionStep, 3)
        codes.altitudeStep = UInt8(reader.read(1))
        codes.source = UInt8(reader.read(2))
        reader.require(codes.source <= 2, .source, 3)
        let isWide = reference == nil || reader.read(1) == 1
        codes.presence = isPartial ? FieldPresence(rawValue: UInt8(reader.read(FieldPresence.bitCount))) : .complete
        codes.sequence = reader.read(isWide ? 24 : 8) &<< 8 | UInt32(lowSequenceByte)
        if let reference, !isWide { codes.sequence = complete(codes.sequence, around: reference) }
        reader.require(codes.sequence <= Fix.maximumSequence, .sequence, codes.sequence)
        codes.unixMilliseconds = timeForm.read(from: &reader)
        let width = 25 &+ 3 &* Int(codes.positionStep)
        let quarterTurn = codes.stepsPerQuarterTurn
        readAngle(FixCodes.Field.latitude, width, limit: quarterTurn, into: &codes, from: &reader)
        readAngle(FixCodes.Field.longitude, width &+ 1, limit: 2 &* quarterTurn, into: &codes, from: &reader)
        var field = 0
        while field < FieldPresence.bitCount {
            if codes.isKnown(field) { read(field, into: &codes, from: &reader) }
            field &+= 1
        }
        return codes
    }

    /// The low 16 bits of the sequence of a bare frame; nil where it is no absolute fix, or holds all of its sequence,
    /// or ends before it.
    static func shortSequence(of frame: Span<UInt8>) -> UInt32? {
        guard frame.count >= Frame.overheadByteCount + 3, frame[0] & 0x1F == MessageType.absoluteFix.rawValue else {
            return nil
        }
        let (isPartial, isWide) = (frame[4] &>> 7 == 1, frame[5] &>> 7 == 1)
        // The mask, if there is one, and then the sequence follow `wide`.
        let high = isPartial ? frame[6] : frame[5] &<< 1 | frame[6] &>> 7
        return isWide ? nil : UInt32(high) &<< 8 | UInt32(frame[3])
    }

    /// The sequence with these low 16 bits that is nearest to `reference`.
    static func complete(_ lowBits: UInt32, around reference: UInt32) -> UInt32 {
        SequenceNumber.nearest(to: reference, lowBits: lowBits, bitCount: 16)
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
        let bitCount = bitCount(of: field)
        let code = reader.read(Int(bitCount))
        let isAltitude = field == FixCodes.Field.altitude
        var value = Int32(bitPattern: code) &+ (isAltitude ? lowestAltitude : 0)
        if isAltitude || field == FixCodes.Field.speed, code == 1 &<< bitCount &- 1 {
            let wide = reader.readSigned(wideBitCount(of: field))
            value = isAltitude ? wide : wide & 0xF_FFFF
        }
        reader.require(codes.accepts(Int64(widening: value), as: field), FixCodes.Field.name(of: field), code)
        codes.keep(field, value)
    }
}
