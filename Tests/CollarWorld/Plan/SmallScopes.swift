/// Scopes small enough to try everything in them.
package enum SmallScopes {
    /// Every pattern of losses of the first `frameCount` frames, of both directions in the order in which they are
    /// sent.
    /// - Returns: the first plan that breaks an invariant, and how many runs were done.
    package static func everyLoss(ofFirst frameCount: Int, fixCount: Int) -> (finding: WorldPlan?, runs: Int) {
        for pattern in 0..<(UInt64(1) << UInt64(frameCount)) {
            var plan = WorldPlan.small(fixCount: fixCount)
            plan.scriptedLosses = pattern
            if World(plan).run().violation != nil { return (plan, Int(pattern) + 1) }
        }
        return (nil, 1 << frameCount)
    }

    /// A power cut of the collar at every step of its flash, each with several outcomes of what is torn.
    package static func everyPowerCut(fixCount: Int, outcomes: Int = 3) -> (finding: WorldPlan?, runs: Int) {
        var runs = 0
        for outcome in 0..<outcomes {
            var plan = WorldPlan.small(fixCount: fixCount)
            plan.seed += UInt64(outcome)
            let stepCount = World(plan).run().statistics.flashSteps
            for step in 0..<stepCount {
                plan.scriptedPowerCut = step
                runs += 1
                if World(plan).run().violation != nil { return (plan, runs) }
            }
        }
        return (nil, runs)
    }

    /// A crash of the host after every event, by turns of its process and of its machine, with several outcomes of what
    /// reached the disk.
    package static func everyHostCrash(fixCount: Int, outcomes: Int = 3) -> (finding: WorldPlan?, runs: Int) {
        var runs = 0
        for outcome in 0..<outcomes {
            var plan = WorldPlan.small(fixCount: fixCount)
            plan.seed += UInt64(outcome)
            plan.scriptedCrashLosesPower = outcome % 2 == 1
            let eventCount = World(plan).run().statistics.events
            for event in 1...max(1, eventCount) {
                plan.scriptedHostCrash = event
                runs += 1
                if World(plan).run().violation != nil { return (plan, runs) }
            }
        }
        return (nil, runs)
    }

    /// A crash of the host amid every one of its file operations, by turns of its process and of its machine, with
    /// several outcomes of what reached the disk.
    package static func everyDiskStop(fixCount: Int, outcomes: Int = 4) -> (finding: WorldPlan?, runs: Int) {
        var runs = 0
        for outcome in 0..<outcomes {
            var plan = WorldPlan.small(fixCount: fixCount)
            plan.seed += UInt64(outcome)
            plan.scriptedCrashLosesPower = outcome % 2 == 1
            let operationCount = World(plan).run().statistics.diskOperations
            for operation in 0..<operationCount {
                plan.scriptedDiskStop = operation
                runs += 1
                if World(plan).run().violation != nil { return (plan, runs) }
            }
        }
        return (nil, runs)
    }

    /// No room for any one of the host's file operations, and soon afterwards a power cut of its machine, with several
    /// distances between them.
    package static func everyFullDisk(fixCount: Int, outcomes: Int = 3) -> (finding: WorldPlan?, runs: Int) {
        var runs = 0
        for outcome in 0..<outcomes {
            var plan = WorldPlan.small(fixCount: fixCount)
            plan.seed += UInt64(outcome)
            plan.scriptedCrashLosesPower = true
            let operationCount = World(plan).run().statistics.diskOperations
            for operation in 0..<operationCount {
                for distance in [3, 5, 8, 12, 20] {
                    plan.scriptedFullDisk = operation
                    plan.scriptedDiskStop = operation + distance
                    runs += 1
                    if World(plan).run().violation != nil { return (plan, runs) }
                }
            }
        }
        return (nil, runs)
    }
}
