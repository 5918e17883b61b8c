import CollarARQ
import CollarHost
import CollarJournal
import CollarWire
import Testing

/// Entries that are read back from a journal that is damaged or cannot be read, or of a log that is gone.
@Suite struct ReadingBackTests {
    private static let count: UInt32 = 300
    private let segment = "/state/00000000000000c0/00000001.journal"
    private let collar: PaperCollar
    private let bench: HostBench
    private let link: LinkID

    /// The host after a start with fixes 0 … 299 in several segments, all of which are emitted again.
    init() throws {
        collar = try PaperCollar()
        let former = try HostBench { $0.segmentByteLimit = 2048 }
        let link = former.openLink()
        former.receive(try collar.identity(next: Self.count, poll: nil), on: link)
        for sequence in 0..<Self.count {
            former.receive(try collar.fix(sequence), on: link)
            former.commit()
        }
        bench = try HostBench(on: former.disk) {
            $0.segmentByteLimit = 2048
            $0.emissionStart = .all
        }
        self.link = bench.openLink()
        bench.receive(try collar.identity(next: Self.count, poll: nil), on: self.link)
        bench.commit()
        _ = (bench.frames(), bench.notices())
    }

    private func answer(to poll: [UInt8]) throws -> Acknowledgement {
        bench.receive(poll, on: link)
        bench.commit()
        let frame = try #require(bench.frames().last).bytes
        return try Acknowledgement(decoding: frame.span, header: try FrameHeader(frame.span))
    }

    private func sequences() -> [UInt32] { bench.takeFixes().map(\.fix.sequence) }

    @Test func whatDamageTookIsAskedForAgainAndComesOut() throws {
        let file = try bench.disk.open(segment, .writing)
        _ = try bench.disk.write([UInt8](repeating: 0xA5, count: 200), from: 0, to: file, at: 1000)
        bench.disk.close(file)
        let intact = sequences()
        let asked = bench.notices().compactMap { notice -> ClosedRange<UInt32>? in
            if case .collar(_, .damagedFixes(_, let first, let last)) = notice { first...last } else { nil }
        }
        let missing = try #require(asked.first)
        #expect(asked.count == 1 && missing.count > 1)
        #expect(intact == (0..<Self.count).filter { !missing.contains($0) })
        #expect(try answer(to: try collar.probe(next: Self.count, poll: 1)).resend.closedRanges == [missing])
        for sequence in missing { bench.receive(try collar.fix(sequence), on: link) }
        let whole = try answer(to: try collar.probe(next: Self.count, poll: 2))
        #expect(whole.resend.closedRanges.isEmpty && whole.firstMissing == Self.count)
        #expect(sequences() == Array(missing))
    }

    @Test func whatCannotBeReadWaitsAndNewFixesAreAcknowledged() throws {
        for number in 0..<3 as Range<UInt32> {
            bench.disk.faults.operationsUntilFailure = 0
            #expect(bench.entries().isEmpty)
            #expect(try answer(to: try collar.fix(Self.count + number, poll: 1)).firstMissing == Self.count + number + 1)
            bench.wait(until: try #require(bench.host.nextDeadline))
            bench.host.deadlineReached(at: bench.time)
        }
        #expect(bench.notices().count { if case .collar(_, .journalUnreadable) = $0 { true } else { false } } == 1)
        #expect(sequences() == Array(0..<(Self.count + 3)))
    }

    /// The missing fixes of a collar's former log will never come, so they hold nothing back.
    @Test func anErasedLogHoldsNothingBack() throws {
        let bench = try HostBench {
            $0.selection.isSorted = true
            $0.selection.hasGaps = true
        }
        let link = bench.openLink()
        bench.receive(try collar.identity(next: 6, poll: nil), on: link)
        for sequence in [2, 5] as [UInt32] { bench.receive(try collar.fix(sequence), on: link) }
        #expect(bench.takeFixes().isEmpty)
        let erased = try PaperCollar(logID: 78)
        bench.receive(try erased.identity(next: 1, poll: nil), on: link)
        bench.receive(try erased.fix(0), on: link)
        bench.commit()
        let entries = bench.entries()
        let fixes = entries.compactMap { entry -> UInt32? in
            if case .fix(let record) = entry.content { record.fix.sequence } else { nil }
        }
        #expect(fixes.sorted() == [0, 2, 5])
        let lost = entries.compactMap { entry -> String? in
            if case .gap(let change) = entry.content, change.event == .lost { change.text } else { nil }
        }
        #expect(lost == ["77 lost 0-1", "77 lost 3-4"])
    }
}
