import CollarARQ
import CollarHost
import CollarJournal
import CollarWire
import Testing

/// Forged frames in a collar's name do not lock the collar out.
@Suite struct FloodTests {
    private func bench() throws -> HostBench {
        try HostBench { configuration in
            configuration.trackingLimits.promptLogCount = 6
            configuration.trackingLimits.rangesOfLog = 2
            configuration.trackingLimits.sharedRangeCount = 3
        }
    }

    /// The last acknowledgement that the host sends to a collar after these frames, the last of which has a poll.
    private func answer(
        to frames: [[UInt8]], of collar: PaperCollar, _ bench: HostBench, _ link: LinkID
    ) throws -> Acknowledgement? {
        for frame in frames { bench.receive(frame, on: link) }
        bench.commit()
        return try bench.frames().compactMap { frame throws -> Acknowledgement? in
            guard FrameCRC.isValid(frame.bytes.span, log: collar.log) else { return nil }
            let header = try FrameHeader(frame.bytes.span)
            return header.type == .acknowledgement ? try Acknowledgement(decoding: frame.bytes.span, header: header) : nil
        }.last
    }

    /// Passes forged identities of the collar to the host, each with another log, and forged fixes of each log.
    private func flood(_ bench: HostBench, _ link: LinkID, logIDs: Range<UInt32>, fixes: [UInt32]) throws {
        for logID in logIDs {
            let forged = try PaperCollar(logID: LogID(lowBitsOf: logID))
            bench.receive(try forged.identity(next: 1, poll: nil), on: link)
            for sequence in fixes { bench.receive(try forged.fix(sequence), on: link) }
        }
        bench.commit()
    }

