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
    func word(with code: UInt32, endingAt wordEnd: Int) -> UInt32 {
        code &<< UInt32(truncatingIfNeeded: wordEnd &- end)
    }
}
