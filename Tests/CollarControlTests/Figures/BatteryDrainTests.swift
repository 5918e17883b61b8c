import CollarConfiguration
import Testing

@testable import CollarControl

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

    @Test func chargingBeginsAnew() {
        #expect(drain([(0, 50), (60, 40), (61, 100), (181, 90)]) == 5_000)
        #expect(drain([(0, 50), (60, 40), (61, 100)]) == nil)
        #expect(drain([(0, 50), (60, 80), (180, 40)]) == 20_000, "now below the charge from before the charging")
    }

    @Test func aReadingMayVary() {
        #expect(drain([(0, 80), (60, 78), (120, 80), (180, 77)]) == 1_000)
        #expect(drain([(0, 80), (120, 81)]) == 0)
        #expect(drain([(0, 80), (120, 83)]) == nil)
    }
}
