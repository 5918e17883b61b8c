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
