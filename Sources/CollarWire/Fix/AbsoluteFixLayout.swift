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
    static func width(of field: Int) -> UInt32 {
        optionalWidths &>> UInt32(truncatingIfNeeded: field &* 4) & 0xF
    }

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
