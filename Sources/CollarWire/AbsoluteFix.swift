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
        try FrameEncoder.encode(header: header, payload: &payload, log: log, into: &output)
    }

    /// Writes the payload alone. A log in flash or on disk keeps fixes in this form, with the wide sequence.
    /// - Throws: a field out of range.
    public static func writePayload(
        of fix: Fix, wideSequence: Bool, into writer: inout BitWriter
    ) throws(EncodeError) {
        do throws(FixRangeError) { try fix.validate() } catch { throw .fix(error) }
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
        writer.write(time.rest, time.restBitCount)
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

    /// Writes a field that may be unknown: the last code of its short width stands for a wide one.
    @inline(__always)
    private static func write(_ value: Int32, as field: Int, into writer: inout BitWriter) {
        let isAltitude = field == FixCodes.Field.altitude
        // Four bits for the width of each: 14, 7, 7, 9, 8, 8, 7.
        let bitCount = 0x788_977E &>> UInt32(truncatingIfNeeded: field &* 4) & 0xF as UInt32
        let escape: UInt32 = 1 &<< bitCount &- 1
        let code = UInt32(bitPattern: isAltitude ? value &- AltitudeCode.lowest : value)
        writer.write(min(code, escape), Int(bitCount))
        if code >= escape {
            writer.writeSigned(value, isAltitude ? AltitudeCode.wideBitCount : SpeedCode.wideBitCount)
        }
    }

    /// Decodes a bare frame: header, check, payload.
    /// - Parameters:
    ///   - reference: the highest sequence known of this log, against which a 16-bit sequence is completed.
    /// - Throws: ``DecodeError``; ``DecodeError/unknownType`` for a frame of another type.
    public static func decode(
        _ frame: Span<UInt8>, log: LogIdentity, reference: UInt32
    ) throws(DecodeError) -> Fix {
        let header = try FrameHeader(frame)
        guard header.type == .absoluteFix else { throw .unknownType(header.typeCode) }
        guard FrameCheck.isValid(frame, log: log) else { throw .checkFailed }
        return try decode(frame, header: header, reference: reference)
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
        let fix = try readFields(from: &reader, lowSequenceByte: lowSequenceByte, reference: reference)
        try reader.checkEnd()
        return fix
    }

    /// Reads the fields of a fix; whether they are all there is left to check.
    /// - Parameter reference: the highest sequence known of the log; nil where all bits of a sequence are always there.
    static func readFields(
        from reader: inout BitReader, lowSequenceByte: UInt8, reference: UInt32?
    ) throws(DecodeError) -> Fix {
        let isPartial = reader.read(1) == 1
        let timeForm = TimeCode.Form(rawValue: UInt8(reader.read(2)))
        guard let positionStep = PositionStep(rawValue: UInt8(reader.read(2))) else {
            throw reader.fault(.invalidField(.positionStep, code: 3))
        }
        let altitudeStep: AltitudeStep = reader.read(1) == 0 ? .meter : .decimeter
        guard let source = FixSource(rawValue: UInt8(reader.read(2))) else {
            throw reader.fault(.invalidField(.source, code: 3))
        }
        let isWide = reference == nil || reader.read(1) == 1
        let presence =
            isPartial ? FieldPresence(rawValue: UInt8(reader.read(FieldPresence.bitCount))) : .complete
        let high = reader.read(isWide ? 24 : 8)
        var sequence = high &<< 8 | UInt32(lowSequenceByte)
        if let reference, !isWide { sequence = SequenceNumber.nearest(to: reference, lowBits: sequence, bitCount: 16) }
        guard sequence <= Fix.maximumSequence else { throw reader.fault(.invalidField(.sequence, code: sequence)) }
        guard let timeForm else { throw reader.fault(.invalidField(.secondFraction, code: 0)) }
        let time = try timeForm.read(from: &reader)
        var fix = Fix(
            sequence: sequence, unixMilliseconds: time, source: source, positionStep: positionStep,
            latitudeSteps: 0, longitudeSteps: 0, altitudeStep: altitudeStep)
        try readPosition(into: &fix, from: &reader)
        try readOptionalFields(presence, into: &fix, from: &reader)
        return fix
    }

    private static func readPosition(into fix: inout Fix, from reader: inout BitReader) throws(DecodeError) {
        let width = fix.positionStep.latitudeBitCount
        let quarterTurn = fix.positionStep.stepsPerQuarterTurn
        let latitudeCode = reader.read(width)
        guard latitudeCode <= 2 * UInt32(quarterTurn) else { throw reader.fault(.invalidField(.latitude, code: latitudeCode)) }
        let longitudeCode = reader.read(width + 1)
        guard longitudeCode <= 4 * UInt32(quarterTurn) else {
            throw reader.fault(.invalidField(.longitude, code: longitudeCode))
        }
        fix.latitudeSteps = Int32(bitPattern: latitudeCode) &- quarterTurn
        fix.longitudeSteps = Int32(bitPattern: longitudeCode) &- 2 &* quarterTurn
    }

    private static func readOptionalFields(
        _ presence: FieldPresence, into fix: inout Fix, from reader: inout BitReader
    ) throws(DecodeError) {
        if presence.contains(.altitude) {
            let code = Int32(bitPattern: reader.read(AltitudeCode.bitCount))
            fix.altitudeSteps =
                code == AltitudeCode.escape
                ? reader.readSigned(AltitudeCode.wideBitCount) : code + AltitudeCode.lowest
        }
        if presence.contains(.horizontalAccuracy) {
            let code = reader.read(7)
            fix.horizontalAccuracy = AccuracyCode(rawValue: UInt8(code))
            if fix.horizontalAccuracy == nil { throw reader.fault(.invalidField(.horizontalAccuracy, code: code)) }
        }
        if presence.contains(.verticalAccuracy) {
            let code = reader.read(7)
            fix.verticalAccuracy = AccuracyCode(rawValue: UInt8(code))
            if fix.verticalAccuracy == nil { throw reader.fault(.invalidField(.verticalAccuracy, code: code)) }
        }
        if presence.contains(.speed) {
            let code = reader.read(SpeedCode.bitCount)
            fix.speedDecimetersPerSecond = code == SpeedCode.escape ? reader.read(SpeedCode.wideBitCount) : code
        }
        if presence.contains(.course) {
            let code = reader.read(8)
            fix.course = AngleCode(steps: UInt8(code))
            if fix.course == nil { throw reader.fault(.invalidField(.course, code: code)) }
        }
        if presence.contains(.heading) {
            let code = reader.read(8)
            fix.heading = AngleCode(steps: UInt8(code))
            if fix.heading == nil { throw reader.fault(.invalidField(.heading, code: code)) }
        }
        if presence.contains(.battery) {
            let code = reader.read(7)
            guard code <= 100 else { throw reader.fault(.invalidField(.battery, code: code)) }
            fix.batteryPercent = UInt8(code)
        }
    }
}

extension PositionStep {
    /// Width of a latitude, offset so that −90° is 0: 25, 28 or 31 bits. A longitude takes one bit more.
    var latitudeBitCount: Int { 25 + 3 * Int(rawValue) }
}

/// An altitude: 14 bits from −1000 steps up; the last code is followed by 24 bits, two's complement.
enum AltitudeCode {
    static let bitCount = 14
    static let lowest: Int32 = -1000
    static let escape: Int32 = (1 &<< 14) - 1
    static let wideBitCount = 24
}

/// A speed in 0.1 m/s: 9 bits; the last code is followed by 20 bits.
enum SpeedCode {
    static let bitCount = 9
    static let escape: UInt32 = (1 &<< 9) - 1
    static let wideBitCount = 20
}
