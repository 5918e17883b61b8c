import CollarWire
import Testing

@testable import CollarTracking

/// The discharge of a battery.
@Suite struct BatteryDrainTests {
    /// Charges in percent, each with its time in minutes.
    private func drain(_ charges: [(Int64, UInt8)]) -> Int64? {
        var drain = BatteryDrain()
        for (minutes, percent) in charges {
            drain.add(percent: percent, unixMilliseconds: 1_700_000_000_000 + minutes * 60_000)
        }
        return drain.milliPercentPerHour
    }

    @Test func itIsUnknownBeforeAnHour() {
        #expect(drain([]) == nil)
        #expect(drain([(0, 80)]) == nil)
        #expect(drain([(0, 80), (59, 70)]) == nil)
        #expect(drain([(0, 80), (60, 70)]) == 10_000)
    }

    @Test func inAnyOrder() {
        #expect(drain([(240, 71), (0, 80), (120, 78)]) == 2_250)
    }

    @Test func onlyTheLastDayCounts() {
        #expect(drain([(0, 100), (60, 80), (1500, 56)]) == 1_000)
        #expect(drain([(0, 100), (59, 80), (1500, 56)]) == nil)
    }

    @Test func chargingBeginsAgain() {
        #expect(drain([(0, 50), (60, 40), (61, 100), (181, 90)]) == 5_000)
        #expect(drain([(0, 50), (60, 40), (61, 100)]) == nil)
        #expect(drain([(0, 50), (60, 80), (180, 40)]) == 20_000, "now below the charge from before the charging")
    }

    @Test func aReadingMayVary() {
        #expect(drain([(0, 80), (60, 78), (120, 80), (180, 77)]) == 1_000)
        #expect(drain([(0, 80), (120, 81)]) == 0)
        #expect(drain([(0, 80), (120, 83)]) == nil)
    }

    /// Hourly charges from 0 on.
    private func hourly(_ percents: [UInt8]) -> Int64? { drain(percents.enumerated().map { (Int64($0) * 60, $1) }) }

    /// A panel in the sun, or fixes so often that no two of them differ much.
    @Test func aSlowChargingBeginsAgain() {
        let rising = [20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40] as [UInt8]
        #expect(hourly(rising + (1...10).map { UInt8(40 - $0) }) == 727, "8 % since 9:00, when the charge was 38 %")
        #expect(hourly(rising + [39, 38, 37]) == 250)
        #expect(hourly(rising) == 0)
    }

    @Test func onlyTheLastOfSeveralChargingsCounts() {
        #expect(drain([(0, 50), (60, 80), (120, 70), (180, 100), (240, 98), (300, 94)]) == 3_000)
        #expect(drain([(0, 90), (120, 100), (180, 96), (240, 100), (360, 88)]) == 6_000)
    }

    @Test func theJitterOfAReadingIsTwoPercent() {
        #expect(drain([(0, 80), (60, 82), (120, 78)]) == 1_000)
        #expect(drain([(0, 79), (60, 82), (120, 78)]) == 4_000)
    }

    @Test func theBoundsOfTheDayAndTheHourAreExact() {
        var drain = BatteryDrain()
        drain.add(percent: 90, unixMilliseconds: 0)
        drain.add(percent: 80, unixMilliseconds: 3_599_999)
        #expect(drain.milliPercentPerHour == nil)
        drain.add(percent: 66, unixMilliseconds: 86_400_000)
        #expect(drain.milliPercentPerHour == 1_000)
        drain.add(percent: 66, unixMilliseconds: 86_400_001)
        #expect(drain.milliPercentPerHour == 608, "the first charge is older than a day")
    }

    @Test func aFixWithoutAChargeDoesNotCount() {
        var drain = BatteryDrain()
        for (hours, percent) in [(0, 90), (1, nil), (2, 80), (3, nil)] as [(Int64, UInt8?)] {
            drain.add(
                Fix(
                    sequence: 1, unixMilliseconds: 1_700_000_000_000 + hours * 3_600_000, latitudeSteps: 1, longitudeSteps: 2,
                    batteryPercent: percent))
        }
        #expect(drain.milliPercentPerHour == 5_000)
    }
}
