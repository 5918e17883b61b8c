import CollarFirmware
import Foundation
import Testing

/// Dates, and the rollovers of the week count.
@Suite struct GNSSTimeTests {
    @Test func everyDayOfTheCalendar() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        var expected: Int32 = 0
        var wrong = 0
        for year in 1970...2999 as ClosedRange<UInt32> {
            for month in 1...12 as ClosedRange<UInt8> {
                for day in 1...31 as ClosedRange<UInt8> {
                    guard let date = UTCDate(year: year, month: month, day: day) else { continue }
                    if date.daysSince1970 != expected { wrong += 1 }
                    expected += 1
                }
            }
        }
        let last = try #require(calendar.date(from: DateComponents(year: 2999, month: 12, day: 31)))
        #expect(wrong == 0)
        #expect(Double(expected - 1) == last.timeIntervalSince1970 / 86_400)
        #expect(UTCDate(year: 1969, month: 12, day: 31) == nil && UTCDate(year: 3000, month: 1, day: 1) == nil)
    }

    private let earliest = UTCDate(year: 2026, month: 11, day: 25)
    private static let week: Int64 = 7 * 86_400_000

    @Test func aDateAfterTheFirmwareIsKept() throws {
        let earliest = try #require(earliest)
        let midnight = Int64(earliest.daysSince1970) * 86_400_000
        for time in [midnight, midnight + 1, midnight + 1025 * Self.week] {
            #expect(WeekRollover.corrected(time, notBefore: earliest) == time)
        }
    }

    @Test func oneAndTwoRolloversAreCorrected() throws {
        let earliest = try #require(earliest)
        let truth = Int64(earliest.daysSince1970) * 86_400_000 + 12_345_678
        for rollovers in [1, 2] as [Int64] {
            for later in [0, 1, 520, 1023] as [Int64] {
                let time = truth + later * Self.week
                #expect(WeekRollover.corrected(time - rollovers * 1024 * Self.week, notBefore: earliest) == time)
            }
        }
    }

    @Test func aClockThatWasNeverSetIsNotCorrected() throws {
        let earliest = try #require(earliest)
        for (year, month, day) in [(1970, 1, 1), (1980, 1, 6), (1987, 8, 25)] as [(UInt32, UInt8, UInt8)] {
            let date = try #require(UTCDate(year: year, month: month, day: day))
            #expect(WeekRollover.corrected(Int64(date.daysSince1970) * 86_400_000, notBefore: earliest) == nil)
        }
    }
}
