import CheckedNumbers
import CollarFormats
import CollarJournal
import CollarWire
import LinuxSystem

enum SinceArgument {
    /// The accepted forms, a line each, for the help of a command.
    static let table = """
          ID                    the `id` of a fix or message
        \(TimeArgument.table)
        """
}

extension ParsedArguments {
    /// `--since ID|TIME`: the place where reading begins, a time of reception or a fix; nil if the option is absent.
    func since() throws(CommandFailure) -> EmissionStart? {
        guard let text = value("--since") else { return nil }
        if let fix = UUIDHalves(text).flatMap({ FixIdentifier(high: $0.high, low: $0.low) }) { return .after(fix) }
        let time = TimeArgument.unixMilliseconds(text, now: WallClock.unixMilliseconds)
        if let time { return .since(unixMilliseconds: time) }
        throw CommandFailure(
            .usage, "`--since` takes a time or an id, not '\(text)'.",
            remedy: TimeArgument.remedy(forMilliseconds: text) ?? "It takes the id of a fix or message, \(TimeArgument.forms).")
    }

    /// A time of reception, in milliseconds since 1970; nil if the option is absent.
    func receptionTime(_ option: String) throws(CommandFailure) -> Int64? {
        guard let text = value(option) else { return nil }
        if let time = TimeArgument.unixMilliseconds(text, now: WallClock.unixMilliseconds) { return time }
        throw CommandFailure(
            .usage, "`\(option)` takes a time, not '\(text)'.",
            remedy: TimeArgument.remedy(forMilliseconds: text) ?? "It takes \(TimeArgument.forms).")
    }
}

enum TimeArgument {
    static let forms = "2026-11-21, 2026-11-21T09:00:00Z, @UNIX-SECONDS, or an age: 90s, 30m, 2h, 3d, 1w"

    /// The accepted forms, a line each, for the help of a command.
    static let table = """
          2026-11-21            a date: midnight, UTC
          2026-11-21T09:00:00Z  a time, UTC
          @1763719200           seconds since 1970
          2h                    an age, in s, m, h, d or w
        """

    /// Reads a time; nil for any other text.
    /// - Parameter now: the time from which an age counts back, in milliseconds since 1970.
    static func unixMilliseconds(_ text: String, now: Int64) -> Int64? {
        unixTime(text) ?? age(text, before: now) ?? CalendarTime.unixMilliseconds(text)
    }

    /// The remedy for a text that is a time in milliseconds, as lines have it; nil for any other text.
    static func remedy(forMilliseconds text: String) -> String? {
        let digits = text.hasPrefix("@") ? text.dropFirst() : text[...]
        // As seconds, these would be after the year 5000.
        guard let milliseconds = Int64(digits, in: 100_000_000_000...ClosedRange.unixMilliseconds.upperBound) else { return nil }
        return "These are milliseconds. As seconds: @\(milliseconds / 1000)."
    }

    private static func unixTime(_ text: String) -> Int64? {
        text.hasPrefix("@") ? Int64(text.dropFirst(), in: .unixSeconds).map { $0 * 1000 } : nil
    }

    private static func age(_ text: String, before now: Int64) -> Int64? { DurationText.seconds(text).map { now - $0 * 1000 } }
}

/// Durations as a person types them: a whole number and a unit, such as `45s` or `2h`.
enum DurationText {
    /// The duration in seconds; nil for any other text.
    static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let count = UInt32(text.dropLast(), in: 0 ... .max) else { return nil }
        return Int64(count) * unit
    }
}
