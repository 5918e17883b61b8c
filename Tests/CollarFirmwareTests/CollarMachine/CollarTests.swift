import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// A burst always ends with a poll, so that delivery never waits for the heartbeat.
@Suite struct CollarLivenessTests {
    /// A power cut tears the newest slot.
    @Test func aTornNewestSlotDoesNotStopTheBacklog() throws {
        var bench = try CollarBench()
        try bench.log(0..<3)
        bench.logTorn(3)
        bench = try bench.rebooted()
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(0, poll: 1) == .acknowledgement(.answer))
        let sent = try bench.sendAll()
        #expect(sent.map(\.message) == [tombstone(3, 3), .fix(fix(0)), .fix(fix(1)), .fix(fix(2))])
        #expect(sent.last?.poll == 2)
    }

    /// Every fix still in the log is delivered; only overwritten fixes are missing.
    @Test func aTombstoneThatEndsABurstIsAskedAbout() throws {
        var bench = try CollarBench()
        try bench.log(0..<60)
        _ = try bench.sendAll()
        let held = try #require(SequenceRange(26, 59))
        #expect(try bench.acknowledge(4, poll: 1, durable: [held]) == .acknowledgement(.answer))
        let sent = try bench.sendAll()
        #expect(sent.first?.message == tombstone(4, 25))
        #expect(sent.last?.poll == 2)
    }

    /// The receiver requests a torn fix again. The tombstone of that fix must not hide the older fixes of the backlog.
    @Test func aTombstoneOfOneFixDoesNotHideOlderOnes() throws {
        var bench = try CollarBench()
        try bench.log(0..<3)
        bench.logTorn(3)
        bench = try bench.rebooted()
        try bench.log(4..<6)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(0, poll: 1, resend: [SequenceRange(3)]) == .acknowledgement(.answer))
        let sent = try bench.sendAll()
        #expect(sent.count >= 6)
        for number in [5, 0, 1, 2, 4] as [UInt32] { #expect(sent.contains { $0.message == .fix(fix(number)) }) }
        #expect(sent.last?.poll == 2)
    }

    /// One failed read loses a frame, but does not stop the link.
    @Test func aFailedReadDoesNotSilenceTheCollar() throws {
        var bench = try CollarBench()
        try bench.log(0..<1)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(0, poll: 1) == .acknowledgement(.answer))
        bench.shared.flash.failingReads = 1
        #expect(throws: FlashError.self) { try bench.nextFrame() }
        bench.now = bench.now.advanced(byMicroseconds: 120_000_000)
        #expect(try !bench.sendAll().isEmpty)
    }
}
