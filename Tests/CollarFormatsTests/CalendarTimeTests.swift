import Testing

@testable import CollarFormats

@Suite struct CalendarTimeTests {
    @Test func datesAndTimes() {
        let times: [(String, Int64?)] = [
            ("1970-01-01", 0), ("2026-05-01", 1_777_593_600_000), ("2026-05-01T00:00:00.25Z", 1_777_593_600_250),
            ("2026-05-01t02:00:00+02:00", 1_777_593_600_000), ("1969-12-31 23:59:59.999Z", -1),
            ("2024-02-29", 1_709_164_800_000), ("2026-02-29", nil), ("2026-13-01", nil), ("2026-05-00", nil), ("2026-5-1", nil),
            ("2026-05-01T24:00:00Z", nil), ("2026-05-01T00:00:00", nil), ("2026-05-01T00:00:00.Z", nil), ("2026-05-01Z", nil),
            ("2026-05-01T00:00Z", nil), ("", nil),
        ]
        for (text, time) in times { #expect(CalendarTime.unixMilliseconds(text) == time, "\(text)") }
    }

    @Test func theShortestText() {
        let times: [(Int64, String)] = [
            (1_777_593_600_000, "2026-05-01"), (1_777_593_601_000, "2026-05-01T00:00:01Z"),
            (1_777_593_600_001, "2026-05-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
        ]
        for (time, text) in times {
            #expect(CalendarTime.text(unixMilliseconds: time) == text)
            #expect(CalendarTime.unixMilliseconds(text) == time)
        }
    }
}
