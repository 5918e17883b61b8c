/// How far the clocks of a time zone are ahead of UTC, at any time.
package struct TimeZoneOffset: Sendable {
    private let secondsEast: @Sendable (_ unixSeconds: Int64) -> Int64

    /// Creates an offset.
    /// - Parameter secondsEast: seconds to add to UTC, for a time in seconds since 1970. The same time always gives the same.
    package init(secondsEast: @escaping @Sendable (_ unixSeconds: Int64) -> Int64) { self.secondsEast = secondsEast }

    /// The offset in minutes, rounded down; before 1972 some zones had seconds in their offsets, which ISO 8601 cannot give.
    func minutesEast(unixSeconds: Int64) -> Int64 {
        let seconds = secondsEast(unixSeconds)
        return (seconds - (seconds % 60 + 60) % 60) / 60
    }
}

/// Writes times with the offset of a time zone. The zone is asked once for times that are near one another.
struct ZonedTimeTexts {
    /// Clocks are seldom changed, and at full quarters of an hour since a century.
    private static let secondsPerQuarterHour: Int64 = 900

    private let zone: TimeZoneOffset?
    private var times = TimeTexts()
    /// The quarter of an hour since 1970 in which ``minutesEast`` holds; nil for none.
    private var quarterHour: Int64?
    private var minutesEast: Int64 = 0

    /// - Parameter zone: nil for UTC.
    init(_ zone: TimeZoneOffset?) { self.zone = zone }

    /// Appends a time in milliseconds since 1970 as `2017-09-25T03:19:26.000+02:00`, or with Z in UTC.
    @inline(__always)
    mutating func append(_ unixMilliseconds: Int64, to scratch: inout LineScratch) {
        guard let zone else {
            times.append(unixMilliseconds, separator: UInt8(ascii: "T"), to: &scratch)
            scratch.append(UInt64(UInt8(ascii: "Z")), byteCount: 1)
            return
        }
        look(at: unixMilliseconds, zone)
        // Times close to the end of 64 bits cannot be shifted; no clock gives them.
        times.append(unixMilliseconds &+ minutesEast &* 60_000, separator: UInt8(ascii: "T"), to: &scratch)
        let minutes = UInt32(truncatingIfNeeded: minutesEast.magnitude)
        let sign = UInt64(minutesEast < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        scratch.append(
            sign | DecimalDigits.two(of: minutes / 60) << 8 | UInt64(UInt8(ascii: ":")) << 24 | DecimalDigits.two(of: minutes % 60) << 32,
            byteCount: 6)
    }

    @inline(__always)
    private mutating func look(at unixMilliseconds: Int64, _ zone: TimeZoneOffset) {
        let length = 1000 * ZonedTimeTexts.secondsPerQuarterHour
        let quarterHour = (unixMilliseconds - (unixMilliseconds < 0 ? length - 1 : 0)) / length
        if quarterHour != self.quarterHour { ask(zone, at: unixMilliseconds, quarterHour) }
    }

    @inline(never)
    private mutating func ask(_ zone: TimeZoneOffset, at unixMilliseconds: Int64, _ quarterHour: Int64) {
        let begin = quarterHour * ZonedTimeTexts.secondsPerQuarterHour
        minutesEast = zone.minutesEast(unixSeconds: begin)
        self.quarterHour = quarterHour
        guard minutesEast != zone.minutesEast(unixSeconds: begin + ZonedTimeTexts.secondsPerQuarterHour - 1) else { return }
        // The clocks are changed within this quarter of an hour.
        self.quarterHour = nil
        minutesEast = zone.minutesEast(unixSeconds: (unixMilliseconds - (unixMilliseconds < 0 ? 999 : 0)) / 1000)
    }
}
