/// Scopes that are small enough to try every case. Each returns the first plan that breaks an invariant, and the number of
/// runs.
package enum SmallScopes {
    /// Runs a small world once for each place at which a fault can happen. Each outcome repeats this with another seed.
    /// - Parameters:
    ///   - places: the number of places, given the statistics of a run without the fault.
    ///   - change: adds the fault at a place to a plan.
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

    /// Every pattern of losses among the first `frameCount` frames, counted over both directions in the order of sending.
    package static func everyLoss(ofFirst frameCount: Int, fixCount: Int) -> (finding: WorldPlan?, runs: Int) {
        tryAll(fixCount: fixCount, outcomes: 1, places: { _ in 1 << frameCount }) { plan, pattern, _ in
            plan.scriptedLosses = UInt64(pattern)
        }
    }

    /// A power cut of the collar at every step of its flash. Each outcome tears the interrupted operation in another way.
    package static func everyPowerCut(fixCount: Int, outcomes: Int) -> (finding: WorldPlan?, runs: Int) {
        tryAll(fixCount: fixCount, outcomes: outcomes, places: \.flashSteps) { plan, step, _ in
            plan.scriptedPowerCut = step
        }
    }

    /// A crash of the host after every event: with even outcomes its process is killed, with odd ones its machine loses power.
    /// Different outcomes leave different bytes on the disk.
    package static func everyHostCrash(fixCount: Int, outcomes: Int) -> (finding: WorldPlan?, runs: Int) {
        tryAll(fixCount: fixCount, outcomes: outcomes, places: \.events) { plan, event, outcome in
            plan.scriptedCrashLosesPower = outcome % 2 == 1
            plan.scriptedHostCrash = event + 1
        }
    }

    /// A crash of the host in the middle of every one of its file operations: with even outcomes its process is killed, with
    /// odd ones its machine loses power. Different outcomes leave different bytes on the disk.
    package static func everyDiskStop(fixCount: Int, outcomes: Int) -> (finding: WorldPlan?, runs: Int) {
        tryAll(fixCount: fixCount, outcomes: outcomes, places: \.diskOperations) { plan, operation, outcome in
            plan.scriptedCrashLosesPower = outcome % 2 == 1
            plan.scriptedDiskStop = operation
        }
    }

    /// A full disk at every file operation of the host, and a power cut of its machine a few operations later, at several
    /// distances.
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
