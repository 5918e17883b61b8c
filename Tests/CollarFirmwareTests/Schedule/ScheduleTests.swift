import CollarARQ
import CollarSimulator
import CollarWire
import Testing

@testable import CollarFirmware

/// A collar whose fixes are made by a schedule.
@Suite struct ScheduleTests {
    /// A collar that has got these settings, and has made its first fixes. The receiver needs eight seconds for a position.
    static func bench(_ settings: KeyValuePairs<SettingKey, UInt32>, hasSensor: Bool = false) throws -> DeviceBench {
        var bench = try DeviceBench()
        bench.timeToFix = 8
        if hasSensor { bench.device.motionRead(isMoving: false, now: bench.now) }
        try bench.run(milliseconds: 20_000)
        try bench.set(settings)
        try bench.run(milliseconds: 200_000)
        _ = bench.takeSent()
        return bench
    }

    static let hour: Int64 = 3_600_000

    @Test func aDayOfSleepAndWakeGivesNoStatus() throws {
        var bench = try Self.bench([.fixIntervalMilliseconds: 180_000])
        let (fixes, readings) = (bench.logged.count, bench.onCount)
        try bench.run(milliseconds: 24 * Self.hour)
        #expect((479...481).contains(bench.logged.count - fixes))
        // 480 searches of nine seconds, and twelve times 27 seconds more.
        #expect((4300...4700).contains(bench.onCount - readings))
        #expect(bench.statuses.isEmpty)
        #expect(bench.sent.allSatisfy { $0.type == .liveFix || $0.type == .powerReport })
        try bench.receive { output, _ throws(EncodeError) in try IdentityRequest(receiverID: 77).encode(address: 9, into: &output) }
        if bench.device.gnssSupply == .on { try bench.run(milliseconds: 60_000) }
        bench.device.batteryRead(BatteryReading(percent: 15), now: bench.now)
        try bench.run(milliseconds: 1000)
        // The state of the receiver is that of the last searches.
        #expect(bench.statuses.last?.gnssState == .fix && bench.statuses.last?.isResting == true)
    }

    @Test func threeSearchesWithoutAFixInARowAreNews() throws {
        var bench = try Self.bench([.fixIntervalMilliseconds: 180_000])
        bench.timeToFix = .max / 10_000_000
        while bench.device.receiver.failuresInRow < 3 {
            #expect(bench.statuses.isEmpty)
            try bench.run(milliseconds: 1000)
        }
        try bench.run(milliseconds: 2000)
        #expect(bench.statuses.map(\.gnssState) == [.searching])
        bench.timeToFix = 8
        try bench.run(milliseconds: Self.hour)
        #expect(bench.statuses.map(\.gnssState) == [.searching, .fix])
    }

    @Test func aChangeOfTheIntervalCountsAtOnceWhileTheReceiverRests() throws {
        var bench = try Self.bench([.fixIntervalMilliseconds: 3_600_000])
        try bench.run(milliseconds: 600_000)
        #expect(bench.device.gnssSupply == .backup)
        try bench.set([.fixIntervalMilliseconds: 60_000])
        #expect(bench.device.gnssSupply == .on)
        try bench.run(milliseconds: 60_000)
        let count = bench.logged.count
        #expect(bench.device.gnssSupply == .backup)
        try bench.set([.fixIntervalMilliseconds: 0])
        #expect(bench.device.gnssSupply == .on)
        try bench.run(milliseconds: 100_000)
        #expect(bench.logged.count >= count + 91)
    }

    @Test(arguments: [(21, 60), (20, 30), (5, 30)] as [(UInt8, Int)]) func aLowBatteryMakesFewerFixes(percent: UInt8, count: Int) throws {
        var bench = try Self.bench([.fixIntervalMilliseconds: 60_000, .lowBatteryCaptureIntervalMilliseconds: 120_000])
        bench.device.batteryRead(BatteryReading(percent: percent), now: bench.now)
        let before = bench.logged.count
        try bench.run(milliseconds: Self.hour)
        #expect(abs(bench.logged.count - before - count) <= 1)
    }

