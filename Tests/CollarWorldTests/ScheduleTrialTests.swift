import CollarWorld
import Testing

@Suite("Random schedules") struct ScheduleTrialTests {
    @Test(arguments: 0..<10) func twoThousandSeedsBreakNoRule(part: UInt64) {
        for seed in part * 200..<part * 200 + 200 {
            let broken = ScheduleTrial.rule(brokenBy: seed)
            #expect(broken == nil, "seed \(seed)")
            if broken != nil { return }
        }
    }
}
