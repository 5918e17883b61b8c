import CollarWorld
import Sweeps
import Testing

/// Worlds in which a copy of the first host's disk runs in a second machine.
@Suite struct CloneTests {
    /// Without these counts, worlds in which the clone never answers would find nothing either.
    @Test func aCloneAnswersThePollsOfItsHostAndNoNonceIsUsedTwice() {
        var totals = WorldStatistics()
        let seedCount = sweepsAreLong ? 40 : 16 as UInt64
        for seed in 0..<seedCount {
            var plan = WorldPlan(seed: seed)
            plan.faults.formUnion([.sealing, .clonedHost])
            // The oracle does not know what the host removed before it was cloned.
            plan.faults.remove(.removal)
            let report = World(plan).run()
            if report.violation != nil { Issue.record("\(Shrinker.describe(Shrinker.shrink(plan) ?? plan, lineLimit: 60))") }
            totals.add(report.statistics)
        }
        #expect(totals.clones > Int(seedCount) * 3 / 4)
        #expect(totals.pollsAnsweredTwice > Int(seedCount) * 5 / 2)
        #expect(totals.pollsAnsweredDifferently > Int(seedCount) / 2)
        #expect(totals.nonces.pairs >= totals.pollsAnsweredDifferently)
        #expect(totals.nonces.deviation == nil)
        #expect(totals.fixesOfClonesAlone > Int(seedCount) / 2)
    }

    @Test func withoutOtherFaultsTheCloneAndTheHostGiveTheSameAnswers() {
        var plan = WorldPlan.small(fixCount: 60)
        plan.faults = [.sealing, .clonedHost]
        let report = World(plan).run()
        #expect(report.violation == nil)
        #expect(report.statistics.clones == 1)
        #expect(report.statistics.pollsAnsweredTwice > 0)
    }

    @Test func aWorldWithoutTheFaultHasNoClone() {
        let report = World(.small(fixCount: 10)).run()
        #expect(report.statistics.clones == 0 && report.statistics.pollsAnsweredTwice == 0)
    }
}
