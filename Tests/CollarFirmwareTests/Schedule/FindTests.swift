import CollarARQ
import CollarSimulator
import CollarWire
import Testing

@testable import CollarFirmware

/// The command *find*.
@Suite struct FindTests {
    /// A collar that makes a fix every hour, at a low battery, with long waits out of reach.
    private func bench() throws -> DeviceBench {
        var bench = try ScheduleTests.bench(
            [
                .fixIntervalMilliseconds: 3_600_000, .criticalBatteryIntervalMilliseconds: 600_000, .outOfReachSeconds: 300,
                .heartbeatSeconds: 900,
            ])
        bench.device.batteryRead(BatteryReading(percent: 5), now: bench.now)
        try bench.run(milliseconds: 600_000)
        _ = bench.takeSent()
        #expect(bench.device.gnssSupply == .backup)
        return bench
    }

    /// Expects that *find* is not in force and has left nothing.
    private func expectRest(_ bench: inout DeviceBench) throws {
        #expect(bench.device.gnssSupply == .backup && bench.device.savesReceiverPower)
        #expect(bench.device.collar.identity.heartbeatSeconds == 900)
        try bench.run(milliseconds: 2000)
        _ = bench.takeSent()
        let fixes = bench.logged.count
        try bench.run(milliseconds: 880_000)
        // The power report tells of the change.
        #expect(bench.sent.map(\.type) == [.powerReport] && bench.logged.count == fixes)
        bench.isInReach = false
        try bench.run(milliseconds: 2 * ScheduleTests.hour)
        #expect(bench.sent.suffix(5).map(\.at.microseconds).differences.allSatisfy { $0 == 300_000_000 })
    }

    @Test func itMakesFixesWithoutPauseAndSendsEach() throws {
        var bench = try bench()
        #expect(try bench.command(1, .find(seconds: 60)) == .command(requestID: 1, .find(seconds: 60)))
        #expect(bench.device.gnssSupply == .on && !bench.device.savesReceiverPower)
        #expect(bench.device.readingIntervalMilliseconds == 1000)
        try bench.run(milliseconds: 12_000)
        #expect(bench.results == [CommandResult(requestID: 1, outcome: .ok)])
        _ = bench.takeSent()
        let fixes = bench.logged.count
        try bench.run(milliseconds: 40_000)
        #expect(bench.logged.count == fixes + 40)
        #expect(bench.sent.count { $0.type == .liveFix } == 40)
        try bench.run(milliseconds: 8001)
        try expectRest(&bench)
    }

    @Test func withoutAPositionItIsHeardEveryTenSeconds() throws {
        var bench = try bench()
        bench.timeToFix = 100_000
        try bench.command(1, .find(seconds: 200))
        #expect(bench.device.collar.identity.heartbeatSeconds == 10)
        try bench.run(milliseconds: 5000)
        _ = bench.takeSent()
        try bench.run(milliseconds: 100_000)
        let probes = bench.sent.filter { $0.type == .probe }.map(\.at.microseconds)
        #expect(probes.count >= 9)
        #expect(probes.differences.allSatisfy { (10_000_000...10_010_000).contains($0) })
        // Out of reach, it waits as long as it was built to.
        bench.isInReach = false
        try bench.run(milliseconds: 90_000)
        #expect(bench.sent.map(\.at.microseconds).differences.allSatisfy { $0 <= 30_000_000 })
        bench.isInReach = true
        try bench.run(milliseconds: 20_000)
        try expectRest(&bench)
    }

    @Test func zeroSecondsEndIt() throws {
        var bench = try bench()
        try bench.command(1, .find(seconds: 65_535))
        try bench.run(milliseconds: 60_000)
        #expect(bench.device.gnssSupply == .on)
        try bench.command(2, .find(seconds: 0))
        try expectRest(&bench)
    }

    @Test func aSecondOneCountsFromItsOwnBeginning() throws {
        var bench = try bench()
        try bench.command(1, .find(seconds: 60))
        try bench.run(milliseconds: 30_000)
        try bench.command(2, .find(seconds: 60))
        try bench.run(milliseconds: 59_000)
        #expect(bench.device.gnssSupply == .on)
        try bench.run(milliseconds: 1001)
        #expect(bench.device.gnssSupply == .backup)
    }

    @Test func theEndOfTrackingEndsIt() throws {
        var bench = try bench()
        try bench.command(1, .find(seconds: 600))
        try bench.run(milliseconds: 60_000)
        try bench.command(2, .stopTracking)
        #expect(bench.device.gnssSupply == .off && !bench.device.isGNSSWanted)
        #expect(bench.device.collar.identity.heartbeatSeconds == 900)
        try bench.command(3, .startTracking)
        try bench.run(milliseconds: 100_000)
        #expect(bench.device.gnssSupply != .on)
    }

    @Test func aCollarThatLogsNothingIsFoundAsWell() throws {
        var bench = try bench()
        try bench.command(1, .stopTracking)
        try bench.run(milliseconds: 10_000)
        let fixes = bench.logged.count
        try bench.command(2, .find(seconds: 60))
        try bench.run(milliseconds: 59_000)
        #expect((45...52).contains(bench.logged.count - fixes))
        #expect(bench.device.collar.identity.heartbeatSeconds == 10)
        try bench.run(milliseconds: 2000)
        #expect(bench.device.gnssSupply == .off)
        #expect(bench.device.collar.identity.heartbeatSeconds == 900)
    }

    @Test func aRebootEndsIt() throws {
        var bench = try bench()
        try bench.command(1, .find(seconds: 600))
        try bench.run(milliseconds: 60_000)
        try bench.device.restart(randomLogID: 1, now: bench.now)
        #expect(bench.device.collar.identity.heartbeatSeconds == 900)
        try bench.run(milliseconds: 60_000)
        #expect(bench.device.gnssSupply == .backup)
        // The command came before the reboot, so a repeat of it changes nothing.
        #expect(try bench.command(1, .find(seconds: 600)) == .repeatedRequest(requestID: 1))
        #expect(bench.device.gnssSupply == .backup)
    }
}

extension [Int64] {
    /// The differences between neighbours.
    fileprivate var differences: [Int64] { zip(self, dropFirst()).map { $1 - $0 } }
}
