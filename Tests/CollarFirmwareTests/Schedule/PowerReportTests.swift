import CollarARQ
import CollarSimulator
import CollarWire
import Testing

@testable import CollarFirmware

/// When a collar reports how it spends its battery, and what it reports.
@Suite struct PowerReportTests {
    @Test func everySixHoursOneIsSent() throws {
        var bench = try ScheduleTests.bench([.fixIntervalMilliseconds: 900_000])
        try bench.run(milliseconds: ScheduleTests.hour)
        _ = bench.takeSent()
        try bench.run(milliseconds: 24 * ScheduleTests.hour)
        let times = bench.powerReports.map(\.at.microseconds)
        #expect(times.count == 4)
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect((21_600_000_000...22_500_000_000).contains(later - earlier))
        }
    }

    @Test func aChangeOfTheModeIsReportedButAtMostOnceInTenMinutes() throws {
        var bench = try ScheduleTests.bench([.fixIntervalMilliseconds: 900_000])
        try bench.run(milliseconds: ScheduleTests.hour)
        _ = bench.takeSent()
        // Each begins and ends within a minute.
        for number in 1...30 as ClosedRange<UInt16> {
            try bench.command(number, .find(seconds: 30))
            try bench.run(milliseconds: 60_000)
        }
        let reports = bench.powerReports
        #expect((3...4).contains(reports.count))
        #expect(reports.first?.report.mode == .find)
        for (earlier, later) in zip(reports, reports.dropFirst()) {
            #expect(later.at.microseconds(since: earlier.at) >= 600_000_000)
        }
    }

    @Test func oneThatIsAskedForComesAtOnceAndTellsEverything() throws {
        var bench = try ScheduleTests.bench([.fixIntervalMilliseconds: 900_000])
        try bench.run(milliseconds: 600_000)
        _ = bench.takeSent()
        for number in 1...2 as ClosedRange<UInt16> {
            bench.device.wasAwake(microseconds: 1_250_000)
            try bench.command(number, .reportPower)
            try bench.run(milliseconds: 10)
        }
        #expect(bench.results.map(\.requestID) == [1, 2])
        let reports = bench.powerReports.map(\.report)
        #expect(reports.count == 2)
        let report = try #require(reports.last)
        #expect(report.mode == .moving && report.supply == .backup)
        #expect(report.uptimeSeconds == 820 && report.awakeMilliseconds == 2500)
        let next = try #require(bench.device.receiver.nextSearch)
        let sentAt = try #require(bench.powerReports.last?.at)
        #expect(report.secondsToSearch == UInt32(next.microseconds(since: sentAt) / 1_000_000))
        #expect(report.failuresInRow == 0 && report.failures == 0)
        #expect(report.searches == bench.device.receiver.searchCount)
        #expect(report.timeToFixTenths == bench.device.receiver.timeToFixMicroseconds.map { UInt16($0 / 100_000) })
        #expect(report.gnssSeconds == UInt32(bench.device.receiver.onMicroseconds(now: bench.now) / 1_000_000))
    }

    @Test func theModeNamesWhyFixesAreMadeAsTheyAre() throws {
        var bench = try DeviceBench()
        bench.timeToFix = 8
        bench.device.motionRead(isMoving: true, now: bench.now)
        func mode(_ requestID: UInt16) throws -> PowerReport.Mode? {
            _ = bench.takeSent()
            try bench.command(requestID, .reportPower)
            try bench.run(milliseconds: 10)
            return bench.powerReports.first?.report.mode
        }
        try bench.run(milliseconds: 20_000)
        #expect(try mode(1) == .continuous)
        try bench.set([.fixIntervalMilliseconds: 180_000])
        #expect(try mode(2) == .moving)
        try bench.command(3, .find(seconds: 10))
        #expect(try mode(4) == .find)
        try bench.run(milliseconds: 600_000)
        #expect(try mode(5) == .resting)
        bench.timeToFix = 100_000
        try bench.run(milliseconds: 4000_000)
        #expect(try mode(6) == .noSky)
        try bench.command(7, .stopTracking)
        #expect(try mode(8) == .stopped)
        #expect(bench.powerReports.last?.report.secondsToSearch == nil)
        #expect(bench.powerReports.last?.report.supply == .off)
        try bench.command(9, .startTracking)
        try bench.set([.fixIntervalMilliseconds: 5000])
        try bench.run(milliseconds: 60_000)
        #expect(try mode(10) == .continuous)
    }

    @Test func aRadioThatListensInWindowsCountsThem() throws {
        let modem = ModemProfile(
            nanosecondsPerByte: 1000, frameOverheadMicroseconds: 0, turnaroundMicroseconds: 40_000, isHalfDuplex: true)
        var bench = try DeviceBench(modem: modem)
        bench.readingMicroseconds = .max / 2
        try bench.run(milliseconds: 1000)
        #expect(bench.device.listeningEnd(now: bench.now) == nil)
        bench.isInReach = false
        try bench.run(milliseconds: 70_000)
        let polls = bench.sent.count
        _ = bench.takeSent()
        bench.isInReach = true
        try bench.run(milliseconds: 40_000)
        try bench.command(1, .reportPower)
        try bench.run(milliseconds: 100)
        // An answer comes after 1 ms; without one, the radio receives for 40 ms and the airtime of 51 bytes, at repeats for twice that.
        let listened = try #require(bench.powerReports.last?.report.listeningMilliseconds)
        #expect(listened > UInt32(polls) * 41 && listened <= UInt32(polls + 10) * 82)
    }
}
