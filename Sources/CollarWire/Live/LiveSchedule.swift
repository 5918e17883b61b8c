/// The usual intervals between fixes, in milliseconds, in the order of their codes. PROTOCOL.md has the same table.
enum LiveSchedule {
    static let count = 28
    /// The number of bits of a code.
    static let codeBitCount = 5

    /// The intervals below a minute in milliseconds, and from code ``minuteCode`` on the others in minutes.
    private static let intervals: InlineArray<28, UInt16> = [
        100, 200, 250, 500, 1000, 2000, 3000, 4000, 5000, 10_000, 15_000, 20_000, 30_000, 1, 2, 3, 5, 10, 15, 20, 30, 60, 120,
        240, 360, 480, 720, 1440,
    ]
    private static let minuteCode = 13

    /// The time of `distance` intervals, in milliseconds.
    static func elapsed(_ code: Int, distance: UInt32) -> Int64 {
        let interval = UInt32(intervals[code])
        return Int64(widening: distance) &* Int64(widening: code < minuteCode ? interval : interval &* 60_000)
    }

    /// The code of the interval of which `elapsed` is `distance` times; nil if it is no usual interval.
    static func code(elapsed: Int64, distance: UInt32) -> Int? {
        var code = 0
        while code < count {
            if LiveSchedule.elapsed(code, distance: distance) == elapsed { return code }
            code &+= 1
        }
        return nil
    }
}
