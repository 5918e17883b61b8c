import CollarWire
import Testing

@testable import CollarHost

/// The host knows the schedule of a collar: what is planned is no fault, and a fault is told within the limits of the schedule.
@Suite struct ScheduledCollarTests {
    /// What a person would be told of.
    private func alarms(_ collar: ScheduledCollar) -> [CollarNotice] {
        collar.notices.filter {
            switch $0 {
            case .positions, .health(.late), .health(.unreachable), .health(.condition): true
            default: false
            }
        }
    }

    /// A month: the animal moves and rests outside, visits houses, and sleeps under a roof for up to 20 h.
    @Test(arguments: ScheduledCollar.Loss.allCases) func aMonthWithoutAnAlarm(loss: ScheduledCollar.Loss) throws {
        let collar = try ScheduledCollar(losing: loss)
        for day in 0..<30 as Range<Int64> {
            try collar.live([
                .outside(300, isAtRest: true), .outside(90), .underRoof(5 + day), .outside(25 + day % 3), .outside(60, isAtRest: true),
                .outside(20), .underRoof(7), .outside(11), .underRoof(day % 7 == 6 ? 1200 : 480, isAtRest: true), .outside(120),
                .underRoof(40), .underRoof(45, isAtRest: true), .outside(200 - day),
            ])
        }
        #expect(alarms(collar).isEmpty)
        #expect(collar.fixCount > 4000)
        #expect(collar.failureCount > 500)
    }

    // MARK: Faults

    private let bench: HostBench
    private let link: LinkID
    private let paper: PaperCollar

    init() throws {
        bench = try HostBench()
        link = bench.openLink()
        paper = try PaperCollar()
        bench.receive(try paper.identity(heartbeat: 300), on: link)
    }

    private func tellSettings(_ changes: [SettingKey: UInt32] = ScheduledCollar.values) throws {
        for frame in try paper.settings(changes) { bench.receive(frame, on: link) }
    }

    /// The collar tells its settings, and that it moves.
    private func move(_ changes: [SettingKey: UInt32] = [:]) throws {
        try tellSettings(ScheduledCollar.values.merging(changes) { $1 })
        bench.receive(try paper.power(.moving, next: 180), on: link)
    }

    private func sendTwoFixes() throws {
        for sequence in 0...1 as ClosedRange<UInt32> { bench.receive(try paper.fix(sequence, seconds: 180 * Int64(sequence)), on: link) }
    }

    private func problems() -> [PositionProblem] {
        bench.notices().compactMap { if case .collar(_, .positions(let problem)) = $0 { problem } else { nil } }
    }

    /// After how many seconds of heartbeats without a fix a problem with the positions is told; nil if none is within two days.
    private func problemAfterHeartbeats(every seconds: Int64 = 10, next: UInt32) throws -> (seconds: Int64, problem: PositionProblem)? {
        _ = problems()
        for elapsed in stride(from: seconds, through: 172_800, by: Int(seconds)) {
            bench.wait(seconds: Double(seconds))
            bench.receive(try paper.probe(next: next), on: link)
            if let problem = problems().first { return (elapsed, problem) }
        }
        return nil
    }

    /// Three searches, an hour apart at rest (settings 17 and 22), fail in a row within three hours. The last takes at most five minutes,
    /// and is told within a heartbeat.
    @Test func aReceiverThatMakesNoFixes() throws {
        try move()
        try sendTwoFixes()
        let found = try #require(try problemAfterHeartbeats(next: 2))
        #expect(found.seconds == 3 * 3600 + 300 + 300)
        #expect(found.problem == .stale(microseconds: 11_400_000_000))
    }

    /// Without a longer interval at rest, three searches are over after four intervals: the last wait is twice as long.
    @Test func aReceiverThatMakesNoFixesWithOneInterval() throws {
        try move([.restFixIntervalMilliseconds: 0])
        try sendTwoFixes()
        #expect(try problemAfterHeartbeats(next: 2)?.seconds == 4 * 180 + 300 + 300)
    }

    @Test func aReceiverThatMakesNoFirstFix() throws {
        try move()
        let found = try #require(try problemAfterHeartbeats(next: 0))
        #expect(found.seconds == 11_400 && found.problem == .noFix(microseconds: 11_400_000_000))
    }

    /// A longer interval at rest, a longer wait after failures, and an interval for a low battery move the limit.
    @Test(arguments: [
        (.restFixIntervalMilliseconds, 7_200_000, 22_200), (.searchWaitSeconds, 10_800, 15_000), (.searchTimeoutSeconds, 600, 11_700),
        (.lowBatteryCaptureIntervalMilliseconds, 9_000_000, 27_600),
    ] as [(SettingKey, UInt32, Int64)])
    func aSettingMovesTheLimit(key: SettingKey, value: UInt32, seconds: Int64) throws {
        try move([key: value])
        bench.receive(try paper.fix(0), on: link)
        #expect(try problemAfterHeartbeats(next: 1)?.seconds == seconds)
    }

    /// The collar has told of a later search than its settings allow.
    @Test func aPlannedSearchIsAwaited() throws {
        try tellSettings()
        bench.receive(try paper.fix(0), on: link)
        bench.receive(try paper.power(.resting, next: 20_000), on: link)
        #expect(try problemAfterHeartbeats(next: 1)?.seconds == 20_000 + 300 + 900)
    }

