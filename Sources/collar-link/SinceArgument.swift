import CollarDomain
import CollarWire

/// Where reading shall begin, as typed: `--since`.
enum SinceArgument: Equatable {
    /// Behind this fix.
    case fix(FixIdentifier)
    /// With what was received at this time or later, in milliseconds since 1970.
    case time(unixMilliseconds: Int64)

    /// What is taken, for the help.
    static let forms = "a fix's id, 2026-11-21, 2026-11-21T09:00:00Z, @UNIX-SECONDS, or an age: 90s, 30m, 2h, 3d, 1w"

    /// Reads what was typed.
    /// - Parameter now: an age counts back from here, in milliseconds since 1970.
    init(_ text: String, nowUnixMilliseconds now: Int64) throws(CommandFailure) {
        let bytes = Array(text.utf8)
        if let fix = SinceArgument.fix(bytes) {
            self = .fix(fix)
        } else if let time = SinceArgument.unixTime(text) ?? SinceArgument.age(text, before: now)
            ?? SinceArgument.calendarTime(bytes)
        {
            self = .time(unixMilliseconds: time)
        } else {
            throw CommandFailure(.usage, "--since \(text): neither a time nor an id", remedy: "it takes \(SinceArgument.forms)")
        }
    }

    /// A UUID as fix lines have it.
    private static func fix(_ text: [UInt8]) -> FixIdentifier? {
        guard text.count == 36 else { return nil }
        var halves: [UInt64] = [0, 0]
        var digitCount = 0
        for (index, byte) in text.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            halves[digitCount / 16] = halves[digitCount / 16] << 4 | UInt64(digit)
            digitCount += 1
        }
        return FixIdentifier(high: halves[0], low: halves[1])
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

    /// RFC 3339; a date alone is its midnight, UTC.
    private static func calendarTime(_ text: [UInt8]) -> Int64? {
        var rest = text[...]
        guard let year = number(&rest, digits: 4), skip(&rest, "-"), let month = number(&rest, digits: 2), skip(&rest, "-"),
            let day = number(&rest, digits: 2), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = self.days(year: year, month: month, day: day)
        // A day that the month does not have is one of the next month.
        guard day <= 28 || self.days(year: year, month: month, day: 1) + day - 1 < self.days(afterMonth: month, of: year)
        else { return nil }
        if rest.isEmpty { return milliseconds(days * 86_400) }
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
        return milliseconds(days * 86_400 + hour * 3600 + minute * 60 + second - offset).map { $0 + fraction }
    }

    /// East of Greenwich.
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

    /// Steps over one of these characters.
    private static func skip(_ rest: inout ArraySlice<UInt8>, _ characters: String) -> Bool {
        guard let first = rest.first, characters.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func days(afterMonth month: Int64, of year: Int64) -> Int64 {
        month == 12 ? days(year: year + 1, month: 1, day: 1) : days(year: year, month: month + 1, day: 1)
    }

    /// Days since 1970 (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func milliseconds(_ seconds: Int64) -> Int64? {
        let (milliseconds, isTooLarge) = seconds.multipliedReportingOverflow(by: 1000)
        return isTooLarge ? nil : milliseconds
    }
}
