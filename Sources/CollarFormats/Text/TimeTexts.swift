/// Writes times as text. The text of a day is made once for all of its times that follow one another.
struct TimeTexts {
    private static let millisecondsPerDay: Int64 = 86_400_000

    /// The day of the last time, in days since 1970.
    private var day = Int64.min
    /// The day of the last time.
    private(set) var calendarDay = CalendarDay(daysSince1970: 0)
    /// The last four digits of the year, a hyphen, the month and a hyphen.
    private var yearAndMonth: UInt64 = 0

    /// Takes a time, in milliseconds since 1970.
    /// - Returns: the milliseconds since the midnight before it; the day is in ``calendarDay`` then.
    @inline(__always)
    mutating func split(_ unixMilliseconds: Int64) -> UInt32 {
        var (day, rest) = unixMilliseconds.quotientAndRemainder(dividingBy: TimeTexts.millisecondsPerDay)
        // Days are rounded down, also before 1970.
        if rest < 0 {
            day -= 1
            rest += TimeTexts.millisecondsPerDay
        }
        if day != self.day { begin(day) }
        return UInt32(truncatingIfNeeded: rest)
    }

    @inline(never)
    private mutating func begin(_ day: Int64) {
        self.day = day
        calendarDay = CalendarDay(daysSince1970: day)
        let year = UInt32(calendarDay.year.magnitude % 10_000)
        let hyphen = UInt64(UInt8(ascii: "-"))
        yearAndMonth =
            DecimalDigits.two(of: year / 100) | DecimalDigits.two(of: year % 100) << 16 | hyphen << 32
            | DecimalDigits.two(of: calendarDay.month) << 40 | hyphen << 56
    }

    /// Appends a time in milliseconds since 1970 as `2017-09-25T01:19:26.000`, with any character in the place of the T.
    @inline(__always)
    mutating func append(_ unixMilliseconds: Int64, separator: UInt8, to scratch: inout LineScratch) {
        let time = split(unixMilliseconds)
        let year = calendarDay.year
        scratch.appendMinus(if: year < 0)
        if year.magnitude >= 10_000 { scratch.append(Int64(year.magnitude / 10_000)) }
        scratch.append(yearAndMonth, byteCount: 8)
        scratch.append(DecimalDigits.two(of: calendarDay.day) | UInt64(separator) << 16, byteCount: 3)
        let second = time / 1000
        let minute = second / 60
        let colon = UInt64(UInt8(ascii: ":"))
        scratch.append(
            DecimalDigits.two(of: minute / 60) | colon << 16 | DecimalDigits.two(of: minute % 60) << 24 | colon << 40
                | DecimalDigits.two(of: second % 60) << 48, byteCount: 8)
        scratch.append(milliseconds: time % 1000)
    }

    /// Appends a time in milliseconds since 1970 as `011926.000`, without its day, which is in ``calendarDay`` then.
    @inline(__always)
    mutating func append(timeOfDay unixMilliseconds: Int64, to scratch: inout LineScratch) {
        let time = split(unixMilliseconds)
        let second = time / 1000
        let minute = second / 60
        scratch.append(
            DecimalDigits.two(of: minute / 60) | DecimalDigits.two(of: minute % 60) << 16 | DecimalDigits.two(of: second % 60) << 32,
            byteCount: 6)
        scratch.append(milliseconds: time % 1000)
    }
}

extension LineScratch {
    /// Appends a point and three digits.
    @inline(__always)
    fileprivate mutating func append(milliseconds: UInt32) {
        let tenths = milliseconds / 100
        append(
            UInt64(UInt8(ascii: ".")) | UInt64(tenths | 0x30) << 8 | DecimalDigits.two(of: milliseconds &- tenths &* 100) << 16,
            byteCount: 4)
    }
}