    /// A collar that hears no satellites has said so. It is under a roof for less than a day, or its antenna is broken.
    @Test(arguments: [false, true]) func aCollarThatHearsNoSatellites(byStatus: Bool) throws {
        try move()
        bench.receive(try paper.fix(0), on: link)
        let told = try byStatus ? paper.status(gnss: .searching, isResting: true) : paper.power(.noSky, next: 360, failures: 3)
        bench.receive(told, on: link)
        #expect(try problemAfterHeartbeats(next: 1)?.seconds == 86_400 + 300 + 300)
        bench.receive(try paper.fix(1), on: link)
        #expect(try problemAfterHeartbeats(next: 2)?.seconds == 11_400, "it hears them again")
    }

    /// Without its settings, a collar whose receiver is always on is judged by its last two fixes.
    @Test func withoutASchedule() throws {
        try tellSettings([:])
        try sendTwoFixes()
        bench.receive(try paper.status(isStationary: true), on: link)
        #expect(try problemAfterHeartbeats(next: 2)?.seconds == 540)
    }

    /// The settings were never reported, and the collar says that it searches by a schedule.
    @Test(arguments: [false, true]) func aScheduleWhoseSettingsAreNotKnown(byStatus: Bool) throws {
        try sendTwoFixes()
        bench.receive(try byStatus ? paper.status(isStationary: true, isResting: true) : paper.power(.resting, next: 3600), on: link)
        #expect(try problemAfterHeartbeats(next: 2)?.seconds == 86_400 + 300 + 300)
    }

    @Test func theScheduleIsKnownAfterARestart() throws {
        try move()
        bench.receive(try paper.fix(0), on: link)
        bench.commit()
        try bench.restart()
        let link = bench.openLink()
        bench.receive(try paper.probe(next: 1), on: link)
        _ = problems()
        bench.wait(seconds: 11_399)
        bench.receive(try paper.probe(next: 1), on: link)
        #expect(problems().isEmpty)
        bench.wait(seconds: 1)
        bench.receive(try paper.probe(next: 1), on: link)
        #expect(problems() == [.noFix(microseconds: 11_400_000_000)])
    }

    /// A collar that lost its settings, or has another log, may have another schedule.
    @Test(arguments: [false, true]) func settingsThatMayBeOthers(byLog: Bool) throws {
        try tellSettings()
        var next: UInt32 = 0
        if byLog {
            bench.receive(try PaperCollar(logID: 78).identity(heartbeat: 300), on: link)
        } else {
            bench.receive(try paper.status(lastError: .settingsLost), on: link)
            try sendTwoFixes()
            next = 2
        }
        let session = try #require(bench.host.collars.session(paper.log.deviceID))
        #expect(session.journal.memory.settings.isEmpty)
        if !byLog { #expect(try problemAfterHeartbeats(next: next)?.seconds == 540) }
    }

    // MARK: The receiver and the heartbeat

    @Test func aReceiverThatRestsIsNotSwitchedOff() throws {
        bench.receive(try paper.status(gnss: .off, isResting: true), on: link)
        #expect(problems().isEmpty)
        bench.receive(try paper.status(gnss: .off), on: link)
        #expect(problems() == [.gnssOff])
    }

    @Test func trackingThatIsOffIsToldAlsoAtRest() throws {
        bench.receive(try paper.status(isTracking: false, gnss: .off, isResting: true), on: link)
        #expect(problems() == [.trackingOff])
    }

    /// After how many seconds of silence the collar is late.
    private func lateness() throws -> Int64? {
        _ = bench.notices()
        let start = bench.now
        while let due = bench.host.nextDeadline {
            bench.wait(until: due)
            bench.host.deadlineReached(at: bench.time)
            for case .collar(_, .health(.late)) in bench.notices() { return bench.now.microseconds(since: start) / 1_000_000 }
        }
        return nil
    }

    /// The heartbeat at rest is in force at rest only, also where its identity was lost.
    @Test func theHeartbeatAtRest() throws {
        try tellSettings()
        #expect(try lateness() == 1125, "it is not known whether the collar is at rest")
        bench.receive(try paper.power(.moving, next: 180), on: link)
        #expect(try lateness() == 375)
        bench.receive(try paper.power(.resting, next: 3600), on: link)
        #expect(try lateness() == 1125)
        try tellSettings()
        #expect(try lateness() == 1125, "a report of settings does not end the rest")
        bench.receive(try paper.status(isStationary: false), on: link)
        #expect(try lateness() == 375)
        bench.receive(try paper.status(isStationary: true), on: link)
        #expect(try lateness() == 1125)
        bench.receive(try paper.identity(heartbeat: 100), on: link)
        #expect(try lateness() == 125, "the identity is newer")
    }

    /// What `send find` and the figures tell.
    @Test func theIntervalThatIsInForce() throws {
        func interval() -> UInt32? { bench.host.reading(at: bench.time).collars.first?.fixIntervalMilliseconds }
        try tellSettings()
        #expect(interval() == nil, "it is not known whether the collar is at rest")
        bench.receive(try paper.power(.moving, next: 180), on: link)
        #expect(interval() == 180_000)
        bench.receive(try paper.status(isStationary: true), on: link)
        #expect(interval() == 3_600_000)
        let reading = try #require(bench.host.reading(at: bench.time).collars.first)
        #expect(reading.heartbeatSeconds == 900 && reading.staleAfterMilliseconds == 12_000_000)
        #expect(reading.powerReport?.mode == .moving)
        try tellSettings([.fixIntervalMilliseconds: 60_000, .lowBatteryCaptureIntervalMilliseconds: 600_000])
        #expect(interval() == 60_000)
        bench.receive(try paper.status(battery: 20), on: link)
        #expect(interval() == 600_000)
        try tellSettings([:])
        #expect(interval() == nil, "the receiver is always on")
    }
}
