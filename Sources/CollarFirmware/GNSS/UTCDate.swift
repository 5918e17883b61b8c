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

/// Corrects dates of receivers that lost count of the weeks.
///
/// GPS satellites tell the week in ten bits. A receiver adds the rollovers that it knows of, which its own firmware dates; some
/// time after that its dates are 1024 weeks too early, later 2048. A date that lies before a day that is certainly past is
/// therefore moved by 1024 weeks, at most twice, until it does not. A date that lies before that day even then is no date of a
/// position: a clock that was never set begins with 1970 or 1980.
///
/// A receiver whose dates are wrong is corrected for 1024 weeks (19.6 years) after the firmware's own day.
public enum WeekRollover {
    private static var milliseconds: Int64 { 1024 * 7 * 86_400_000 }

    /// The corrected time; nil if no correction explains it.
    /// - Parameters:
    ///   - unixMilliseconds: the time that the receiver says.
    ///   - earliest: a day that is certainly in the past.
    public static func corrected(_ unixMilliseconds: Int64, notBefore earliest: UTCDate) -> Int64? {
        let bound = Int64(widening: earliest.daysSince1970) &* 86_400_000
        var time = unixMilliseconds
        for _ in 0..<2 where time < bound { time &+= milliseconds }
        return time < bound ? nil : time
    }
}
