import Testing

@testable import CollarFormats

@Suite("Short times and durations for people")
struct UTCTimeTests {
    /// 2023-11-07T23:53:54.567Z.
    private let time: Int64 = 1_699_401_234_567
    private let day: Int64 = 86_400_000

    @Test("a time on the day of the reference has no date")
    func sameDay() {
        #expect(shortTimeText(unixMilliseconds: time, reference: time, in: nil) == "23:53:54")
        #expect(shortTimeText(unixMilliseconds: time, reference: time + 365_432, in: nil) == "23:53:54")
    }

    @Test("a time on another day has its date, also a second away")
    func anotherDay() {
        #expect(shortTimeText(unixMilliseconds: time, reference: time + 365_433, in: nil) == "2023-11-07 23:53:54")
        #expect(shortTimeText(unixMilliseconds: time, reference: time - day, in: nil) == "2023-11-07 23:53:54")
    }

    @Test("without a reference, a time has its date")
    func noReference() {
        #expect(shortTimeText(unixMilliseconds: 0, reference: nil, in: nil) == "1970-01-01 00:00:00")
    }

    @Test("the day is that of the time zone")
    func zone() {
        let berlin = TimeZoneOffset { _ in 3600 }
        #expect(shortTimeText(unixMilliseconds: time, reference: time + 600_000, in: berlin) == "00:53:54")
        #expect(shortTimeText(unixMilliseconds: time, reference: time - 3_600_000, in: berlin) == "2023-11-08 00:53:54")
    }

    @Test("a year before 0 or after 9999 is complete")
    func distantYears() {
        #expect(shortTimeText(unixMilliseconds: -140_737_488_355_328, reference: 0, in: nil) == "-2490-03-17 21:14:04")
        #expect(shortTimeText(unixMilliseconds: 253_402_300_800_000, reference: 0, in: nil) == "10000-01-01 00:00:00")
    }

    @Test("a duration has its largest unit from two of that unit on, and is rounded down", arguments: [
        (0, "0 s"), (999, "0 s"), (1000, "1 s"), (119_999, "119 s"), (120_000, "2 min"), (7_199_999, "119 min"),
        (7_200_000, "2 h"), (172_799_999, "47 h"), (172_800_000, "2 days"), (31_536_000_000, "365 days"),
    ] as [(Int64, String)])
    func duration(milliseconds: Int64, text: String) { #expect(durationText(milliseconds: milliseconds) == text) }

    @Test("a negative duration is 0 s")
    func negativeDuration() {
        #expect(durationText(milliseconds: -1) == "0 s")
        #expect(durationText(milliseconds: .min) == "0 s")
    }
}

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
