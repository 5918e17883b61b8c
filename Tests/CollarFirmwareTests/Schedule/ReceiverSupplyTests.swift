import CollarARQ
import CollarSimulator
import CollarWire
import Testing

@testable import CollarFirmware

/// When the receiver is switched on and off, and which positions become fixes.
@Suite struct ReceiverSupplyTests {
    @Test func withoutADemandItStaysOff() {
        let bench = SupplyBench()
        bench.run(seconds: 100_000)
        #expect(bench.supply.supply == .off && bench.supply.reported == .off)
        #expect(bench.supply.nextDeadline == nil && bench.supply.nextSearch == nil)
        #expect(!bench.position())
        #expect(bench.supply.searchCount == 0)
    }

    @Test func aSearchBeginsAtOnceAndTheNextOneAnIntervalAfterItsBeginning() {
        let bench = SupplyBench()
        bench.obey()
        #expect(bench.supply.supply == .on && bench.supply.reported == .searching)
        bench.run(seconds: 40)
        #expect(bench.position())
        #expect(bench.supply.reported == .backup && bench.supply.supply == .backup)
        #expect(bench.supply.timeToFixMicroseconds == 40_000_000)
        #expect(bench.supply.nextSearch == Instant(microseconds: 180_000_000))
        #expect(bench.runToSwitch() == 140)
        #expect(bench.supply.searchCount == 2 && bench.supply.failureCount == 0)
        #expect(bench.supply.onMicroseconds(now: bench.now) == 40_000_000)
        #expect(bench.chosen.count == 1)
    }

    @Test func aSearchEndsAtItsTimeout() {
        let bench = SupplyBench.rested()
        _ = bench.runToSwitch()
        #expect(bench.runToSwitch() == 60)
        #expect(bench.supply.failuresInRow == 1 && bench.supply.failureCount == 1)
        // A position that comes too late is none.
        #expect(!bench.position())
    }

    @Test func theWaitAfterFailuresDoublesUpToItsLimit() {
        let bench = SupplyBench.rested()
        var waits: [Double] = []
        _ = bench.runToSwitch()
        for _ in 0..<7 {
            let begin = bench.seconds
            _ = bench.runToSwitch()
            _ = bench.runToSwitch()
            waits.append(bench.seconds - begin)
        }
        #expect(waits == [180, 360, 720, 1440, 2880, 3600, 3600])
        // A fix ends that.
        bench.run(seconds: 5)
        #expect(bench.position())
        #expect(bench.supply.failuresInRow == 0)
        // In all that time, it could not read the orbits.
        #expect(bench.runToSwitch() == 30)
        #expect(bench.runToSwitch() == 145)
    }

    @Test func theLimitOfTheWaitIsNeverBelowTheInterval() {
        let bench = SupplyBench.rested(intervalSeconds: 7200)
        bench.schedule.longestWaitMicroseconds = 0
        bench.obey()
        for _ in 0..<3 {
            _ = bench.runToSwitch()
            #expect(bench.runToSwitch() == 60)
            #expect(bench.supply.nextSearch?.microseconds(since: bench.now) == 7_140_000_000)
        }
    }

    @Test func aSearchThatIsDueWhenAnotherOneEndsKeepsTheSupply() {
        var bench = SupplyBench.rested(intervalSeconds: 60)
        _ = bench.runToSwitch()
        // Two waits of 60 s, and then one of 120 s.
        #expect(bench.runToSwitch() == 120)
        #expect(bench.supply.failuresInRow == 2 && bench.supply.searchCount == 4)
        bench = SupplyBench.rested(intervalSeconds: 60)
        _ = bench.runToSwitch()
        bench.run(seconds: 58)
        #expect(!bench.position(meters: 100))
        bench.run(seconds: 10)
        #expect(bench.supply.reported == .searching)
        #expect(bench.supply.searchCount == 4)
    }

    @Test func failuresInARowEndAt255() {
        let bench = SupplyBench.rested()
        for _ in 0..<300 { bench.fail() }
        #expect(bench.supply.failuresInRow == 255 && bench.supply.failureCount == 300)
        #expect(bench.supply.nextSearch?.microseconds(since: bench.now) == 3_540_000_000)
    }

