import Testing

@testable import CollarFormats

@Suite struct CalendarDayTests {
    private static let hour: Int64 = 3_600_000

    /// Clocks of Lisbon in 2026: 0 h from UTC; 1 h from 29 March, 1:00 UTC, to 25 October, 1:00 UTC.
    private let lisbon = TimeZoneOffset { second in (1_774_746_000..<1_792_890_000).contains(second) ? 3600 : 0 }

    private func time(_ text: String) throws -> Int64 { try #require(CalendarTime.unixMilliseconds(text)) }

    @Test(arguments: [
        ("2026-03-28T23:59:59.999Z", "2026-03-28", 24), ("2026-03-29T00:00:00Z", "2026-03-29", 23), ("2026-03-29T22:59:59.999Z", "2026-03-29", 23),
        ("2026-03-29T23:00:00Z", "2026-03-30", 24), ("2026-10-24T22:59:59Z", "2026-10-24", 24), ("2026-10-24T23:00:00Z", "2026-10-25", 25),
        ("2026-10-25T23:59:59Z", "2026-10-25", 25), ("2026-10-26T00:00:00Z", "2026-10-26", 24),
    ]) func aDayHasTheHoursOfItsClocks(text: String, date: String, hours: Int64) throws {
        let day = CalendarDay(of: try time(text), in: lisbon)
        #expect(day.date == date)
        #expect(day.times.upperBound - day.times.lowerBound == hours * CalendarDayTests.hour)
        #expect(day.times.contains(try time(text)))
    }

    @Test(arguments: [("1969-12-31T23:59:59.999Z", "1969-12-31"), ("1970-01-01", "1970-01-01"), ("2024-02-29T12:00:00Z", "2024-02-29")])
    func daysOfUTC(text: String, date: String) throws {
        let day = CalendarDay(of: try time(text), in: nil)
        #expect(day.date == date && day.times.count == 24 * Int(CalendarDayTests.hour))
        #expect(day.times.contains(try time(text)))
    }

    /// Each instant of a year belongs to one day, and the days follow one another.
    @Test(arguments: [-43_200, -12_600, 0, 20_700, 50_400]) func daysHaveNoGaps(secondsEast: Int64) throws {
        let zone = TimeZoneOffset { second in secondsEast + (second / 7_776_000 % 2 == 0 ? 3600 : 0) }
        var day = CalendarDay(of: try time("2026-01-01T12:00:00Z"), in: zone)
        for _ in 0..<365 {
            let next = CalendarDay(of: day.times.upperBound, in: zone)
            #expect(next.number == day.number + 1 && next.times.lowerBound == day.times.upperBound)
            #expect(CalendarDay(of: next.times.upperBound - 1, in: zone) == next)
            day = next
        }
    }
}
