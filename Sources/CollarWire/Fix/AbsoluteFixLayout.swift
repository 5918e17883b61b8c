/// The fields of an absolute fix in the order in which they are sent, with their widths and escapes (PROTOCOL.md, section 6).
/// ``AbsoluteFix`` and the shortcut ``StreamDecoder/nextFix(in:at:log:reference:into:)`` both use this layout.
///
/// Each field has its place in a frame of the commonest form: every field known, a time in whole seconds, a position step of
/// 1e-5 degree, 16 bits of the sequence, no escape. In other forms additional bits move the fields that follow them.
enum AbsoluteFixLayout {
    /// The low bits of the sequence: the last field of the header.
    static var lowByte: BitField { BitField(8, at: 8 &* FrameHeader.byteCount &- 8) }

    static var partial: BitField { BitField(1, after: lowByte) }
    static var timeForm: BitField { BitField(2, after: partial) }
    static var positionStep: BitField { BitField(2, after: timeForm) }
    static var altitudeStep: BitField { BitField(1, after: positionStep) }
    static var source: BitField { BitField(2, after: altitudeStep) }
    /// Whether all bits of the sequence are sent. The first fix of a batch lacks this field; all bits of its sequence are sent.
    static var wide: BitField { BitField(1, after: source) }
    // If `partial` is 1, the mask comes here (``maskWidth``).
    static var sequence: BitField { BitField(8, after: wide) }
    static var time: BitField { BitField(32, after: sequence) }
    // The rest of the time comes here (``TimeCode/Form/restBitCount``).
    static var latitude: BitField { BitField(25, after: time) }
    static var longitude: BitField { BitField(26, after: latitude) }
    static var altitude: BitField { BitField(14, after: longitude, escapedWidth: 24) }
    static var horizontalAccuracy: BitField { BitField(7, after: altitude) }
    static var verticalAccuracy: BitField { BitField(7, after: horizontalAccuracy) }
    static var speed: BitField { BitField(9, after: verticalAccuracy, escapedWidth: 20) }
    static var course: BitField { BitField(8, after: speed) }
    static var heading: BitField { BitField(8, after: course) }
    static var battery: BitField { BitField(7, after: heading) }

    /// Width of the head: the fields from `partial` to `source`. Every form has them in the same place, so they are coded as one
    /// word.
    static var headWidth: Int { source.end &- partial.start }
    /// Width of the mask if `partial` is 1.
    static var maskWidth: Int { FieldPresence.bitCount }
    /// Width of the sequence field if `wide` is 1: all bits of the sequence except those of ``lowByte``.
    static var wideSequenceWidth: Int { UInt32.bitWidth &- lowByte.width }
    /// Number of bits of the sequence that are sent if `wide` is 0, ``lowByte`` included.
    static var shortSequenceWidth: Int { lowByte.width &+ sequence.width }

    /// Joins the low byte and the bits above it. The result is the sequence or its low 16 bits.
    @inline(__always)
    static func joined(_ upperBits: UInt32, _ lowByte: UInt32) -> UInt32 { upperBits &<< lowByteShift | lowByte }

    /// The part of a sequence that ``lowByte`` does not hold.
    @inline(__always)
    static func upperBits(of sequence: UInt32) -> UInt32 { sequence &>> lowByteShift }

    private static var lowByteShift: UInt32 { UInt32(truncatingIfNeeded: lowByte.width) }

    /// Bits that each finer position step adds to the width of latitude and to that of longitude. Ten times as many codes take
    /// 3.3 more bits, but the widths for the coarsest step have room for the fractions.
    static var bitsPerPositionStep: Int { 3 }
    /// The altitude of code 0, in steps.
    static var lowestAltitude: Int32 { -1000 }

    /// Bytes of a frame of the commonest form, without its CRC.
    static var commonByteCount: Int { battery.end / 8 }

    /// Bytes of the largest payload. It has no mask: a payload with a mask lacks at least one optional field, and no optional
    /// field has fewer bits than the mask.
    static var maximumPayloadByteCount: Int {
        let widened =
            wideSequenceWidth &- sequence.width &+ TimeCode.Form.wide.restBitCount
            &+ 2 &* bitsPerPositionStep &* Int(PositionStep.e7.rawValue) &+ altitude.escapedWidth &+ speed.escapedWidth
        return (battery.end &- lowByte.end &+ widened) / 8
    }

    /// Width of a field that may be unknown; `field` is its index in ``FixCodes/Field``.
    @inline(__always)
    static func width(of field: Int) -> UInt32 { optionalWidths &>> UInt32(truncatingIfNeeded: field &* 4) & 0xF }

