import Glibc

/// Times as a person writes them: RFC 3339, such as `2026-05-01T09:00:00Z`, or a date, which means 00:00 UTC on that date.
package enum CalendarTime {
    /// The accepted forms, for messages.
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
            for index in 0..<3 {
                let digit = index < digits.count ? digits[digits.startIndex + index] - UInt8(ascii: "0") : 0
                fraction = fraction * 10 + Int64(digit)
            }
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
}
