/// A time as ISO 8601 text, in the proleptic Gregorian calendar, without leap seconds: `2017-09-25T01:19:26.000Z`.
package func utcText(unixMilliseconds: Int64) -> String {
    timeText(unixMilliseconds: unixMilliseconds, in: nil)
}

/// A time as ISO 8601 text, with the offset of a time zone: `2017-09-25T03:19:26.000+02:00`; in UTC where there is no zone.
func timeText(unixMilliseconds: Int64, in zone: TimeZoneOffset?) -> String {
    var times = ZonedTimeTexts(zone)
    var scratch = LineScratch()
    times.append(unixMilliseconds, to: &scratch)
    var bytes: [UInt8] = []
    scratch.copy(to: &bytes)
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
