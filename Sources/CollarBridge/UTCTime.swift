/// A time as ISO 8601 text, in the proleptic Gregorian calendar, without leap seconds.
struct UTCTime {
    private let unixMilliseconds: Int64

    init(unixMilliseconds: Int64) { self.unixMilliseconds = unixMilliseconds }

    /// For example `2017-09-25T01:19:26.000Z`.
    var text: String {
        let days = floorDivide(unixMilliseconds, 86_400_000)
        let rest = unixMilliseconds - days * 86_400_000
        let (year, month, day) = UTCTime.date(daysSince1970: days)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(rest / 3_600_000, 2)):"
            + "\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1000 % 60, 2)).\(padded(rest % 1000, 3))Z"
    }

    private func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    private func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value.magnitude)
        return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// H. Hinnant, "chrono-Compatible Low-Level Date Algorithms": eras of 400 years that begin on 1 March.
    private static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
