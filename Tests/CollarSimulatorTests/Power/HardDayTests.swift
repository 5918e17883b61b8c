import CollarARQ
import CollarFirmware
import CollarWire
import Testing

@testable import CollarSimulator

/// What a schedule costs where there is no sky, and where there is no base.
@Suite struct HardDayTests {
    @Test(arguments: [60, 3600] as [UInt32])
    func aDayUnderARoofCostsHalfAnHour(_ fixSeconds: UInt32) throws {
        let day = try SimulatedDay(
            DaySetup(fixSeconds: fixSeconds) {
                $0.plan = DayPlan([0: Surroundings(), 6: Surroundings(sky: .roof), 30: Surroundings()])
            })
        day.run(until: hours(6))
        let before = day.statistics
        day.run(until: hours(30))
        #expect((day.statistics.gnssMicroseconds - before.gnssMicroseconds).seconds <= 1800)
        #expect(day.statistics.fixes == before.fixes && day.statistics.failures >= 23)
        let planned = try #require(day.powerReport.secondsToSearch)
        #expect(planned <= 3600)
        day.run(until: hours(31.1))
        let first = try #require(day.logged.dropFirst(before.fixes).first)
        #expect(first.microseconds(since: hours(30)).seconds <= Double(planned) + 10)
    }

    @Test func tooFewSatellitesEndASearch() throws {
        func receiverSeconds(tellsSatellites: Bool) throws -> Double {
            let day = try SimulatedDay(
                DaySetup(fixSeconds: 3600) {
                    $0.plan = DayPlan([0: Surroundings(), 0.5: Surroundings(sky: .roof)])
                    $0.tellsSatellites = tellsSatellites
                })
            day.run(until: hours(24))
            #expect(day.statistics.fixes == 1 && day.statistics.failures == 23)
            return day.statistics.gnssMicroseconds.seconds - 35
        }
        #expect(try receiverSeconds(tellsSatellites: false) == 23 * 60)
        #expect(try receiverSeconds(tellsSatellites: true) == 23 * 20)
    }

    @Test func motionAfterRestStartsASearch() throws {
        let day = try SimulatedDay(
            DaySetup(fixSeconds: 180, Setting(.restFixIntervalMilliseconds, 3_600_000)) {
                $0.plan = DayPlan([0: Surroundings(sky: .roof), 10: Surroundings(sky: .roof, isMoving: false), 20.4: Surroundings()])
            })
        day.run(until: hours(20.4).advanced(byMicroseconds: -1))
        let searches = day.statistics.searches
        #expect(day.powerReport.secondsToSearch ?? 0 > 60)
        day.run(until: hours(20.4).advanced(byMicroseconds: 1_000_000))
        #expect(day.statistics.searches == searches + 1)
        day.run(until: hours(20.4).advanced(byMicroseconds: 10_000_000))
        #expect(day.statistics.fixes == 1)
    }

    @Test func aRestingCollarNeedsATwentiethOfTheReceiver() throws {
        let setup = DaySetup(fixSeconds: 60, Setting(.restFixIntervalMilliseconds, 3_600_000))
        let moving = try SimulatedDay(setup)
        moving.run(until: hours(24))
        let resting = try SimulatedDay(setup.changed { $0.plan = DayPlan([0: Surroundings(isMoving: false)]) })
        resting.run(until: hours(24))
        #expect(resting.statistics.gnssMicroseconds * 20 <= moving.statistics.gnssMicroseconds)
        #expect(resting.statistics.fixes >= 24)
    }

    @Test func aDayOutOfReachCostsAProbeEveryFiveMinutes() throws {
        let day = try SimulatedDay(
            DaySetup(fixSeconds: 180, Setting(.outOfReachSeconds, 300)) {
                $0.plan = DayPlan([0: Surroundings(), 1: Surroundings(isInReach: false), 25: Surroundings()])
            })
        func frames(_ statistics: DayStatistics) -> Int { FrameUse.allCases.reduce(0) { $0 + statistics[$1].frames } }
        day.run(until: hours(1))
        let before = frames(day.statistics)
        day.run(until: hours(25))
        #expect(frames(day.statistics) - before <= 330)
        #expect(day.statistics.strayListeningMicroseconds == 0)
        day.run(until: hours(26))
        #expect(Set(day.arrivals.map(\.sequence)) == Set(0..<UInt32(day.statistics.fixes)))
        #expect(day.statistics.fixes >= 519)
    }
}

extension DaySetup {
    /// The same with a change.
    func changed(_ change: (inout DaySetup) -> Void) -> DaySetup {
        var setup = self
        change(&setup)
        return setup
    }
}
