import CollarARQ
import CollarJournal
import CollarSimulator
import CollarWire
import CollarWorld
import Testing

@testable import CollarHost

/// A frame is tried only with the logs of collars that use its address.
@Suite struct CollarAddressTests {
    private func stored(_ frame: [UInt8], _ bench: HostBench, _ link: LinkID) -> Bool {
        bench.receive(frame, on: link)
        return !bench.takeFixes().isEmpty
    }

    @Test func aFrameAtAnotherAddressIsUnknownUntilAnIdentityNamesTheAddress() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        var collar = try PaperCollar()
        bench.receive(try collar.identity(poll: nil), on: link)
        #expect(stored(try collar.fix(0), bench, link))
        collar.address = 10
        #expect(!stored(try collar.fix(1), bench, link))
        #expect(bench.host.statistics.unknownFrames == 1)
        bench.receive(try collar.identity(poll: nil), on: link)
        #expect(stored(try collar.fix(1), bench, link))
        // Both addresses are the collar's now.
        collar.address = 9
        #expect(stored(try collar.fix(2), bench, link))
    }

    @Test(arguments: [false, true])
    func aRestartKeepsTheAddress(losesPower: Bool) throws {
        let bench = try HostBench { $0.segmentByteLimit = 4096 }
        let link = bench.openLink()
        var collar = try PaperCollar()
        bench.receive(try collar.identity(poll: nil), on: link)
        // Some segments: each checkpoint has the address.
        for sequence in 0..<300 as Range<UInt32> {
            #expect(stored(try collar.fix(sequence), bench, link))
        }
        if losesPower { bench.disk.losePower() }
        try bench.restart()
        let again = bench.openLink()
        collar.address = 10
        #expect(!stored(try collar.fix(300), bench, again))
        collar.address = 9
        #expect(stored(try collar.fix(300), bench, again))
    }

    /// Until the collar is heard, it counts at every address.
    @Test func aJournalWithoutAnAddressLosesNothing() throws {
        let bench = try HostBench()
        var collar = try PaperCollar()
        do {
            let journal = try Journal.open(
                stateDirectory: "/state", deviceID: collar.log.deviceID, receiverID: bench.host.receiverID, nowUnixMilliseconds: 0,
                fileSystem: bench.disk)
            _ = try journal.append(
                JournaledFix(
                    logID: collar.log.logID, receivedUnixMilliseconds: 1,
                    fix: Fix(sequence: 0, unixMilliseconds: 1, latitudeSteps: 1, longitudeSteps: 1)))
            try journal.commit()
        }
        try bench.restart()
        _ = bench.takeFixes()
        let link = bench.openLink()
        collar.address = 200
        #expect(stored(try collar.fix(1), bench, link))
        collar.address = 201
        #expect(!stored(try collar.fix(2), bench, link))
        try bench.restart()
        #expect(!stored(try collar.fix(2), bench, bench.openLink()))
    }

    /// A frame that damage has changed passes the CRC of one log in 2²⁴ tries. With all logs of 256 collars, a million damaged frames
    /// invented seven fixes.
    @Test func damagedFramesBesideManyCollarsInventNoFixes() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collars = try (0..<UInt64(HostLimits.collarCount)).map { number in
            var collar = try PaperCollar(deviceID: DeviceID(rawValue: 0x1000 + number), logID: LogID(lowBitsOf: 5000 + UInt32(number)))
            collar.address = UInt8(1 + number % 254)
            return collar
        }
        for collar in collars {
            bench.wait(seconds: 1)
            bench.receive(try collar.identity(next: 9, poll: nil), on: link)
        }
        bench.commit()
        var random = SeededRandom(seed: 1)
        var frame = try collars[0].fix(1, isShort: true)
        for _ in 0..<2_000_000 {
            frame[2] = UInt8.random(in: 1...254, using: &random)
            for index in 3..<frame.count { frame[index] = UInt8(truncatingIfNeeded: random.next()) }
            bench.host.receive(packet: frame.span, signal: nil, on: link, at: bench.time)
        }
        #expect(bench.host.statistics.fixes <= 2)
        #expect(bench.host.statistics.damagedFrames + bench.host.statistics.malformedFrames > 1_900_000)
    }

    /// The likeliest log is free. What further logs cost comes back if the frame fits one of them.
    @Test func aLinkTriesFurtherLogsWithinItsBudget() throws {
        let link = Link(id: LinkID(index: 0), name: "radio")
        let start = Instant(microseconds: 0)
        func tryLogs(_ count: Int, fits: Bool, at now: Instant) -> Int {
            LogTrials(of: link, at: now).count(trying: count, fits: fits)
        }
        for _ in 0..<10_000 { #expect(tryLogs(1, fits: false, at: start) == 1) }
        for _ in 0..<1000 { #expect(tryLogs(16, fits: true, at: start) == 16) }
        for _ in 0..<16 { #expect(tryLogs(257, fits: false, at: start) == 257) }
        #expect(tryLogs(257, fits: false, at: start) == 1)
        #expect(tryLogs(257, fits: false, at: start.advanced(byMicroseconds: 1000)) == 11)
        let other = Link(id: LinkID(index: 1), name: "other")
        #expect(LogTrials(of: other, at: start).count(trying: 257) == 257)
    }

    @Test func junkAtOneLinkTakesNoTrialsOfAnother() {
        let near = Link(id: LinkID(index: 0), name: "near")
        let far = Link(id: LinkID(index: 1), name: "far")
        let start = Instant(microseconds: 0)
        func tried(_ count: Int, of address: UInt8, on link: Link) -> Int {
            (0..<count).count { _ in link.unopened.mayTry(address, at: start) }
        }
        #expect(tried(101, of: 7, on: near) == 100)
        #expect(tried(1, of: 8, on: near) == 1)
        #expect(tried(1, of: 7, on: far) == 1)
        // All addresses of a link together have a limit, too.
        #expect((0..<254 as Range<UInt8>).reduce(0) { $0 + tried(100, of: $1, on: far) } == 399)
        far.unopened.opened(from: 7)
        #expect(tried(2, of: 7, on: far) == 1)
    }
}

extension LogTrials {
    /// Tries some logs. Returns how many of them were tried.
    fileprivate func count(trying count: Int, fits: Bool = false) -> Int {
        var trials = self
        var tried = 0
        while tried < count, trials.mayTry() { tried += 1 }
        if fits { trials.succeeded() }
        return tried
    }
}
