/// Makes a finding small: switches off kinds of faults, collars and fixes one by one, and shortens the run, as long as the same
/// invariant still fails.
package enum Shrinker {
    /// The smallest plan found that breaks the same invariant as `plan`; nil if `plan` breaks none.
    package static func shrink(_ plan: WorldPlan) -> WorldPlan? {
        guard let invariant = World(plan).run().violation?.invariant else { return nil }
        var best = plan
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for candidate in candidates(best) where World(candidate).run().violation?.invariant == invariant {
                best = candidate
                isSmaller = true
                break
            }
        }
        return best
    }

    private static func candidates(_ plan: WorldPlan) -> [WorldPlan] {
        var candidates: [WorldPlan] = []
        func add(_ change: (inout WorldPlan) -> Void) {
            var candidate = plan
            change(&candidate)
            candidates.append(candidate)
        }
        if plan.collarCount > 1 {
            add { $0.collarCount = 1 }
            add { $0.collarCount -= 1 }
        }
        for kind in plan.faults.kinds { add { $0.faults.remove(kind) } }
        if plan.turbulentMicroseconds > 500_000 {
            for divisor: Int64 in [2, 4, 10] {
                add { $0.turbulentMicroseconds -= $0.turbulentMicroseconds / divisor }
            }
        }
        if plan.fixLimit > 1 {
            add { $0.fixLimit /= 2 }
            add { $0.fixLimit -= 1 }
        }
        if plan.firstSequence > 0 { add { $0.firstSequence = 0 } }
        if plan.calmLoss > 0 { add { $0.calmLoss = 0 } }
        if plan.isHalfDuplex { add { $0.isHalfDuplex = false } }
        return candidates
    }

    /// A finding as text: the seed, the shrunk plan, the trace, and the invariant that does not hold.
    /// - Parameter lineLimit: the most lines of the trace. If the trace is longer, its middle is left out.
    package static func describe(_ plan: WorldPlan, lineLimit: Int = 400) -> String {
        let report = World(plan, isTracing: true).run()
        var lines = ["seed \(plan.seed): \(plan.summary)"]
        var trace = report.trace
        if trace.count > lineLimit {
            let half = lineLimit / 2
            trace = trace.prefix(half) + ["          … \(trace.count - lineLimit) lines …"] + trace.suffix(half)
        }
        lines += trace
        if let violation = report.violation {
            lines.append("FOUND at \(violation.microseconds / 1000) ms: \(violation.invariant): \(violation.text)")
        } else {
            lines.append("nothing found in \(report.statistics.virtualMicroseconds / 1000) ms")
        }
        return lines.joined(separator: "\n")
    }
}
