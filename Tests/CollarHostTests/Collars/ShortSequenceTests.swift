import CollarHost
import CollarWire
import Testing

/// The references around which a host completes short sequences.
@Suite struct ShortSequenceTests {
    private func sequences(_ bench: HostBench) -> [UInt32] {
        bench.takeFixes().map(\.fix.sequence)
    }

    @Test func neitherAProbeNorAnIdentityMovesTheHighestStoredSequence() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 65_536, poll: nil), on: link)
        bench.receive(try collar.fix(65_535, isShort: true), on: link)
        #expect(sequences(bench) == [65_535])
        bench.receive(try collar.probe(next: 4_000_000_000), on: link)
        bench.receive(try collar.fix(65_536, isShort: true), on: link)
        bench.receive(try collar.identity(next: 4_000_000_000, poll: nil), on: link)
        bench.receive(try collar.fix(65_537, isShort: true), on: link)
        #expect(sequences(bench) == [65_536, 65_537])
    }

    @Test func aFixAndAnIdentityFarAwayLeaveTheFirstMissing() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 65_531, oldest: 65_530, poll: nil), on: link)
        bench.receive(try collar.fix(4_000_000_000), on: link)
        bench.receive(try collar.identity(next: 4_000_000_001, oldest: 65_530, poll: nil), on: link)
        bench.receive(try collar.fix(65_536, isShort: true), on: link)
        #expect(sequences(bench) == [4_000_000_000, 65_536])
    }

    @Test func anIdentityHelpsAHostThatHasNothing() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(poll: nil), on: link)
        bench.receive(try collar.fix(199_999, isShort: true), on: link)
        bench.receive(try collar.probe(next: 200_000), on: link)
        bench.receive(try collar.fix(199_999, isShort: true), on: link)
        #expect(sequences(bench) == [])
        bench.receive(try collar.identity(next: 200_000, poll: nil), on: link)
        bench.receive(try collar.fix(199_999, isShort: true), on: link)
        #expect(sequences(bench) == [199_999])
    }

    /// Losses that an identity names count as covered, but not as stored fixes.
    @Test func afterARestartTheHighestStoredFixCounts() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 65_536, poll: nil), on: link)
        bench.receive(try collar.fix(65_535, isShort: true), on: link)
        bench.receive(try collar.identity(next: 4_000_000_001, oldest: 4_000_000_000, poll: nil), on: link)
        #expect(sequences(bench) == [65_535])
        try bench.restart()
        bench.receive(try collar.fix(65_536, isShort: true), on: bench.openLink())
        #expect(sequences(bench) == [65_536])
    }
}
