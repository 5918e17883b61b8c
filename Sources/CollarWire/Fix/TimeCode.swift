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

extension TimeCode.Form {
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
