import CollarWorld
import Testing

@Suite("Random schedules") struct ScheduleTrialTests {
    /// A power report that was asked for while one waited in a full queue was sent twice.
    @Test func whatWasFoundOnceIsMended() { #expect(ScheduleTrial.rule(brokenBy: 47_005_284) == nil) }

    @Test(arguments: 0..<10) func twoThousandSeedsBreakNoRule(part: UInt64) {
        for seed in part * 200..<part * 200 + 200 {
            let broken = ScheduleTrial.rule(brokenBy: seed)
            #expect(broken == nil, "seed \(seed)")
            if broken != nil { return }
        }
    }
}