    /// The widths of the fields that may be unknown. Each width takes four bits, so that no table in memory is needed.
    private static var optionalWidths: UInt32 {
        packed(altitude, FixCodes.Field.altitude) | packed(horizontalAccuracy, FixCodes.Field.horizontalAccuracy)
            | packed(verticalAccuracy, FixCodes.Field.verticalAccuracy) | packed(speed, FixCodes.Field.speed)
            | packed(course, FixCodes.Field.course) | packed(heading, FixCodes.Field.heading)
            | packed(battery, FixCodes.Field.battery)
    }

    @inline(__always)
    private static func packed(_ place: BitField, _ field: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: place.width) &<< UInt32(truncatingIfNeeded: field &* 4)
    }
}

/// A field of a bit-packed form: its place and its width.
struct BitField {
    /// Bits from the start of the form to the field.
    let start: Int
    /// Bits of the field, 1 … 32.
    let width: Int
    /// Width of the wider field that follows the ``escape``, in bits; 0 if the field has no escape.
    let escapedWidth: Int

    @inline(__always)
    init(_ width: Int, at start: Int) {
        self.start = start
        self.width = width
        escapedWidth = 0
    }

    /// The field that follows `previous` without a gap.
    @inline(__always)
    init(_ width: Int, after previous: BitField, escapedWidth: Int = 0) {
        start = previous.end
        self.width = width
        self.escapedWidth = escapedWidth
    }

    /// A field of the same width, `bitCount` bits further from the start of the form.
    @inline(__always)
    func moved(by bitCount: Int) -> BitField { BitField(width, at: start &+ bitCount) }

    /// Bits from the start of the form to the end of the field.
    @inline(__always)
    var end: Int { start &+ width }

    /// The code whose bits are all 1.
    @inline(__always)
    var highestCode: UInt32 { UInt32.max &>> UInt32(truncatingIfNeeded: 32 &- width) }

    /// The code that marks a value which does not fit the field and follows in ``escapedWidth`` bits.
    @inline(__always)
    var escape: UInt32 { highestCode }

    /// The code of this field in `word`, whose last bit is bit `wordEnd` − 1 of the form.
    @inline(__always)
    func code(in word: UInt32, endingAt wordEnd: Int) -> UInt32 {
        word &>> UInt32(truncatingIfNeeded: wordEnd &- end) & highestCode
    }

    /// A word that has `code` in this field and zeros elsewhere.
    @inline(__always)
    func word(with code: UInt32, endingAt wordEnd: Int) -> UInt32 { code &<< UInt32(truncatingIfNeeded: wordEnd &- end) }
}

/// A time in the shortest of four forms that represents it exactly.
struct TimeCode {
    /// The forms; two bits on the wire.
    enum Form: UInt8 {
        /// Seconds since 1970, 32 bits unsigned: 1970 … 2106.
        case seconds = 0
        /// Seconds and 4 bits of tenths.
        case deciseconds = 1
        /// Seconds and 10 bits of milliseconds.
        case milliseconds = 2
        /// Milliseconds since 1970, 48 bits, two's complement: before 1970 and after 2106.
        case wide = 3

        /// Number of bits after the first 32: 0, 4, 10 or 16.
        var restBitCount: Int {
            // The four numbers, eight bits each, because a switch becomes a table in memory.
            Int(truncatingIfNeeded: 0x10_0A_04_00 as UInt32 &>> (8 &* UInt32(rawValue)) & 0xFF)
        }

        /// ``restBitCount`` as the shift count that separates `start` from `rest` in the wide form.
        fileprivate var restShift: Int64 { Int64(bitPattern: shiftCount(restBitCount)) }

        /// Reads a time in this form, in milliseconds since 1970.
        func read(from reader: inout BitReader) -> Int64 {
            let start = reader.read(AbsoluteFixLayout.time.width)
            let rest = reader.read(restBitCount)
            if self == .wide { return Int64(widening: Int32(bitPattern: start)) &<< restShift | Int64(widening: rest) }
            let isTenths = self == .deciseconds
            reader.require(rest < (isTenths ? 10 : 1000), .secondFraction, rest)
            return Int64(widening: start) &* 1000 &+ Int64(widening: isTenths ? rest &* 100 : rest)
        }
    }

    let form: Form
    /// The first 32 bits.
    let start: UInt32
    /// The bits after the first 32.
    let rest: UInt32

    init(unixMilliseconds: Int64) {
        let seconds = unixMilliseconds / 1000
        let milliseconds = UInt32(truncatingIfNeeded: unixMilliseconds &- seconds &* 1000)
        guard unixMilliseconds >= 0, seconds &>> 32 == 0 else {
            form = .wide
            start = UInt32(truncatingIfNeeded: unixMilliseconds &>> Form.wide.restShift)
            rest = UInt32(truncatingIfNeeded: unixMilliseconds)
            return
        }
        start = UInt32(truncatingIfNeeded: seconds)
        if milliseconds % 100 != 0 {
            form = .milliseconds
            rest = milliseconds
        } else {
            form = milliseconds == 0 ? .seconds : .deciseconds
            rest = milliseconds / 100
        }
    }
}
