import CollarWorld
import RadioModems
import Testing

/// Worlds whose base radios are sticks with other firmware.
@Suite struct StickWorldTests {
    /// Without these counts, worlds in which no stick carries a packet would find nothing either.
    @Test(arguments: [Dialect.kiss, .rnode, .rui3])
    func sticksThatFailCarryPacketsBothWays(dialect: Dialect) {
        var totals = WorldStatistics()
        var count = 0
        for seed in 0..<300 as Range<UInt64> {
            let plan = WorldPlan(seed: seed)
            guard plan.faults.contains(.radioSticks), plan.stickDialect == dialect else { continue }
            count += 1
            let report = World(plan).run()
            if report.violation != nil { Issue.record("\(Shrinker.describe(Shrinker.shrink(plan) ?? plan, lineLimit: 60))") }
            totals.add(report.statistics)
        }
        #expect(count >= 10)
        #expect(totals.stickPacketsUp > 1000 && totals.stickPacketsDown > 400)
        #expect(totals.stickSetups > 2 * count && totals.stickResets > count && totals.stickFaults > count)
    }

    /// The answers of a stick come within the time for which the collar waits.
    @Test(arguments: [Dialect.kiss, .rnode, .rui3])
    func withoutFaultsOfSticksNothingIsSentTwice(dialect: Dialect) {
        var plan = WorldPlan.small(fixCount: 10)
        plan.faults = [.radioSticks]
        plan.isHalfDuplex = true
        plan.stickDialect = dialect
        plan.modem = plan.stickSettings.profile(of: dialect)
        plan.heartbeatMicroseconds = 600_000_000
        plan.faultIntervalMicroseconds = 10_000_000_000
        plan.fixIntervalMicroseconds = 5_000_000
        plan.turbulentMicroseconds = 80_000_000
        let report = World(plan).run()
        #expect(report.violation == nil)
        #expect(report.statistics.fixes == 10)
        #expect(report.statistics.stickSetups == 1 && report.statistics.stickResets == 0)
        // A frame for each fix, the identity that the host requests, and what the collar sends before the stick is set up.
        #expect(report.statistics.uplinkFrames <= 16)
    }

    @Test func aWorldWithoutTheFaultHasNoSticks() {
        let report = World(.small(fixCount: 10)).run()
        #expect(report.statistics.stickPacketsUp == 0 && report.statistics.stickSetups == 0)
    }
}
