import CollarWorld
import RadioModems
import Sweeps
import Testing

/// Collars of two sticks.
@Suite struct StickPairTrialTests {
    /// An hour with a fix each second and 20 % loss, with power cuts and sticks that are pulled out at both ends.
    @Test(arguments: Dialect.allCases, [7, 9] as [UInt8])
    func everyFixOfAnHourIsStored(dialect: Dialect, spreadingFactor: UInt8) {
        for seed in 1...(sweepsAreLong ? 20 : 1) as ClosedRange<UInt64> {
            let result = StickPairTrial(dialect, settings: .ofTrial(spreadingFactor: spreadingFactor), seed: seed).run()
            #expect(result.isEverythingDelivered && result.storedCount == result.loggedCount, "seed \(seed): \(result)")
            #expect(result.loggedCount > 3200 && result.powerCuts > 2 && result.pulledSticks > 8, "seed \(seed): \(result)")
        }
    }
}
