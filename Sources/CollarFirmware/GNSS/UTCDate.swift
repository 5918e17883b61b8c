import CollarWire

/// A day of the Gregorian calendar, as the number of days since 1970-01-01.
public struct UTCDate: Equatable, Sendable {
    /// Days since 1970-01-01.
    public let daysSince1970: Int32

    /// Creates a date; nil if the calendar has no such day, or the year is outside 1970 … 2999.
    public init?(year: UInt32, month: UInt8, day: UInt8) {
        guard year >= 1970, year <= 2999, month >= 1, month <= 12, day >= 1 else { return nil }
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        // Months of 30 days: April, June, September, November, the bits of this number.
        let isShort = 0b1010_0101_0000 as UInt32 &>> UInt32(month) & 1 == 1
        let length: UInt8 = month == 2 ? isLeapYear ? 29 : 28 : isShort ? 30 : 31
        guard day <= length else { return nil }
        // A year begins with March here, so that the leap day is the last day of a year.
        let shifted = month <= 2 ? year &- 1 : year
        let monthFromMarch = Int32(month <= 2 ? month &+ 9 : month &- 3)
        let leapDays = Int32(bitPattern: shifted / 4 &- shifted / 100 &+ shifted / 400)
        let years = 365 &* Int32(bitPattern: shifted) &+ leapDays
        // 719,468 days lie between 0000-03-01 and 1970-01-01.
        daysSince1970 = years &+ (153 &* monthFromMarch &+ 2) / 5 &+ Int32(day) &- 1 &- 719_468
    }

    /// The time on this day in milliseconds since 1970; nil if the day has no such time. The leap second 23:59:60 has the value of
    /// the second after it.
    func unixMilliseconds(hour: UInt8, minute: UInt8, second: UInt8) -> Int64? {
        guard hour < 24, minute < 60, second < 60 || second == 60 && hour == 23 && minute == 59 else { return nil }
        let seconds = (Int32(hour) &* 60 &+ Int32(minute)) &* 60 &+ Int32(second)
        return (Int64(widening: daysSince1970) &* 86_400 &+ Int64(widening: seconds)) &* 1000
    }
}
