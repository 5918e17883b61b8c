import CollarFormats
import FoundationEssentials

/// Milliseconds from 1970-01-01 to 2001-01-01, the zero of `Date`.
private let millisecondsTo2001: Int64 = 978_307_200_000

extension Date {
    /// The `Date` nearest to a time in milliseconds since 1970-01-01T00:00:00Z.
    public init(unixMilliseconds: Int64) {
        // The difference and the divisor are exact below 2^53 ms, so the quotient is the nearest Double.
        self.init(timeIntervalSinceReferenceDate: Double(unixMilliseconds - millisecondsTo2001) / 1000)
    }

    /// The `Date` nearest to a decimal number of milliseconds since 1970. A number made by ``unixMilliseconds`` gives the
    /// same `Date` back. If the number needs more than 38 digits, the `Date` is at positive infinity.
    init(unixMilliseconds: DecimalNumber) {
        let seconds = unixMilliseconds.adding(-millisecondsTo2001)?.scaled(byPowerOfTen: -3).doubleValue
        self.init(timeIntervalSinceReferenceDate: seconds ?? .infinity)
    }

    /// Milliseconds since 1970 with every decimal place the `Date` has; nil when the `Date` is not finite or the number
    /// needs more than 38 digits.
    ///
    /// A `Date` counts seconds from 2001 in a `Double`, whose steps are 0.12 µs today. In a `Double` of milliseconds
    /// since 1970 the steps are twice as large, so the milliseconds are decimal.
    var unixMilliseconds: DecimalNumber? {
        DecimalNumber(timeIntervalSinceReferenceDate)?.scaled(byPowerOfTen: 3).adding(millisecondsTo2001)
    }
}
