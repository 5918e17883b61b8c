/// The usual intervals between fixes, in milliseconds, in the order of their codes. PROTOCOL.md has the same table.
enum LiveSchedule {
    static let count = 28
    /// The number of bits of a code.
    static let codeBitCount = 5

    static let milliseconds: InlineArray<28, UInt32> = [
        100, 200, 250, 500, 1000, 2000, 3000, 4000, 5000, 10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 180_000, 300_000,
        600_000, 900_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 21_600_000, 28_800_000, 43_200_000, 86_400_000,
    ]

    /// The time of `distance` intervals, in milliseconds.
    static func elapsed(_ code: Int, distance: UInt32) -> Int64 {
        Int64(widening: distance) &* Int64(widening: milliseconds[code])
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
