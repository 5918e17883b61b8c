import FoundationEssentials

/// Milliseconds from 1970-01-01 to 2001-01-01, the zero of `Date`.
private let millisecondsTo2001: Int64 = 978_307_200_000

extension Date {
    /// The time a number of milliseconds after 1970-01-01T00:00:00Z, to the nearest `Date` there is.
    public init(unixMilliseconds: Int64) {
        // The difference and the divisor are exact below 2^53 ms, so the quotient is the nearest Double.
        self.init(timeIntervalSinceReferenceDate: Double(unixMilliseconds - millisecondsTo2001) / 1000)
    }

    /// The time a decimal number of milliseconds after 1970; every `Date` that ``unixMilliseconds`` gave comes back.
    /// Nil beyond what a `Date` holds.
    init?(unixMilliseconds: DecimalNumber) {
        guard
            let seconds = unixMilliseconds.adding(-millisecondsTo2001)?.scaled(byPowerOfTen: -3).doubleValue
        else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }

    /// Milliseconds since 1970 with every decimal place the `Date` has; nil when it is not finite or beyond 38 digits.
    ///
    /// A `Date` counts seconds from 2001 in a `Double`, 0.12 µs a step today. Milliseconds since 1970 in a `Double`
    /// are twice as coarse, so they are kept in decimal.
    var unixMilliseconds: DecimalNumber? {
        DecimalNumber(timeIntervalSinceReferenceDate)?.scaled(byPowerOfTen: 3).adding(millisecondsTo2001)
    }
}
