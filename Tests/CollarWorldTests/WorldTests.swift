import CollarWorld
import Sweeps
import Testing

/// The real state machines of both ends in worlds full of faults, from seeds and in exhaustive scopes.
@Suite struct WorldTests {
    private func check(_ finding: WorldPlan?) {
        if let finding { Issue.record("\(Shrinker.describe(finding, lineLimit: 60))") }
    }

    @Test func fiftySeedsFindNothingAndTheirFaultsHappen() {
        let totals = sweep(0...49)
        #expect(totals.reboots > 50 && totals.crashes > 50 && totals.requests > 50)
        #expect(totals.hostPowerCuts > 50 && totals.lines > totals.fixes / 2)
        #expect(totals.uplinkFrames > totals.fixes)
    }

    /// Other seeds in every run; `Tools/simulate --seeds` runs many. `Tools/simulate --trace SEED` shows what a seed finds.
    @Test func thirtyFreshSeedsFindNothing() {
        let first = UInt64(UInt32.random(in: 1000 ... .max))
        print("fresh seeds from \(first)")
        sweep(first...(first + 29))
    }

    /// A seed that found a fault.
    struct NamedSeed: CustomTestStringConvertible, Sendable {
        /// What it found.
        let fault: String
        let seed: UInt64

        var testDescription: String { "\(fault) (\(seed))" }
    }

    /// A seed is removed when the world draws other events from it, and so does not reach its fault any more.
    @Test(arguments: [
        NamedSeed(fault: "a tombstone without a poll left a loss unrecorded", seed: 3_500_059_099),
        NamedSeed(fault: "losses that were removed before they were read counted as promised", seed: 3_700_009_269),
        NamedSeed(fault: "an id that a host reached again counted as the former request", seed: 3_700_031_342),
        NamedSeed(fault: "the longest known run exceeded the limit of steps", seed: 4_000_040_674),
        NamedSeed(fault: "a damaged checkpoint covered a lost fix again", seed: 4_300_017_248),
        NamedSeed(fault: "a host that could not read a log never got its identity", seed: 48_022_408),
        NamedSeed(fault: "an answer that was read late confirmed the settings of a stick", seed: 10_300_003_318),
    ])
    func whatWasFoundOnceIsMended(found: NamedSeed) { sweep(found.seed...found.seed) }

    /// Ends at the first finding.
    /// - Returns: the sums over the worlds.
    @discardableResult
    private func sweep(_ seeds: ClosedRange<UInt64>) -> WorldStatistics {
        var totals = WorldStatistics()
        for seed in seeds {
            let plan = WorldPlan(seed: seed)
            let report = World(plan).run()
            totals.add(report.statistics)
            guard report.violation != nil else { continue }
            check(Shrinker.shrink(plan) ?? plan)
            break
        }
        return totals
    }

    @Test func everyLossOfTheFirstFramesIsSurvived() {
        let frameCount = sweepsAreLong ? 11 : 9
        let scope = SmallScopes.everyLoss(ofFirst: frameCount, fixCount: 4)
        #expect(scope.runs == 1 &<< frameCount)
        check(scope.finding)
    }

    @Test func aPowerCutAtEveryByteOfTheFlashIsSurvived() {
        let scope = SmallScopes.everyPowerCut(fixCount: 40, outcomes: 1)
        #expect(scope.runs > 1500)
        check(scope.finding)
    }

    @Test func aCrashOfTheHostAfterEveryEventIsSurvived() {
        let scope = SmallScopes.everyHostCrash(fixCount: 12, outcomes: 4)
        #expect(scope.runs > 200)
        check(scope.finding)
    }

    /// There are enough fixes for a second segment.
    @Test func aCrashOfTheHostAmidEveryFileOperationIsSurvived() {
        let scope = SmallScopes.everyDiskStop(fixCount: 60, outcomes: 2)
        #expect(scope.runs > 350)
        check(scope.finding)
    }

    @Test func aFullDiskAtEveryFileOperationAndAPowerCutAreSurvived() {
        let scope = SmallScopes.everyFullDisk(fixCount: 60, outcomes: 1)
        #expect(scope.runs > 700)
        check(scope.finding)
    }

    @Test func theSameSeedGivesTheSameRun() {
        let plan = WorldPlan(seed: 11)
        let first = World(plan, isTracing: true).run()
        let again = World(plan, isTracing: true).run()
        #expect(first.trace == again.trace)
        #expect(first.statistics == again.statistics)
        #expect(first.statistics.fixes > 0 && first.trace.count > 100)
    }

    @Test func withoutFaultsNothingIsSentTwice() {
        let report = World(.small(fixCount: 10)).run()
        #expect(report.violation == nil)
        #expect(report.statistics.fixes == 10)
        // The identity at boot, the identity that the host requests, and one frame for each fix.
        #expect(report.statistics.uplinkFrames == 12)
        #expect(report.statistics.reboots == 0 && report.statistics.crashes == 0)
    }

    @Test func everyKindOfFaultIsInSomeSeedAndMissingInAnother() {
        let plans = (0..<100 as Range<UInt64>).map(WorldPlan.init(seed:))
        for kind in FaultKind.allCases {
            let count = plans.filter { $0.faults.contains(kind) }.count
            #expect(count > 5 && count < 90, "\(kind): \(count)")
        }
    }
}
