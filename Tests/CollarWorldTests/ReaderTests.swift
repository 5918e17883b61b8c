import CollarWorld
import Testing

/// Named readers and retention in worlds full of faults.
@Suite struct ReaderTests {
    private func report(_ plan: WorldPlan) -> WorldStatistics {
        let report = World(plan).run()
        if report.violation != nil { Issue.record("\(Shrinker.describe(Shrinker.shrink(plan) ?? plan, lineLimit: 60))") }
        return report.statistics
    }

    /// Each of these bugs was in a reader or in the removal of segments.
    @Test(
        arguments: [
            ("a directory without segments was never looked at again", 1),
            ("the journal was replaced and the reader kept the old file", 192),
            ("a removed segment was unreadable for ever", 198),
            ("a position had the time of a header that was not written yet", 212),
            ("entries were dropped after a failed read", 218),
            ("a removal before an error was not reported", 704),
            ("later fixes were held back for removed ones", 704),
            ("a segment that was made again looked like the former one", 7_000_367),
            ("a position after records that repeat looked like another", 7_007_550),
            ("the same with several logs", 7_008_051),
            ("a segment that was given up had been seen, and the one before it still grew", 3_100_004_417),
            ("the same, after a failed write", 3_100_072_363),
            ("the same, after the directory was not synchronised", 3_100_076_835),
            ("a segment that was made again after damage was never opened", 3_300_050_848),
        ] as [(String, UInt64)])
    func whatAReaderDidWrongOnceIsMended(bug: String, seed: UInt64) { _ = report(WorldPlan(seed: seed)) }

    @Test func withoutOtherFaultsAReaderGetsEveryEntry() {
        var plan = WorldPlan.small(fixCount: 60)
        plan.faults = [.readers]
        plan.readerCount = 2
        let statistics = report(plan)
        #expect(statistics.fixes == 60)
        #expect(statistics.readerEntries == 120)
    }

    /// Without these counts, worlds whose readers never stop, or whose hosts never remove anything, would find nothing either.
    @Test func readersStopAndGoOnAndSegmentsAreRemoved() {
        var totals = WorldStatistics()
        for seed in 0..<60 as Range<UInt64> {
            var plan = WorldPlan(seed: seed)
            plan.faults.insert(.readers)
            totals.add(report(plan))
        }
        #expect(totals.readerLives > 1000)
        #expect(totals.readerEntries > 10_000)
        #expect(totals.readerRepeats > 500 && totals.readerRepeats < totals.readerEntries)
        #expect(totals.removedSegments > 15)
    }

    /// In these worlds a host keeps what a reader had, so that its alerts can be judged.
    @Test func alertsAreJudged() {
        var totals = WorldStatistics()
        for seed in 0..<60 as Range<UInt64> {
            var plan = WorldPlan(seed: seed)
            plan.faults.insert(.readers)
            plan.faults.subtract(FaultKind.thatTakeEntriesFromReaders)
            plan.readerCount = 3
            totals.add(report(plan))
        }
        #expect(totals.checkedAlerts > 50)
    }

    @Test func aWorldWithoutTheFaultHasNoReader() {
        let statistics = World(.small(fixCount: 10)).run().statistics
        #expect(statistics.readerLives == 0 && statistics.removedSegments == 0)
    }
}
