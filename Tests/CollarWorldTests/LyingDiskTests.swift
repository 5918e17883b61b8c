import CollarWorld
import Testing

/// The oracle notices a disk that lies about synchronisation. If it did not, a world without findings would prove little.
@Suite struct LyingDiskTests {
    @Test func aDiskThatDoesNotSynchroniseIsSeen() throws {
        var found: [Invariant] = []
        for seed in 0..<100 as Range<UInt64> {
            var plan = WorldPlan(seed: seed)
            plan.faults.insert(.hostPowerCuts)
            let report = World(plan, prepare: { $0.faults.ignoresSynchronization = true }).run()
            if let violation = report.violation { found.append(violation.invariant) }
        }
        #expect(found.contains(.acknowledgedIsDurable))
        #expect(found.count > 80)
    }
}
