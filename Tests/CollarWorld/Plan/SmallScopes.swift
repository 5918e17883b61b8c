/// Scopes small enough to try everything in them. Each finds the first plan that breaks an invariant, and tells how many
/// runs were done.
package enum SmallScopes {
    /// Runs a small world once for each place at which something may happen, with several outcomes of it.
    /// - Parameters:
    ///   - places: how many places a run without it has.
    ///   - change: makes it happen at a place.
    private static func tryAll(
        fixCount: Int, outcomes: Int, places: (WorldStatistics) -> Int,
        _ change: (_ plan: inout WorldPlan, _ place: Int, _ outcome: Int) -> Void
    ) -> (finding: WorldPlan?, runs: Int) {
        var runs = 0
        for outcome in 0..<outcomes {
            var plan = WorldPlan.small(fixCount: fixCount)
            plan.seed += UInt64(outcome)
            for place in 0..<places(World(plan).run().statistics) {
                change(&plan, place, outcome)
                runs += 1
                if World(plan).run().violation != nil { return (plan, runs) }
            }
        }
        return (nil, runs)
    }

    /// Every pattern of losses of the first `frameCount` frames, of both directions in the order in which they are sent.
    package static func everyLoss(ofFirst frameCount: Int, fixCount: Int) -> (finding: WorldPlan?, runs: Int) {
        tryAll(fixCount: fixCount, outcomes: 1, places: { _ in 1 << frameCount }) { plan, pattern, _ in
            plan.scriptedLosses = UInt64(pattern)
        }
    }

    /// A power cut of the collar at every step of its flash, each with several outcomes of what is torn.
    package static func everyPowerCut(fixCount: Int, outcomes: Int) -> (finding: WorldPlan?, runs: Int) {
        tryAll(fixCount: fixCount, outcomes: outcomes, places: \.flashSteps) { plan, step, _ in
            plan.scriptedPowerCut = step
        }
    }

    /// A crash of the host after every event, by turns of its process and of its machine, with several outcomes of what
    /// reached the disk.
    package static func everyHostCrash(fixCount: Int, outcomes: Int) -> (finding: WorldPlan?, runs: Int) {
        tryAll(fixCount: fixCount, outcomes: outcomes, places: \.events) { plan, event, outcome in
            plan.scriptedCrashLosesPower = outcome % 2 == 1
            plan.scriptedHostCrash = event + 1
        }
    }

    /// A crash of the host amid every one of its file operations, by turns of its process and of its machine, with
    /// several outcomes of what reached the disk.
    package static func everyDiskStop(fixCount: Int, outcomes: Int) -> (finding: WorldPlan?, runs: Int) {
        tryAll(fixCount: fixCount, outcomes: outcomes, places: \.diskOperations) { plan, operation, outcome in
            plan.scriptedCrashLosesPower = outcome % 2 == 1
            plan.scriptedDiskStop = operation
        }
    }

    /// No room for any one of the host's file operations, and soon afterwards a power cut of its machine, with several
    /// distances between them.
    package static func everyFullDisk(fixCount: Int, outcomes: Int) -> (finding: WorldPlan?, runs: Int) {
        let distances = [3, 5, 8, 12, 20]
        return tryAll(fixCount: fixCount, outcomes: outcomes, places: { $0.diskOperations * distances.count }) {
            plan, place, _ in
            plan.scriptedCrashLosesPower = true
            plan.scriptedFullDisk = place / distances.count
            plan.scriptedDiskStop = place / distances.count + distances[place % distances.count]
        }
    }
}