    @Test func inventedLogsLockNoLogOut() throws {
        let bench = try bench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        let short = try PaperCollar(logID: 76)
        #expect(try answer(to: [short.identity(poll: nil), short.fix(0, poll: 1)], of: short, bench, link)?.firstMissing == 1)
        let first = try answer(
            to: [collar.identity(poll: nil), collar.fix(0), collar.fix(1), collar.fix(2, poll: 1)], of: collar, bench, link)
        #expect(first?.firstMissing == 3)
        try flood(bench, link, logIDs: 100..<140, fixes: [0, 1, 2, 3])
        #expect(bench.notices().contains(.collar(0xC0, .misbehaving(.tooManyGaps))))
        #expect(try answer(to: [collar.identity(poll: nil), collar.fix(3, poll: 2)], of: collar, bench, link)?.firstMissing == 4)
        // The collar's flash is erased, so the collar has a new log.
        let erased = try PaperCollar(logID: 78)
        bench.wait(seconds: 61)
        #expect(
            try answer(to: [erased.identity(poll: nil), erased.fix(0), erased.fix(1, poll: 3)], of: erased, bench, link)?
                .firstMissing == 2)
        for round in 0..<10 as Range<UInt32> {
            bench.wait(seconds: 61)
            try flood(bench, link, logIDs: (200 + 40 * round)..<(240 + 40 * round), fixes: [0])
            let goesOn = try answer(
                to: [erased.identity(poll: nil), erased.fix(2 + round, poll: 4)], of: erased, bench, link)
            #expect(goesOn?.firstMissing == 3 + round)
        }
        // A log with fewer fixes than the forged logs is still served.
        #expect(try answer(to: [short.identity(poll: nil), short.fix(1, poll: 2)], of: short, bench, link)?.firstMissing == 2)
        try bench.restart()
        let again = bench.openLink()
        #expect(try answer(to: [collar.identity(poll: nil), collar.fix(4, poll: 2)], of: collar, bench, again)?.firstMissing == 5)
        #expect(try answer(to: [erased.identity(poll: nil), erased.fix(12, poll: 2)], of: erased, bench, again)?.firstMissing == 13)
    }

    @Test func aLogOfWhichNothingIsStoredIsAnsweredWhenItsTurnComes() throws {
        let bench = try bench()
        let link = bench.openLink()
        try flood(bench, link, logIDs: 100..<140, fixes: [0])
        let logs = try (100..<140 as Range<UInt32>).map { try PaperCollar(logID: LogID(lowBitsOf: $0)) }
        func waiting() throws -> [PaperCollar] {
            try logs.filter { log in
                try answer(to: [log.identity(poll: nil), log.fix(0, poll: 1)], of: log, bench, link)?.firstMissing != 1
            }
        }
        #expect(try waiting().count == 30, "six logs as they came, four at once")
        bench.wait(seconds: 60)
        #expect(try waiting().count == 29, "and one a minute")
        bench.disk.losePower()
        try bench.restart()
        #expect(bench.entries().count == 11, "each once")
    }

    @Test func rangesThatOtherLogsUseUpAreNotMissed() throws {
        let bench = try bench()
        let link = bench.openLink()
        try flood(bench, link, logIDs: 100..<102, fixes: [10, 20, 30, 40, 50, 60])
        let collar = try PaperCollar()
        let answer = try answer(to: [collar.identity(poll: nil), collar.fix(5), collar.fix(0, poll: 1)], of: collar, bench, link)
        #expect(answer?.firstMissing == 1)
        #expect(answer?.durable.contains(5) == true)
    }

    @Test func anotherContentIsNoticedHoweverOldTheFirstOneIs() throws {
        let bench = try HostBench { $0.segmentByteLimit = 8192 }
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(poll: nil), on: link)
        for sequence in 0..<1200 as Range<UInt32> {
            bench.receive(try collar.fix(sequence), on: link)
            if sequence % 100 == 0 { bench.commit() }
        }
        bench.commit()
        // A repeated fix with the same content is no misbehaviour. The host searches for the first content 16 times at once,
        // then once a second.
        for sequence in 5..<21 as Range<UInt32> { bench.receive(try collar.fix(sequence), on: link) }
        bench.receive(try collar.fix(4, latitudeSteps: 9), on: link)
        #expect(bench.notices().allSatisfy { if case .collar(_, .misbehaving) = $0 { false } else { true } })
        bench.wait(seconds: 1)
        bench.receive(try collar.fix(4, latitudeSteps: 9), on: link)
        #expect(bench.notices().contains(.collar(0xC0, .misbehaving(.otherContent(sequence: 4)))))
        try bench.restart()
        let again = bench.openLink()
        bench.receive(try collar.fix(1199, latitudeSteps: 9), on: again)
        #expect(bench.notices().contains(.collar(0xC0, .misbehaving(.otherContent(sequence: 1199)))))
        bench.commit()
        #expect(bench.host.statistics.fixes == 0)
    }

    @Test func aJournalOfFullSizeIsToldOnceAndGoesOnWhenOldFixesAreRemoved() throws {
        let bench = try HostBench { configuration in
            configuration.segmentByteLimit = 1000
            configuration.journalByteLimit = 5000
            configuration.retention = Retention(days: 1)
        }
        bench.startUnixMilliseconds = 1_800_000_000_000
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(poll: nil), on: link)
        var next: UInt32 = 0
        while try answer(to: [collar.fix(next, poll: 1)], of: collar, bench, link)?.firstMissing == next + 1 {
            _ = bench.entries()
            next += 1
            #expect(next < 200)
        }
        for _ in 0..<3 { #expect(try answer(to: [collar.fix(next, poll: 1)], of: collar, bench, link) == nil) }
        let failures = bench.notices().compactMap { if case .collar(_, .storageFailing(let error)) = $0 { error } else { nil } }
        #expect(failures == [.sizeLimitReached(5000, path: "/state/00000000000000c0")])
        bench.wait(seconds: 3 * 86_400)
        #expect(try answer(to: [collar.fix(next, poll: 1)], of: collar, bench, link) == nil)
        #expect(try answer(to: [collar.fix(next, poll: 2)], of: collar, bench, link)?.firstMissing == next + 1)
        #expect(bench.notices().filter { $0 == .collar(0xC0, .storageRecovered) }.count == 1)
    }
}