    @Test func fewSatellitesEndASearchAfterTwentySeconds() {
        let bench = SupplyBench.rested()
        _ = bench.runToSwitch()
        bench.supply.heard(satelliteCount: 2)
        #expect(bench.runToSwitch() == 20)
        #expect(bench.supply.failuresInRow == 1)
        // Three are enough to go on, and what is heard last counts.
        _ = bench.runToSwitch()
        bench.supply.heard(satelliteCount: 3)
        bench.run(seconds: 30)
        #expect(bench.supply.reported == .searching)
        bench.supply.heard(satelliteCount: 1)
        bench.advance()
        #expect(bench.supply.reported == .backup)
        // The count belongs to its search.
        _ = bench.runToSwitch()
        #expect(bench.runToSwitch() == 60)
    }

    @Test(arguments: [(60, 300), (10, 50), (120, 300), (400, 400)] as [(Int64, Double)])
    func theFirstSearchMayTakeFiveTimesAsLong(timeout: Int64, longest: Double) {
        let bench = SupplyBench(intervalSeconds: 900)
        bench.schedule.timeoutMicroseconds = timeout * 1_000_000
        bench.obey()
        #expect(bench.runToSwitch() == longest)
        #expect(bench.supply.supply == .backup)
        _ = bench.runToSwitch()
        #expect(bench.runToSwitch() == Double(timeout))
    }

    @Test func withoutOrbitsFewSatellitesEndASearchAfterAHundredSeconds() {
        let bench = SupplyBench()
        bench.obey()
        bench.supply.heard(satelliteCount: 0)
        #expect(bench.runToSwitch() == 100)
    }

    @Test func inAPauseOfMoreThanThreeHoursThereIsNoSupply() {
        let bench = SupplyBench.rested(intervalSeconds: 10_800)
        #expect(bench.supply.supply == .backup)
        bench.schedule.intervalMicroseconds += 1
        bench.obey()
        #expect(bench.supply.supply == .off && bench.supply.reported == .off)
        // The receiver has forgotten its orbits, whatever the interval is now.
        bench.schedule.intervalMicroseconds = 900_000_000
        bench.obey()
        #expect(bench.supply.supply == .off)
        _ = bench.runToSwitch()
        #expect(bench.runToSwitch() == 300)
    }

    @Test func theSupplyOfAPauseFollowsTheScheduleAfterTheFix() {
        let bench = SupplyBench.rested(intervalSeconds: 20_000)
        _ = bench.runToSwitch()
        bench.run(seconds: 60)
        var fix = Fix(sequence: 0, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 0, longitudeSteps: 0)
        fix.horizontalAccuracy = AccuracyCode(nearestToMillimeters: 5000)
        #expect(bench.supply.accept(fix, now: bench.now) != nil)
        // The fix shows that the collar rests, or moves.
        bench.schedule.intervalMicroseconds = 900_000_000
        bench.obey()
        #expect(bench.supply.supply == .backup)
    }

    @Test func aLongWaitAfterFailuresIsWithoutSupply() {
        let bench = SupplyBench.rested(intervalSeconds: 3600)
        bench.schedule.longestWaitMicroseconds = 20_000_000_000
        bench.obey()
        for _ in 0..<2 { bench.fail() }
        #expect(bench.supply.supply == .backup)
        bench.fail()
        #expect(bench.supply.supply == .off)
    }

    @Test func motionEndsAWaitAndNothingElse() {
        let bench = SupplyBench.rested()
        bench.run(seconds: 10)
        bench.supply.endWait()
        bench.advance()
        #expect(bench.supply.reported == .searching)
        // A search that goes on is not begun again.
        bench.run(seconds: 30)
        bench.supply.endWait()
        #expect(bench.runToSwitch() == 30)
        #expect(bench.supply.nextSearch?.microseconds(since: bench.now) == 120_000_000)
    }

    // MARK: Settling

    @Test func theBestPositionWithinTheSettlingTimeIsTheFix() {
        let bench = SupplyBench.rested()
        _ = bench.runToSwitch()
        bench.run(seconds: 5)
        #expect(!bench.position(meters: 60))
        #expect(bench.supply.reported == .settling)
        bench.run(seconds: 2)
        #expect(!bench.position(meters: 30))
        bench.run(seconds: 2)
        #expect(!bench.position(meters: 90))
        let count = bench.chosen.count
        #expect(bench.runToSwitch() == 6)
        #expect(bench.chosen.count == count + 1)
        #expect(bench.chosen.last?.horizontalAccuracy == AccuracyCode(nearestToMillimeters: 30_000))
        #expect(bench.supply.failuresInRow == 0 && bench.supply.timeToFixMicroseconds == 5_000_000)
        #expect(!bench.position(meters: 30))
        bench.run(seconds: 100)
        #expect(bench.chosen.count == count + 1)
    }

