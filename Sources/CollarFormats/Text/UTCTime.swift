/// A time of UTC in the proleptic Gregorian calendar, without leap seconds.
struct UTCTime {
    /// The year; 0 is the year before 1.
    let year: Int64
    /// The month, 1 … 12.
    let month: UInt32
    /// The day of the month, 1 … 31.
    let day: UInt32
    let hour: UInt32
    let minute: UInt32
    let second: UInt32
    let millisecond: UInt32

    init(unixMilliseconds: Int64) {
        let (days, time) = unixMilliseconds.dividedDown(by: 86_400_000)
        // Years begin with March here, so that the leap day is the last day of a year. Four hundred years, an era, always
        // have the same number of days.
        let (era, dayOfEra) = (days + 719_468).dividedDown(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = UInt32(dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100))
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let milliseconds = UInt32(time)
        hour = milliseconds / 3_600_000
        minute = milliseconds / 60_000 % 60
        second = milliseconds / 1000 % 60
        millisecond = milliseconds % 1000
    }
}

/// How far the clocks of a time zone are ahead of UTC, at any time.
package struct TimeZoneOffset: Sendable {
    private let secondsEast: @Sendable (_ unixSeconds: Int64) -> Int64

    /// Creates an offset.
    /// - Parameter secondsEast: seconds to add to UTC, for a time in seconds since 1970. The same time always gives the same.
    package init(secondsEast: @escaping @Sendable (_ unixSeconds: Int64) -> Int64) { self.secondsEast = secondsEast }

    /// The offset in minutes, rounded down; before 1972 some zones had seconds in their offsets, which ISO 8601 cannot give.
    func minutesEast(unixMilliseconds: Int64) -> Int64 {
        secondsEast(unixMilliseconds.dividedDown(by: 1000).quotient).dividedDown(by: 60).quotient
    }
}

extension OutputSpan<UInt8> {
    /// Appends a time as `2017-09-25T01:19:26.000`, with any separator in the place of the T.
    mutating func append(_ time: UTCTime, separator: StaticString = "T") {
        let year = time.year.magnitude
        if time.year < 0 { append("-") }
        if year < 10_000 { append(UInt32(year), digits: 4) } else { append(FixedPoint(year)) }
        append("-")
        append(time.month, digits: 2)
        append("-")
        append(time.day, digits: 2)
        append(separator)
        append(time.hour, digits: 2)
        append(":")
        append(time.minute, digits: 2)
        append(":")
        append(time.second, digits: 2)
        append(".")
        append(time.millisecond, digits: 3)
    }

    /// Appends a time as `2017-09-25T03:19:26.000+02:00`, with the offset of a time zone, or with Z where there is no zone.
    mutating func append(unixMilliseconds: Int64, in zone: TimeZoneOffset?) {
        guard let zone else {
            append(UTCTime(unixMilliseconds: unixMilliseconds))
            append("Z")
            return
        }
        let minutesEast = zone.minutesEast(unixMilliseconds: unixMilliseconds)
        // Times close to the end of 64 bits cannot be shifted; no clock gives them.
        append(UTCTime(unixMilliseconds: unixMilliseconds &+ minutesEast &* 60_000))
        append(minutesEast < 0 ? "-" : "+")
        let minutes = UInt32(truncatingIfNeeded: minutesEast.magnitude)
        append(minutes / 60, digits: 2)
        append(":")
        append(minutes % 60, digits: 2)
    }
}

/// A time as ISO 8601 text, in the proleptic Gregorian calendar, without leap seconds: `2017-09-25T01:19:26.000Z`.
package func utcText(unixMilliseconds: Int64) -> String { timeText(unixMilliseconds: unixMilliseconds, in: nil) }

/// A time as ISO 8601 text, with the offset of a time zone: `2017-09-25T03:19:26.000+02:00`; in UTC where there is no zone.
private func timeText(unixMilliseconds: Int64, in zone: TimeZoneOffset?) -> String {
    var bytes: [UInt8] = []
    bytes.appendRow { $0.append(unixMilliseconds: unixMilliseconds, in: zone) }
    return String(decoding: bytes, as: UTF8.self)
}

/// A time of day for people, `03:19:26`; before it the date, unless that is the date of another time, too.
/// - Parameters:
///   - unixMilliseconds: the time, in milliseconds since 1970.
///   - reference: the other time; nil for none.
///   - zone: the time zone; nil for UTC.
package func shortTimeText(unixMilliseconds: Int64, reference: Int64?, in zone: TimeZoneOffset?) -> String {
    let text = timeText(unixMilliseconds: unixMilliseconds, in: zone)
    let date = text.prefix { $0 != "T" }
    let clock = text.dropFirst(date.count + 1).prefix(8)
    let isOfDay = reference.map { timeText(unixMilliseconds: $0, in: zone).prefix { $0 != "T" } } == date
    return isOfDay ? String(clock) : "\(date) \(clock)"
}

/// A span of time in its largest unit, for people: 90 s, 5 min, 3 h, 2 days. A negative span is 0 s.
package func durationText(milliseconds: Int64) -> String {
    let seconds = max(0, milliseconds) / 1000
    return switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) days"
    }
}
