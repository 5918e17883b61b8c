import CollarARQ
import CollarFirmware
import CollarWire
import Testing

@testable import CollarSimulator

/// The command *find* reaches a collar that sleeps, and leaves no trace.
@Suite struct FindTests {
    @Test func theFirstFixComesWithinAHeartbeatAndTenSeconds() throws {
        var late = 0
        for seed in 0..<1000 as Range<UInt64> {
            var setup = DaySetup(fixSeconds: 3600)
            setup.seed = seed
            setup.lossProbability = 0.1
            // The collar is asked at any moment between two probes.
            var random = SeededRandom(seed: seed)
            let asked = hours(0.05).advanced(byMicroseconds: Int64(random.next() % 300_000_000))
            let day = try SimulatedDay(setup)
            day.run(until: asked)
            let known = day.arrivals.count
            day.submit(.command(.find(seconds: 600)))
            for second in stride(from: 5 as Int64, through: 310, by: 5) where day.arrivals.count == known {
                day.run(until: asked.advanced(byMicroseconds: second * 1_000_000))
            }
            if day.arrivals.count == known { late += 1 }
        }
        #expect(late <= 50, "\(late) of 1000")
    }

    @Test func afterItEveryValueIsAsBefore() throws {
        let setup = DaySetup(fixSeconds: 900, Setting(.outOfReachSeconds, 300))
        let day = try SimulatedDay(setup)
        day.run(until: hours(1))
        day.submit(.settingsRequest)
        day.run(until: hours(2))
        let settings = day.reportedSettings
        #expect(settings.count == Int(SettingKey.count) && settings[SettingKey.fixIntervalMilliseconds.rawValue] == 900_000)
        day.submit(.command(.find(seconds: 600)))
        day.run(until: hours(2.1))
        #expect(day.powerReport.mode == .find && day.powerReport.supply == .tracking)
        day.run(until: hours(2.5))
        // It tracks at full power, and sends each fix.
        let found = day.statistics
        #expect(found.fullTrackingMicroseconds > 500_000_000 && found.cyclicMicroseconds < 1_000_000 && found.fixes > 500)
        #expect(day.powerReport.mode == .moving && day.powerReport.supply == .backup)
        day.submit(.settingsRequest)
        day.run(until: hours(4))
        #expect(day.reportedSettings == settings && day.isEveryRequestAnswered)
        let before = day.statistics
        day.run(until: hours(28))
        let fixes = day.statistics.fixes - before.fixes
        #expect(abs(fixes - 96) <= 1)
        #expect((day.statistics.gnssMicroseconds - before.gnssMicroseconds).seconds <= 1095)
        #expect(abs(day.statistics[.probe].frames - before[.probe].frames - 192) <= 2)
        #expect(day.statistics.strayListeningMicroseconds == 0)
    }
}
