import CollarARQ
@testable import CollarFirmware
import CollarWire
import Testing

/// The contents of statuses, and the events after which a collar sends a status.
@Suite struct CollarStatusTests {
    private func statuses(_ messages: [Message]) -> [Status] {
        messages.compactMap { if case .status(let status) = $0 { status } else { nil } }
    }

    @Test func aCollarThatDoesNotKnowItsConditionSendsNone() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.askForIdentity() == .identityRequest)
        _ = try bench.sendAll()
        #expect(try bench.answered() == [])
    }

    @Test func itFollowsTheIdentityAndAChangeOfTrackingAtMostOnceAMinute() throws {
        var bench = try CollarBench.paired()
        bench.collar.condition = CollarCondition()
        _ = try bench.askForIdentity()
        #expect(try bench.sendAll().map(\.message) == [.identity(bench.collar.identity)])
        #expect(statuses(try bench.answered()).map(\.isTracking) == [true])
        _ = try bench.command(1, .stopTracking)
        #expect(try bench.answered() == [result(1, .ok)])
        #expect(try bench.answered() == [])
        bench.now = bench.now.advanced(byMicroseconds: 60_000_000)
        #expect(statuses(try bench.sendAll().map(\.message)).map(\.isTracking) == [false])
    }

    @Test func itCounts() throws {
        var bench = try CollarBench.paired(fixes: 20)
        try bench.log(20..<60)
        var condition = CollarCondition()
        condition.batteryPercent = 55
        condition.batteryMillivolts = 3700
        condition.temperatureCelsius = -5
        condition.gnssState = .fix
        condition.throttleState = .lowBattery
        condition.isStationary = true
        condition.lastError = .settingsLost
        bench.collar.condition = condition
        // The newest fix, the tombstone of six fixes and 33 more fixes wait; a burst has 16 frames.
        #expect(try bench.sendAll().count == 16)
        #expect(try bench.acknowledge(26, poll: bench.lastPoll) == .acknowledgement(.answer))
        #expect(try bench.sendAll().count == 16)
        bench.now = bench.now.advanced(byMicroseconds: 2_500_000)
        _ = try bench.askForIdentity()
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(30, poll: bench.lastPoll) == .acknowledgement(.answer))
        let status = try #require(statuses(try bench.sendAll().map(\.message)).first)
        #expect(status.batteryPercent == 55)
        #expect(status.batteryMillivolts == 3700)
        #expect(status.temperatureCelsius == -5)
        #expect(status.gnssState == .fix)
        #expect(status.throttleState == .lowBattery)
        #expect(status.isStationary)
        #expect(status.lastError == .settingsLost)
        #expect(status.uptimeSeconds == 2)
        #expect(status.drops == 6)
        #expect(status.queueDepth == 30)
        #expect(status.fixesSent == 15 + 16)
        #expect(status.retransmissions == 14)
        #expect(status.airtimeMilliseconds > 0)
    }

    @Test func whatIsOutOfRangeIsUnknown() throws {
        var bench = try CollarBench.paired()
        var condition = CollarCondition()
        condition.batteryPercent = 101
        condition.batteryMillivolts = 8191
        condition.temperatureCelsius = -128
        condition.clockMapping = .init(unixMilliseconds: .max, uptimeMilliseconds: 0)
        bench.collar.condition = condition
        _ = try bench.askForIdentity()
        _ = try bench.sendAll()
        let status = try #require(statuses(try bench.answered()).first)
        #expect(status.batteryPercent == nil && status.batteryMillivolts == nil)
        #expect(status.temperatureCelsius == nil && status.clock == nil)
    }

    @Test func itTellsWhatHasChanged() throws {
        var bench = try CollarBench.paired()
        var condition = CollarCondition()
        condition.gnssState = .fix
        condition.batteryPercent = 50
        bench.collar.condition = condition
        #expect(statuses(try bench.sendAll().map(\.message)) == [])
        let changes: [((inout CollarCondition) -> Void, isTold: Bool)] = [
            ({ $0.batteryPercent = 21 }, false), ({ $0.batteryPercent = 20 }, true), ({ $0.batteryPercent = 10 }, false),
            ({ $0.batteryPercent = 9 }, true), ({ $0.batteryPercent = 80 }, true), ({ $0.isStationary = true }, false),
            ({ $0.gnssState = .fault }, true), ({ $0.throttleState = .dutyCycle }, true), ({ $0.lastError = .flashFailed }, true),
            ({ $0.temperatureCelsius = 7 }, false), ({ $0.lastError = .none }, true),
        ]
        for (change, isTold) in changes {
            bench.now = bench.now.advanced(byMicroseconds: 61_000_000)
            let heartbeat = try bench.sendAll()
            #expect(statuses(heartbeat.map(\.message)) == [])
            if !heartbeat.isEmpty { _ = try bench.answered() }
            change(&condition)
            bench.collar.condition = condition
            let told = statuses(try bench.sendAll().map(\.message))
            #expect(told.map(\.gnssState) == (isTold ? [condition.gnssState] : []))
            #expect(told.map(\.lastError) == (isTold ? [condition.lastError] : []))
            if isTold { _ = try bench.answered() }
        }
    }

    @Test func aChangeWithinTheMinuteIsTheNextDeadline() throws {
        var bench = try CollarBench.paired()
        var condition = CollarCondition()
        bench.collar.condition = condition
        condition.gnssState = .fix
        bench.collar.condition = condition
        #expect(statuses(try bench.sendAll().map(\.message)).count == 1)
        let first = bench.now
        _ = try bench.answered()
        bench.now = first.advanced(byMicroseconds: 5_000_000)
        condition.gnssState = .fault
        bench.collar.condition = condition
        #expect(try bench.sendAll().isEmpty)
        let due = first.advanced(byMicroseconds: 60_000_000)
        #expect(bench.collar.nextDeadline == due)
        bench.now = due
        #expect(statuses(try bench.sendAll().map(\.message)).map(\.gnssState) == [.fault])
    }

    @Test func theClockIsThatOfTheStatus() throws {
        var bench = try CollarBench.paired()
        var condition = CollarCondition()
        condition.clockMapping = .init(unixMilliseconds: 1_700_000_000_000, uptimeMilliseconds: 1000)
        bench.collar.condition = condition
        bench.now = bench.now.advanced(byMicroseconds: 5_432_100)
        _ = try bench.askForIdentity()
        _ = try bench.sendAll()
        let status = try #require(statuses(try bench.answered()).first)
        let clock = try #require(status.clock)
        let uptime = Int64(status.uptimeSeconds) * 1000 + Int64(clock.uptimeMilliseconds)
        #expect(uptime >= 5432)
        #expect(clock.unixMilliseconds == 1_700_000_000_000 + uptime - 1000)
    }

    /// A simulation that skips idle time may ask for a frame before the instant of the boot.
    @Test func aClockBeforeTheBootIsNoUptime() throws {
        var bench = try CollarBench.paired()
        bench.collar.condition = CollarCondition()
        _ = try bench.askForIdentity()
        _ = try bench.sendAll()
        bench.now = Instant(microseconds: -5_432_100)
        let status = bench.collar.status(now: bench.now)
        #expect(status.uptimeSeconds == 0 && status.clock == nil)
    }
}
