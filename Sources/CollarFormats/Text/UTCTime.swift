import CheckedNumbers
import CollarARQ
import CollarJournal
import Glibc
import LinuxSystem

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

/// A day of a time zone.
package struct CalendarDay: Equatable, Sendable {
    /// Days since 1 January 1970, by the clocks of the zone.
    package let number: Int64
    /// The first instant of the day, and that of the next one, in milliseconds since 1970.
    package let times: Range<Int64>

    /// - Parameter zone: the time zone; nil for UTC.
    package init(of unixMilliseconds: Int64, in zone: TimeZoneOffset?) {
        let second = unixMilliseconds.dividedDown(by: 1000).quotient
        var day = (second + (zone?.secondsEast(second) ?? 0)).dividedDown(by: 86_400).quotient
        var (start, end) = (CalendarDay.start(of: day, in: zone), CalendarDay.start(of: day + 1, in: zone))
        // Where clocks are set back over midnight, a date comes twice, and its second part belongs to it.
        if unixMilliseconds < start { (day, start, end) = (day - 1, CalendarDay.start(of: day - 1, in: zone), start) }
        number = day
        times = start..<max(start + 1, end)
    }

    private static func start(of day: Int64, in zone: TimeZoneOffset?) -> Int64 {
        let midnight = day * 86_400
        guard let zone else { return midnight * 1000 }
        // The offset at midnight is that of a time within a day of it, unless clocks change in between.
        let estimate = midnight - zone.secondsEast(midnight)
        return (midnight - zone.secondsEast(estimate)) * 1000
    }

    /// The date, such as 2026-05-01.
    package var date: String { String(utcText(unixMilliseconds: number * 86_400_000).prefix { $0 != "T" }) }
}

/// How far the clocks of a time zone are ahead of UTC, at any time.
package struct TimeZoneOffset: Sendable {
    fileprivate let secondsEast: @Sendable (_ unixSeconds: Int64) -> Int64

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

/// Times as a person writes them: RFC 3339, such as `2026-05-01T09:00:00Z`, or a date, which means 00:00 UTC on that date.
package enum CalendarTime {
    package static let forms = "a date such as 2026-05-01 (its midnight, UTC) or a time such as 2026-05-01T09:00:00Z"

    /// Writes a time in the shortest form that ``unixMilliseconds(_:)`` reads back.
    /// - Parameter unixMilliseconds: milliseconds since 1970, in the years 0 to 9999.
    package static func text(unixMilliseconds: Int64) -> String {
        let text = utcText(unixMilliseconds: unixMilliseconds)
        for (end, replacement) in [("T00:00:00.000Z", ""), (".000Z", "Z")] where text.hasSuffix(end) {
            return text.dropLast(end.utf8.count) + replacement
        }
        return text
    }

    /// Reads a time; nil for any other text.
    /// - Returns: milliseconds since 1970; a finer fraction is cut off.
    package static func unixMilliseconds(_ text: some StringProtocol) -> Int64? {
        var rest = Array(text.utf8)[...]
        guard let year = number(&rest, digits: 4), skip(&rest, "-"), let month = number(&rest, digits: 2), skip(&rest, "-"),
            let day = number(&rest, digits: 2)
        else { return nil }
        var date = unsafe tm()
        unsafe (date.tm_year, date.tm_mon, date.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
        let midnight = Int64(unsafe timegm(&date))
        // `timegm` converts a day that the calendar does not have, such as 30 February, to a day of another month.
        guard unsafe date.tm_mon == month - 1 else { return nil }
        if rest.isEmpty { return midnight * 1000 }
        guard skip(&rest, "Tt "), let hour = number(&rest, digits: 2), skip(&rest, ":"), let minute = number(&rest, digits: 2),
            skip(&rest, ":"), let second = number(&rest, digits: 2), hour < 24, minute < 60, second <= 60
        else { return nil }
        var fraction: Int64 = 0
        if skip(&rest, ".") {
            let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            guard !digits.isEmpty else { return nil }
            rest = rest[digits.endIndex...]
            fraction = Int64(digits: (digits + Array("00".utf8)).prefix(3), radix: 10, in: 0...999) ?? 0
        }
        guard let offset = offsetSeconds(&rest), rest.isEmpty else { return nil }
        return (midnight + hour * 3600 + minute * 60 + second - offset) * 1000 + fraction
    }

    /// Reads a zone's offset from UTC, in seconds, positive east of Greenwich.
    private static func offsetSeconds(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        if skip(&rest, "Zz") { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard skip(&rest, "+-"), let hours = number(&rest, digits: 2), skip(&rest, ":"), let minutes = number(&rest, digits: 2),
            hours < 24, minutes < 60
        else { return nil }
        return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, digits: Int) -> Int64? {
        guard rest.count >= digits, let value = Int64(digits: rest.prefix(digits), radix: 10, in: 0 ... .max) else { return nil }
        rest = rest.dropFirst(digits)
        return value
    }

    /// Consumes the next byte if it is one of these characters.
    private static func skip(_ rest: inout ArraySlice<UInt8>, _ characters: String) -> Bool {
        guard let first = rest.first, characters.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }
}

extension HostTime {
    package static var now: HostTime {
        HostTime(instant: Instant(microseconds: MonotonicClock.microseconds), unixMilliseconds: WallClock.unixMilliseconds)
    }
}

extension TimeZoneOffset {
    /// The time zone of this process: `TZ`, else that of the machine; with every change of the clocks that the zone's file knows.
    package static let local: TimeZoneOffset = {
        // localtime_r need not read the zone itself.
        tzset()
        return TimeZoneOffset { unixSeconds in
            var seconds = time_t(unixSeconds)
            var date = unsafe tm()
            guard unsafe localtime_r(&seconds, &date) != nil else { return 0 }
            return Int64(unsafe date.tm_gmtoff)
        }
    }()
}