    @Test(arguments: [5, nil] as [UInt32?]) func aPositionThatIsAccurateEnoughEndsTheSettling(meters: UInt32?) {
        let bench = SupplyBench.rested()
        _ = bench.runToSwitch()
        bench.run(seconds: 5)
        #expect(!bench.position(meters: 60))
        bench.run(seconds: 2)
        #expect(bench.position(meters: meters))
        #expect(bench.chosen.last?.horizontalAccuracy == meters.map { AccuracyCode(nearestToMillimeters: $0 * 1000) })
        #expect(bench.supply.reported == .backup)
    }

    @Test func withoutASettlingTimeTheFirstPositionIsTheFix() {
        let bench = SupplyBench.rested()
        bench.schedule.settlingMicroseconds = 0
        bench.obey()
        _ = bench.runToSwitch()
        #expect(bench.position(meters: 100))
        bench.schedule.settlingMicroseconds = 10_000_000
        bench.schedule.enoughMillimeters = nil
        bench.obey()
        _ = bench.runToSwitch()
        #expect(bench.position(meters: 100))
    }

    // MARK: Orbits

    @Test func everyTwoHoursItStaysOnForTheOrbits() {
        let bench = SupplyBench(intervalSeconds: 900)
        bench.obey()
        bench.run(seconds: 8)
        #expect(bench.position())
        #expect(bench.supply.reported == .collecting && bench.supply.supply == .on)
        #expect(!bench.position())
        #expect(bench.runToSwitch() == 27)
        var collections: [Int] = []
        for number in 1...20 {
            bench.find(in: 8)
            if bench.supply.reported == .collecting { collections.append(number) }
            if bench.supply.supply == .on { _ = bench.runToSwitch() }
        }
        #expect(collections == [8, 16])
        #expect(bench.chosen.count == 21)
    }

    @Test func aLongSearchHasTheOrbits() {
        let bench = SupplyBench(intervalSeconds: 900)
        bench.obey()
        bench.run(seconds: 36)
        #expect(bench.position())
        #expect(bench.supply.reported == .backup)
        bench.find(in: 8)
        #expect(bench.supply.reported == .backup)
    }

    @Test func aCollectionThatIsCutShortIsMadeUpFor() {
        let bench = SupplyBench(intervalSeconds: 900)
        bench.obey()
        bench.run(seconds: 8)
        #expect(bench.position())
        bench.demand(.continuous)
        bench.run(seconds: 1)
        #expect(bench.position())
        bench.obey()
        #expect(bench.supply.supply == .backup)
        bench.find(in: 8)
        #expect(bench.supply.reported == .collecting)
    }

    @Test func aReceiverWithoutSupplyCollectsTheOrbitsAgain() {
        let bench = SupplyBench.rested(intervalSeconds: 900)
        bench.demand(.none)
        bench.obey()
        _ = bench.runToSwitch()
        bench.run(seconds: 28)
        #expect(bench.position())
        #expect(bench.supply.reported == .collecting)
    }

    // MARK: Tracking

    @Test func aShortIntervalIsTracked() {
        // The mean time to fix is 8 s before the first one is known.
        var bench = SupplyBench(intervalSeconds: 13)
        bench.obey()
        #expect(bench.supply.reported == .tracking && bench.supply.isTracking)
        bench = SupplyBench(intervalSeconds: 14)
        bench.obey()
        #expect(bench.supply.reported == .searching)
    }

    @Test func trackingIsEnteredBelow17TimesAndLeftAtTwiceThat() {
        let bench = SupplyBench.rested(intervalSeconds: 60)
        // The mean comes near to 40 s.
        for _ in 0..<30 where bench.supply.reported != .tracking { bench.find(in: 40) }
        #expect(bench.supply.reported == .tracking)
        bench.position()
        bench.schedule.intervalMicroseconds = 110_000_000
        bench.obey()
        #expect(bench.supply.reported == .tracking)
        bench.schedule.intervalMicroseconds = 140_000_000
        bench.obey()
        #expect(bench.supply.reported == .backup)
        // The wait counts from the last position.
        #expect(bench.runToSwitch() == 140)
        #expect(bench.supply.reported == .searching)
    }

