import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// The settings in force, and the updates that change them.
@Suite struct CollarSettingsTests {
    @Test func aNewCollarReportsItsDefaults() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.askForSettings(3) == .settingsRequest)
        let sent = try bench.sendAll().map(\.message)
        #expect(sent.count == 4)
        #expect(reported(sent, 3, version: 0) == defaultSettings)
        #expect(sent.map { reported([$0], 3, version: 0).keys.sorted() } == [
            [1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12], [13, 14, 15, 16, 17, 18], [19, 20, 21, 22, 23],
        ])
    }

    @Test func aHigherVersionIsInForceAndTheReportIsTheAnswer() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.update(4, version: 10, [1: 900, 9: 7, 200: 1]) == .settingsChanged)
        // One frame names the settings that the update names, but for unknown ones.
        let sent = try bench.sendAll().map(\.message)
        #expect(reported(sent, 4, version: 10) == [1: 900, 9: 7])
        #expect(sent.count { if case .settings = $0 { true } else { false } } == 1)
        // A setting that an update does not name keeps its value.
        #expect(try bench.update(5, version: 11, [7: 60, 7: 45]) == .settingsChanged)
        #expect(reported(try bench.answered(), 5, version: 11) == [7: 45])
        #expect(try bench.askForSettings(6) == .settingsRequest)
        #expect(reported(try bench.answered(), 6, version: 11) == defaultSettings.merging([1: 900, 7: 45, 9: 7]) { $1 })
        // An update of unknown settings alone is answered, too.
        #expect(try bench.update(7, version: 12, [200: 1]) == .settingsChanged)
        #expect(try bench.answered().contains { message in
            if case .settings(let report) = message { report.requestID == 7 && report.entries.count == 0 } else { false }
        })
        _ = try bench.answered()
        bench = try bench.rebooted()
        #expect(bench.collar.settings.version == SettingsVersion(rawValue: 12))
        #expect(bench.collar.settings[.stationarySeconds] == 45)
        #expect(bench.collar.settings[.intervalMilliseconds] == 900)
        #expect(bench.collar.settings[.positionDigits] == 7)
        #expect(bench.collar.settings[.lowBatteryStationaryIntervalMilliseconds] == 2000)
    }

    @Test func aRepeatIsReportedAgainAndAnotherUpdateOfTheVersionIsAConflict() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.update(4, version: 10, [1: 900]) == .settingsChanged)
        _ = try bench.sendAll()
        #expect(try bench.update(4, version: 10, [1: 900]) == .repeatedRequest(requestID: 4))
        #expect(reported(try bench.answered(), 4, version: 10)[1] == 900)
        #expect(try bench.update(5, version: 10, [1: 901]) == .requestNotExecuted(requestID: 5, .conflict))
        #expect(try bench.update(6, version: 9, [1: 900]) == .requestNotExecuted(requestID: 6, .conflict))
        #expect(try bench.answered() == [result(5, .conflict), result(6, .conflict)])
        #expect(bench.collar.settings[.intervalMilliseconds] == 900)
    }

    @Test(arguments: [
        (1, 99), (1, 86_400_001), (4, 0), (5, 0), (6, 100_001), (7, 86_401), (8, 4), (8, 65_536), (9, 4), (9, 8),
        (10, 2), (10, .max), (11, 99), (12, 86_400_001), (13, 4), (13, 13), (14, 65_536), (15, 2),
        (16, 999), (16, 86_400_001), (17, 1), (17, 86_400_001), (18, 0), (18, 9), (18, 601), (19, 100_001), (20, 4), (20, 65_536),
        (21, 1), (21, 29), (21, 65_536), (22, 65_536), (23, 121),
    ] as [(UInt8, UInt32)])
    func aValueOutOfItsRangeChangesNothing(key: UInt8, value: UInt32) throws {
        var bench = try CollarBench.paired()
        let before = bench.collar.settings
        #expect(try bench.update(4, version: 10, [2: 700, key: value]) == .requestNotExecuted(requestID: 4, .invalid))
        #expect(bench.collar.settings == before)
        #expect(try bench.sendAll().map(\.message) == [result(4, .invalid)])
        #expect(try bench.update(5, version: 10, [2: 700]) == .settingsChanged)
    }

    /// A collar with a fix every three minutes would else send a probe between two fixes.
    @Test func theDefaultHeartbeatGrowsWithTheLongestInterval() throws {
        var bench = try CollarBench.paired()
        #expect(bench.collar.identity.heartbeatSeconds == 60)
        #expect(try bench.update(4, version: 10, [1: 180_000]) == .settingsChanged)
        #expect(bench.collar.identity.heartbeatSeconds == 270)
        // The report names the setting; the identity after it names the heartbeat in force.
        let sent = try bench.sendAll().map(\.message)
        #expect(reported(sent, 4, version: 10) == [1: 180_000])
        guard case .identity(let identity) = sent.last else { throw Unexpected() }
        #expect(identity.heartbeatSeconds == 270)
        #expect(try bench.update(5, version: 11, [4: 86_400_000]) == .settingsChanged)
        #expect(bench.collar.identity.heartbeatSeconds == 65_535)
        #expect(try bench.rebooted().collar.identity.heartbeatSeconds == 65_535)
        // While nothing is sent, the collar must still be heard.
        try bench.collar.setTracking(false, now: bench.now)
        #expect(bench.collar.identity.heartbeatSeconds == 60)
        try bench.collar.setTracking(true, now: bench.now)
        _ = try bench.answered()
        #expect(try bench.update(6, version: 12, [4: 5000, 12: 240_500]) == .settingsChanged)
        #expect(bench.collar.identity.heartbeatSeconds == 361)
        _ = try bench.answered()
        // A heartbeat that was set holds as it is.
        #expect(try bench.update(7, version: 13, [8: 300]) == .settingsChanged)
        #expect(bench.collar.identity.heartbeatSeconds == 300)
    }

    private struct Unexpected: Error {}

    @Test func theTurnaroundIsObeyedFromTheNextBootOn() throws {
        func timeToWaitForAnswer(_ bench: inout CollarBench) throws -> Int64? {
            _ = try bench.sendAll()
            return bench.collar.nextDeadline?.microseconds(since: bench.now)
        }
        var bench = try CollarBench.paired()
        #expect(try bench.update(4, version: 1, [14: 900]) == .settingsChanged)
        let before = try #require(try timeToWaitForAnswer(&bench))
        bench = try bench.rebooted()
        let after = try #require(try timeToWaitForAnswer(&bench))
        #expect(after - before == 900_000 - 40_000, "the turnaround of the bench's modem is 40 ms")
    }

    @Test func theHeartbeatIsObeyedAtOnceAndAfterAReboot() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.update(4, version: 1, [8: 7]) == .settingsChanged)
        _ = try bench.sendAll()
        #expect(try bench.answered() == [])
        #expect(bench.collar.nextDeadline?.microseconds(since: bench.now) == 7_000_000)
        #expect(bench.collar.identity.heartbeatSeconds == 7)
        bench = try bench.rebooted()
        _ = try bench.sendAll()
        #expect(try bench.answered() == [])
        #expect(bench.collar.nextDeadline?.microseconds(since: bench.now) == 7_000_000)
    }

    @Test func anUnpairedCollarTakesNoUpdate() throws {
        var bench = try CollarBench()
        _ = try bench.sendAll()
        #expect(try bench.update(4, version: 1, [8: 7]) == .requestNotExecuted(requestID: 4, .refused))
        #expect(bench.collar.settings.version == SettingsVersion(rawValue: 0))
    }

    /// A single forged update must not leave the owner without a higher version.
    @Test func anImplausibleVersionIsInvalid() throws {
        var bench = try CollarBench.paired()
        let limit = (1 as UInt64) << 42 + 1 << 20
        #expect(try bench.update(4, version: .max, [10: 1]) == .requestNotExecuted(requestID: 4, .invalid))
        #expect(try bench.update(5, version: (limit + 1) << 20, [10: 1]) == .requestNotExecuted(requestID: 5, .invalid))
        #expect(bench.collar.settings.version == .defaults)
        #expect(try bench.update(6, version: limit << 20, [10: 1]) == .settingsChanged)
        _ = try bench.sendAll()
        #expect(try bench.update(7, version: (limit + 1 << 20 + 1) << 20, [10: 1]) == .requestNotExecuted(requestID: 7, .invalid))
        #expect(try bench.update(8, version: (limit + 1 << 20) << 20, [10: 0]) == .settingsChanged)
        bench = try bench.rebooted()
        #expect(bench.collar.settings.version.number == limit + 1 << 20)
    }

    @Test func theModemSettingsMayBeAsBuilt() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.update(4, version: 1, [11: 60_000, 12: 10_000, 13: 9, 14: 80, 15: 1]) == .settingsChanged)
        bench = try bench.rebooted()
        #expect(bench.collar.settings[.stationaryIntervalMilliseconds] == 60_000)
        #expect(bench.collar.settings[.lowBatteryCaptureIntervalMilliseconds] == 10_000)
        #expect(bench.collar.settings[.spreadingFactor] == 9)
        #expect(bench.collar.settings[.turnaroundMilliseconds] == 80)
        #expect(bench.collar.settings[.modemHeaderBytes] == 1)
        _ = try bench.sendAll()
        #expect(try bench.update(5, version: 2, [13: 0, 14: 0, 15: 0]) == .settingsChanged)
        #expect(bench.collar.settings[.spreadingFactor] == 0 && bench.collar.settings[.turnaroundMilliseconds] == 0)
    }

    @Test func theSettingsOfTheScheduleAreKept() throws {
        var bench = try CollarBench.paired()
        let first: KeyValuePairs<UInt8, UInt32> = [16: 1000, 17: 86_400_000, 18: 10, 19: 100_000, 20: 65_535, 21: 30]
        #expect(try bench.update(4, version: 1, first) == .settingsChanged)
        _ = try bench.sendAll()
        #expect(try bench.update(5, version: 2, [22: 0, 23: 120]) == .settingsChanged)
        bench = try bench.rebooted()
        var expected = defaultSettings.merging([22: 0, 23: 120]) { $1 }
        for (key, value) in first { expected[key] = value }
        _ = try bench.sendAll()
        #expect(try bench.askForSettings(6) == .settingsRequest)
        #expect(reported(try bench.answered(), 6, version: 2) == expected)
        // None of these has to have a value of its own.
        #expect(try bench.update(7, version: 3, [16: 0, 17: 0, 19: 0, 20: 0, 21: 0, 23: 0]) == .settingsChanged)
    }

    @Test func aFlashThatFailsLeavesTheOldSettings() throws {
        var bench = try CollarBench.paired()
        let before = bench.collar.settings
        bench.shared.flash.failingPrograms = 1
        #expect(throws: FlashError.self) { try bench.update(4, version: 3, [8: 7, 1: 800]) }
        #expect(bench.collar.settings == before)
        #expect(try bench.sendAll().isEmpty)
        #expect(try bench.update(4, version: 3, [8: 7, 1: 800]) == .settingsChanged)
        #expect(try bench.rebooted().collar.settings[.intervalMilliseconds] == 800)
    }
}
