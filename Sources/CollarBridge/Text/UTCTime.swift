import CollarJournal
import Glibc

/// A time as ISO 8601 text, in the proleptic Gregorian calendar, without leap seconds: `2017-09-25T01:19:26.000Z`.
package func utcText(unixMilliseconds: Int64) -> String {
    // The seconds are rounded down, also before 1970.
    let milliseconds = (unixMilliseconds % 1000 + 1000) % 1000
    var seconds = time_t((unixMilliseconds - milliseconds) / 1000)
    var date = unsafe tm()
    _ = unsafe gmtime_r(&seconds, &date)
    return unsafe "\(padded(date.tm_year + 1900, 4))-\(padded(date.tm_mon + 1, 2))-\(padded(date.tm_mday, 2))"
        + "T\(padded(date.tm_hour, 2)):\(padded(date.tm_min, 2)):\(padded(date.tm_sec, 2))"
        + ".\(padded(milliseconds, 3))Z"
}

private func padded(_ value: some BinaryInteger, _ width: Int) -> String { String(value, minimumDigits: width) }