    @Test func aLossEndsTracking() {
        let bench = SupplyBench(intervalSeconds: 10)
        bench.obey()
        bench.run(seconds: 8)
        #expect(bench.position())
        bench.run(seconds: 50)
        #expect(bench.position())
        bench.run(seconds: 59.9)
        #expect(bench.supply.failureCount == 0)
        // The wait of 10 s is over at once.
        bench.run(seconds: 0.1)
        #expect(bench.supply.reported == .tracking)
        #expect(bench.supply.failuresInRow == 1 && bench.supply.failureCount == 1 && bench.supply.searchCount == 2)
        bench.run(seconds: 1)
        #expect(bench.position())
        #expect(bench.supply.failuresInRow == 0)
    }

    @Test func aPositionWithoutPauseIsTrackedForEver() {
        let bench = SupplyBench()
        bench.demand(.continuous)
        #expect(bench.supply.reported == .tracking && bench.supply.nextDeadline == nil)
        for _ in 0..<100 {
            bench.run(seconds: 1)
            #expect(bench.position(meters: 100))
        }
        bench.run(seconds: 100_000)
        #expect(bench.supply.supply == .on && bench.supply.failureCount == 0)
    }

    // MARK: Changes of the demand in each state

    /// The bench in a state.
    static func bench(in state: PowerReport.Supply) -> SupplyBench {
        var bench = SupplyBench.rested(intervalSeconds: 900)
        switch state {
        case .off:
            bench.schedule.intervalMicroseconds = 20_000_000_000
            bench.obey()
        case .backup: break
        case .searching: _ = bench.runToSwitch()
        case .settling:
            _ = bench.runToSwitch()
            bench.run(seconds: 3)
            bench.position(meters: 60)
        case .collecting:
            bench = SupplyBench(intervalSeconds: 900)
            bench.obey()
            bench.run(seconds: 3)
            bench.position()
        case .tracking:
            bench.schedule.intervalMicroseconds = 10_000_000
            bench.obey()
            _ = bench.runToSwitch()
        }
        #expect(bench.supply.reported == state)
        return bench
    }

    static let states: [PowerReport.Supply] = [.off, .backup, .searching, .settling, .collecting, .tracking]

    @Test(arguments: states) func itIsOffWhenNothingIsWanted(state: PowerReport.Supply) {
        let bench = Self.bench(in: state)
        let count = bench.chosen.count
        bench.demand(.none)
        #expect(bench.supply.supply == .off && bench.supply.nextDeadline == nil)
        bench.run(seconds: 10_000)
        #expect(!bench.position())
        #expect(bench.supply.supply == .off && bench.chosen.count == count)
    }

    @Test(arguments: states) func fixesThatAreWantedWithoutPauseAreMadeInEachState(state: PowerReport.Supply) {
        let bench = Self.bench(in: state)
        let count = bench.chosen.count
        bench.demand(.continuous)
        #expect(bench.supply.reported == .tracking)
        // The position that was to become better is good enough now.
        #expect(bench.chosen.count == count + (state == .settling ? 1 : 0))
        bench.run(seconds: 1000)
        #expect(bench.position(meters: 200))
        // Then the schedule goes on where it was: an interval after this position.
        bench.schedule.intervalMicroseconds = 900_000_000
        bench.obey()
        #expect(bench.supply.supply == .backup)
        #expect(bench.runToSwitch() == 900)
        #expect(bench.supply.failuresInRow == 0)
    }

    @Test(arguments: [.backup, .searching, .settling, .collecting] as [PowerReport.Supply])
    func aChangeOfTheScheduleCountsAtOnceAndLeavesASearch(state: PowerReport.Supply) {
        let bench = Self.bench(in: state)
        let begin = bench.supply.nextSearch?.advanced(byMicroseconds: -900_000_000)
        bench.schedule.intervalMicroseconds = 3_600_000_000
        bench.obey()
        #expect(bench.supply.reported == state)
        #expect(bench.supply.nextSearch == begin?.advanced(byMicroseconds: 3_600_000_000))
        bench.schedule.intervalMicroseconds = 300_000_000
        bench.run(seconds: 310)
        bench.obey()
        // The shorter interval is over.
        #expect(bench.supply.reported == .searching)
    }
}
