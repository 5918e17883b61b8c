/// A time in the coarsest of four forms that is exact.
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
    }

    let form: Form
    /// The first 32 bits.
    let start: UInt32
    /// The bits behind them.
    let rest: UInt32
    let restBitCount: Int

    init(unixMilliseconds: Int64) {
        let seconds = unixMilliseconds / 1000
        let milliseconds = UInt32(truncatingIfNeeded: unixMilliseconds &- seconds &* 1000)
        guard unixMilliseconds >= 0, seconds &>> 32 == 0 else {
            form = .wide
            start = UInt32(truncatingIfNeeded: unixMilliseconds &>> 16)
            rest = UInt32(truncatingIfNeeded: unixMilliseconds)
            restBitCount = 16
            return
        }
        start = UInt32(truncatingIfNeeded: seconds)
        if milliseconds % 100 != 0 {
            form = .milliseconds
            rest = milliseconds
            restBitCount = 10
        } else {
            form = milliseconds == 0 ? .seconds : .deciseconds
            rest = milliseconds / 100
            restBitCount = milliseconds == 0 ? 0 : 4
        }
    }
}

extension TimeCode.Form {
    /// Reads a time in this form, in milliseconds since 1970.
    func read(from reader: inout BitReader) throws(DecodeError) -> Int64 {
        switch self {
        case .seconds:
            return Int64(widening: reader.read(32)) * 1000
        case .deciseconds:
            let seconds = Int64(widening: reader.read(32))
            let tenths = reader.read(4)
            guard tenths < 10 else { throw reader.fault(.invalidField(.secondFraction, code: tenths)) }
            return seconds * 1000 + Int64(widening: tenths) * 100
        case .milliseconds:
            let seconds = Int64(widening: reader.read(32))
            let milliseconds = reader.read(10)
            guard milliseconds < 1000 else { throw reader.fault(.invalidField(.secondFraction, code: milliseconds)) }
            return seconds * 1000 + Int64(widening: milliseconds)
        case .wide:
            let high = Int64(widening: reader.readSigned(16))
            return high &<< 32 | Int64(widening: reader.read(32))
        }
    }
}
