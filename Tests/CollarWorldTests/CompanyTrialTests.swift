import CollarWorld
import Testing

/// Collars that share a channel, with faults.
@Suite struct CompanyTrialTests {
    @Test(arguments: 0..<8) func seedsBreakNoRule(part: UInt64) {
        var (waits, checkedTurns, collisions) = (WaitStatistics(), 0, 0)
        for seed in part * 25..<part * 25 + 25 {
            let result = CompanyTrial.result(of: seed)
            #expect(result.violation == nil, "seed \(seed)")
            waits.add(result.waits)
            checkedTurns += result.checkedTurns
            collisions += result.collisionCount
        }
        #expect(waits.deviation == nil)
        // The rules have something to judge.
        #expect(checkedTurns > 1000)
        #expect(collisions > 100)
        for kind in WaitStatistics.Kind.allCases { #expect(waits.count(of: kind) > 30, "\(kind)") }
    }
}
