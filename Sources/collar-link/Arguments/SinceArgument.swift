import CollarBridge
import CollarWire
import Glibc

/// The place where reading begins, as given with `--since`.
enum SinceArgument: Equatable {
    /// After this fix.
    case fix(FixIdentifier)
    /// From this time of reception on, in milliseconds since 1970.
    case time(unixMilliseconds: Int64)

    /// The accepted forms, for the help.
    static let forms = "a fix's id, 2026-11-21, 2026-11-21T09:00:00Z, @UNIX-SECONDS, or an age: 90s, 30m, 2h, 3d, 1w"

    /// Reads the text of the argument.
    /// - Parameter now: the time from which an age counts back, in milliseconds since 1970.
    init(_ text: String, nowUnixMilliseconds now: Int64) throws(CommandFailure) {
        if let fix = UUIDHalves(text).flatMap({ FixIdentifier(high: $0.high, low: $0.low) }) {
            self = .fix(fix)
        } else if let time = SinceArgument.unixTime(text) ?? SinceArgument.age(text, before: now)
            ?? SinceArgument.calendarTime(Array(text.utf8))
        {
            self = .time(unixMilliseconds: time)
        } else {
            throw CommandFailure(.usage, "--since \(text): neither a time nor an id", remedy: "it takes \(SinceArgument.forms)")
        }
    }

    private static func unixTime(_ text: String) -> Int64? {
        guard text.hasPrefix("@"), let seconds = Int64(text.dropFirst()) else { return nil }
        return milliseconds(seconds)
    }

    private static func age(_ text: String, before now: Int64) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let count = UInt32(text.dropLast()) else { return nil }
        return now - Int64(count) * unit * 1000
    }

    /// Reads a time in the format of RFC 3339; a date without a time means 00:00 UTC on that date.
    private static func calendarTime(_ text: [UInt8]) -> Int64? {
        var rest = text[...]
        guard let year = number(&rest, digits: 4), skip(&rest, "-"), let month = number(&rest, digits: 2), skip(&rest, "-"),
            let day = number(&rest, digits: 2)
        else { return nil }
        var date = unsafe tm()
        unsafe (date.tm_year, date.tm_mon, date.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
        let midnight = Int64(unsafe timegm(&date))
        // `timegm` converts a day that the calendar does not have, such as 30 February, to a day of another month.
        guard unsafe date.tm_mon == month - 1 else { return nil }
        if rest.isEmpty { return milliseconds(midnight) }
        guard skip(&rest, "Tt "), let hour = number(&rest, digits: 2), skip(&rest, ":"), let minute = number(&rest, digits: 2),
            skip(&rest, ":"), let second = number(&rest, digits: 2), hour < 24, minute < 60, second <= 60
        else { return nil }
        var fraction: Int64 = 0
        if skip(&rest, ".") {
            let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            guard !digits.isEmpty else { return nil }
            rest = rest[digits.endIndex...]
            for index in 0..<3 {
                let digit = index < digits.count ? digits[digits.startIndex + index] - UInt8(ascii: "0") : 0
                fraction = fraction * 10 + Int64(digit)
            }
        }
        guard let offset = offsetSeconds(&rest), rest.isEmpty else { return nil }
        return milliseconds(midnight + hour * 3600 + minute * 60 + second - offset).map { $0 + fraction }
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
        guard rest.count >= digits else { return nil }
        var value: Int64 = 0
        for byte in rest.prefix(digits) {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        rest = rest.dropFirst(digits)
        return value
    }

    /// Consumes the next byte if it is one of these characters.
    private static func skip(_ rest: inout ArraySlice<UInt8>, _ characters: String) -> Bool {
        guard let first = rest.first, characters.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func milliseconds(_ seconds: Int64) -> Int64? {
        let (milliseconds, isTooLarge) = seconds.multipliedReportingOverflow(by: 1000)
        return isTooLarge ? nil : milliseconds
    }
}
