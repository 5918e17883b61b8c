import CollarWire

/// Corrects dates of receivers that lost count of the weeks.
///
/// GPS satellites tell the week in ten bits. A receiver adds the rollovers that it knows of, which its own firmware dates; some
/// time after that its dates are 1024 weeks too early, later 2048. A date that lies before a day that is certainly past is
/// therefore moved by 1024 weeks, at most twice, until it does not. A date that lies before that day even then is no date of a
/// position: a clock that was never set begins with 1970 or 1980.
///
/// A receiver whose dates are wrong is corrected for 1024 weeks (19.6 years) after the firmware's own day.
public enum WeekRollover {
    /// 1024 weeks.
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