    @Test(arguments: [(false, 900), (true, 7200)])
    func atRestWithoutASensorThereIsAFixEveryQuarterOfAnHour(hasSensor: Bool, seconds: Int64) throws {
        var bench = try Self.bench([.fixIntervalMilliseconds: 60_000, .restFixIntervalMilliseconds: 7_200_000], hasSensor: hasSensor)
        try bench.run(milliseconds: 1_000_000)
        let begin = bench.logged.count
        try bench.run(milliseconds: 8 * Self.hour)
        let times = bench.logged[begin...].map { $0.microseconds / 1_000_000 }
        #expect(times.count >= 3)
        for (earlier, later) in zip(times, times.dropFirst()) { #expect(abs(later - earlier - seconds) <= 1) }
    }

    @Test func aMovingCollarIsFoundByItsFixes() throws {
        var bench = try Self.bench([.fixIntervalMilliseconds: 60_000, .restFixIntervalMilliseconds: 7_200_000])
        try bench.run(milliseconds: 2_000_000)
        #expect(bench.device.receiver.nextSearch.map { $0.microseconds(since: bench.now) > 60_000_000 } == true)
        // Two metres in each second.
        bench.stepE7 = 180
        try bench.run(milliseconds: 910_000)
        let begin = bench.logged.count
        try bench.run(milliseconds: 600_000)
        #expect(abs(bench.logged.count - begin - 10) <= 1)
    }

    @Test func motionAfterARestEndsTheWaitWithinTheCall() throws {
        var bench = try Self.bench([.fixIntervalMilliseconds: 600_000, .restFixIntervalMilliseconds: 7_200_000], hasSensor: true)
        try bench.run(milliseconds: 700_000)
        #expect(bench.device.gnssSupply == .backup)
        bench.device.motionRead(isMoving: false, now: bench.now)
        #expect(bench.device.gnssSupply == .backup)
        bench.device.motionRead(isMoving: true, now: bench.now)
        #expect(bench.device.gnssSupply == .on)
        try bench.run(milliseconds: 60_000)
        #expect(bench.device.gnssSupply == .backup)
        let count = bench.device.receiver.searchCount
        // A collar that goes on moving keeps its interval.
        for _ in 0..<50 {
            bench.device.motionRead(isMoving: true, now: bench.now)
            try bench.run(milliseconds: 10_000)
        }
        #expect(bench.device.receiver.searchCount == count)
        try bench.run(milliseconds: 60_000)
        #expect(bench.device.receiver.searchCount == count + 1)
    }

    @Test func motionDoesNotSwitchOnAReceiverThatIsNotWanted() throws {
        var bench = try Self.bench([.fixIntervalMilliseconds: 600_000], hasSensor: true)
        try bench.command(1, .stopTracking)
        try bench.run(milliseconds: 700_000)
        bench.device.motionRead(isMoving: true, now: bench.now)
        #expect(bench.device.gnssSupply == .off)
    }

    @Test func fixesOfSeparateSearchesAreNotUrgentForTheirAccuracy() throws {
        for (interval, isUrgent) in [(9000, true), (10_000, false)] as [(UInt32, Bool)] {
            var bench = try Self.bench(
                [.fixIntervalMilliseconds: interval, .intervalMilliseconds: 600_000, .stationaryIntervalMilliseconds: 600_000])
            try bench.run(milliseconds: 700_000)
            _ = bench.takeSent()
            bench.reading.horizontalAccuracyMillimeters = 15_000
            try bench.run(milliseconds: 40_000)
            #expect(bench.sent.contains { $0.type == .liveFix } == isUrgent)
        }
    }

    @Test func aFixThatWasAskedForIsMadeWhileTheReceiverRests() throws {
        var bench = try Self.bench([.fixIntervalMilliseconds: 3_600_000])
        try bench.run(milliseconds: 600_000)
        let next = try #require(bench.device.receiver.nextSearch)
        #expect(bench.device.gnssSupply == .backup)
        try bench.command(1, .locateNow)
        #expect(bench.device.gnssSupply == .on)
        try bench.run(milliseconds: 10_000)
        #expect(bench.results.last == CommandResult(requestID: 1, outcome: .ok))
        #expect(bench.device.gnssSupply == .backup)
        #expect(try #require(bench.device.receiver.nextSearch).microseconds(since: next) > 0)
        try bench.run(milliseconds: 3_590_000)
        #expect(bench.device.gnssSupply == .backup)
        try bench.run(milliseconds: 10_000)
        #expect(bench.device.gnssSupply == .on)
    }

    @Test func aReceiverThatIgnoresItsSupplyIsTold() throws {
        var bench = try Self.bench([.fixIntervalMilliseconds: 180_000])
        bench.device.gnssIgnoresSupply(now: bench.now)
        try bench.run(milliseconds: 1000)
        #expect(bench.statuses.map(\.lastError) == [.gnssNotSwitched])
        bench.device.gnssIgnoresSupply(now: bench.now)
        try bench.run(milliseconds: 300_000)
        #expect(bench.statuses.count == 1)
    }

    @Test func atRestTheCollarIsHeardAsOftenAsItsHeartbeatThereSays() throws {
        var bench = try Self.bench(
            [.fixIntervalMilliseconds: 60_000, .restFixIntervalMilliseconds: 3_600_000, .restHeartbeatSeconds: 900], hasSensor: true)
        #expect(bench.device.collar.identity.heartbeatSeconds == 5400)
        try bench.run(milliseconds: 400_000)
        #expect(bench.device.collar.identity.heartbeatSeconds == 900)
        _ = bench.takeSent()
        try bench.run(milliseconds: 3 * Self.hour)
        #expect(bench.sent.count { $0.type == .probe } >= 6)
        bench.device.motionRead(isMoving: true, now: bench.now)
        #expect(bench.device.collar.identity.heartbeatSeconds == 5400)
        try bench.run(milliseconds: 310_000)
        #expect(bench.device.collar.identity.heartbeatSeconds == 900)
        // A collar that logs nothing is heard as usual.
        try bench.command(1, .stopTracking)
        #expect(bench.device.collar.identity.heartbeatSeconds == 60)
    }
}

/// The errors of the fixes of a collar that lies still, of which each comes from a search of its own.
@Suite struct SparseFixTests {
    /// A position with an error of 2.5 m along each axis, and the accuracy that a receiver reports for it: the radius that holds 68 %.
    private func fix(_ number: Int64, _ random: inout SeededRandom) -> Fix {
        // The sum of twelve uniform numbers has a variance of 1.
        func error() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + Double(random.next() >> 11) * 0x1p-53 } * 2.5 }
        var fix = Fix(
            sequence: 0, unixMilliseconds: 1_700_000_000_000 + number * 180_000, latitudeSteps: 473_000_000 + Int32(error() / 0.01112),
            longitudeSteps: 85_000_000 + Int32(error() / 0.00754))
        fix.positionStep = .e7
        fix.horizontalAccuracy = AccuracyCode(nearestToMillimeters: 3800)
        return fix
    }

    @Test func aCollarThatLiesStillIsStationary() {
        var random = SeededRandom(seed: 21)
        var motion = MotionDetector()
        var count = 0
        for number in 0..<10_000 as Range<Int64> {
            motion.note(fix(number, &random), distanceCentimeters: 500, seconds: 30, isSparse: true)
            if motion.isStationary { count += 1 }
        }
        #expect(count >= 9500, "\(count) of 10,000 fixes are stationary")
    }

    @Test func aCollarThatWalksIsNot() {
        var random = SeededRandom(seed: 22)
        var motion = MotionDetector()
        for number in 0..<1000 as Range<Int64> {
            var fix = fix(number, &random)
            // 90 m in three minutes.
            fix.latitudeSteps += Int32(number * 8100)
            motion.note(fix, distanceCentimeters: 500, seconds: 30, isSparse: true)
            #expect(!motion.isStationary)
        }
    }
}
