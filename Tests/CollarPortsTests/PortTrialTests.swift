import CollarWorld
import Testing

@Suite("Random faults of ports") struct PortTrialTests {
    @Test(arguments: 0..<10) func twoThousandSeedsBreakNoRule(part: UInt64) {
        for seed in part * 200..<part * 200 + 200 {
            let broken = PortTrial.rule(brokenBy: seed)
            #expect(broken == nil, "seed \(seed)")
            if broken != nil { return }
        }
    }
}
