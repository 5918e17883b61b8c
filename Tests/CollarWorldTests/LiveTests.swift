import CollarSimulator
import Testing

@testable import CollarWorld

/// The fixes of a collar within reach.
@Suite struct LiveTests {
    private func mean(
        spreadingFactor: UInt8, secondsApart: Int64, loss: Double, _ value: (LiveTrial.Result) -> Double
    ) throws -> Double {
        var sum = 0.0
        for seed in 1...5 as ClosedRange<UInt64> {
            let result = try LiveTrial(
                secondsApart: secondsApart, modem: SimulatedModem.lora(spreadingFactor: spreadingFactor).profile,
                lossProbability: loss, seed: seed
            ).run()
            #expect(result.isComplete || loss == 1)
            sum += value(result)
        }
        return sum / 5
    }

    /// Fixes made while a poll waits for its answer do not wait for the next burst.
    @Test func fixesMadeFasterThanAnswersComeArriveSoonInSpiteOfLosses() throws {
        #expect(try mean(spreadingFactor: 9, secondsApart: 1, loss: 0.3) { $0.meanDelay } <= 1_150_000)
        #expect(
            try mean(spreadingFactor: 9, secondsApart: 1, loss: 0.3) { Double($0.delays.percentile(95)) } <= 3_300_000)
        #expect(try mean(spreadingFactor: 9, secondsApart: 1, loss: 0.3) { $0.airtimePerFix } <= 415_000)
    }

    @Test func outOfReachHardlyMoreIsSentThanOneFixATime() throws {
        // If the collar sent only the newest fix each time, this would be 159.6 ms.
        #expect(try mean(spreadingFactor: 9, secondsApart: 10, loss: 1) { $0.airtimePerFix } <= 161_000)
    }
}
