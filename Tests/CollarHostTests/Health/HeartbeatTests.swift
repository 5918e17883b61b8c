import CollarARQ
import CollarWire
import Testing

@testable import CollarHost

/// A collar is late by the heartbeat that is in force, whoever set it.
@Suite struct HeartbeatTests {
    private let bench: HostBench
    private var link: LinkID
    private let collar: PaperCollar

    init() throws {
        bench = try HostBench()
        link = bench.openLink()
        collar = try PaperCollar()
        bench.receive(try collar.identity(), on: link)
    }

    private func report(_ changes: [SettingKey: UInt32], version: UInt64 = 1) throws {
        for frame in try collar.settings(changes, version: version) { bench.receive(frame, on: link) }
    }

    /// After how many microseconds of silence the collar is late.
    private func lateness() throws -> Int64? {
        _ = bench.notices()
        let start = bench.now
        while let due = bench.host.nextDeadline {
            bench.wait(seconds: Double(due.microseconds - bench.now.microseconds) / 1e6)
            bench.host.deadlineReached(at: bench.time)
            for case .collar(_, .health(.late)) in bench.notices() { return bench.now.microseconds(since: start) }
        }
        return nil
    }

    @Test(arguments: [(900, 1_125_000_000), (5, 6_250_000), (65_535, 81_918_750_000)] as [(UInt32, Int64)])
    func aHeartbeatThatWasSet(seconds: UInt32, late: Int64) throws {
        try report([.heartbeatSeconds: seconds])
        #expect(try lateness() == late)
    }

    @Test func withoutAReportItIsTheIdentitys() throws {
        #expect(try lateness() == 75_000_000)
        try report([.heartbeatSeconds: 900])
        bench.receive(try collar.identity(heartbeat: 200), on: link)
        #expect(try lateness() == 250_000_000, "the identity is newer")
    }

    /// With the default, the identity tells the heartbeat in force: a report does not say whether positions are logged.
    @Test func aDefaultInAReportChangesNothing() throws {
        bench.receive(try collar.identity(heartbeat: 900), on: link)
        try report([.intervalMilliseconds: 600_000])
        #expect(try lateness() == 1_125_000_000)
        try report([.intervalMilliseconds: 600_000, .heartbeatSeconds: 61], version: 100)
        #expect(try lateness() == 76_250_000, "a heartbeat that was set holds as it is")
    }

    /// The other parts of a report say nothing of the heartbeat.
    @Test func aPartWithoutTheHeartbeat() throws {
        try report([.heartbeatSeconds: 900])
        bench.receive(try collar.settings([:], version: 2)[0], on: link)
        #expect(try lateness() == 1_125_000_000)
    }

    @Test(arguments: [(0, 60), (40_000, 60), (40_001, 61), (43_690_000, 65_535), (.max, 65_535)] as [(UInt32, UInt16)])
    func theDefault(interval: UInt32, seconds: UInt16) {
        #expect(DefaultHeartbeat.seconds(longestIntervalMilliseconds: interval) == seconds)
    }

    /// A collar on a radio does not hear the identity request of a receiver that starts, and goes on with its frames.
    @Test func itIsKnownAfterARestart() throws {
        try report([.heartbeatSeconds: 900])
        bench.receive(try collar.fix(0), on: link)
        bench.commit()
        try bench.restart()
        let link = bench.openLink()
        bench.receive(try collar.probe(next: 1), on: link)
        #expect(try lateness() == 1_125_000_000)
    }

    /// Also when the segment that had the record is not the last one.
    @Test func itIsKnownInTheNextSegment() throws {
        let bench = try HostBench { $0.segmentByteLimit = 4096 }
        let link = bench.openLink()
        bench.receive(try collar.identity(boot: 7, heartbeat: 900), on: link)
        for sequence in 0..<400 as Range<UInt32> {
            bench.receive(try collar.fix(sequence, battery: 9), on: link)
            bench.commit()
        }
        try bench.restart()
        let memory = try #require(bench.host.collars.session(collar.log.deviceID)).journal.memory
        #expect(memory.heartbeatSeconds == 900 && memory.bootCount == 7 && memory.batteryWarning == .critical)
    }

    /// A probe that is a heartbeat does not show that an answer was not heard.
    @Test func aHeartbeatIsNoRepetition() {
        let poll = PollFrame(type: .probe)
        func shows(after seconds: Int64, heartbeat: Int64) -> Bool? {
            poll.showsAnswer(
                sentAt: Instant(microseconds: 0), heartbeat: heartbeat * 1_000_000, sendsLiveFixes: false,
                at: Instant(microseconds: seconds * 1_000_000))
        }
        #expect(shows(after: 5, heartbeat: 5) == nil)
        #expect(shows(after: 2, heartbeat: 5) == false)
        #expect(shows(after: 29, heartbeat: 60) == false)
        #expect(shows(after: 31, heartbeat: 60) == nil)
    }
}
