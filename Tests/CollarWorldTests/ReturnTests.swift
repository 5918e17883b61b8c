import CollarARQ
import CollarSimulator
import Testing

@testable import CollarWorld

/// A collar comes back after hours out of reach.
@Suite struct ReturnTests {
    /// Eight hours with a fix a second, on a slow link with many losses.
    @Test func eightHoursComeInAndTheNewestFixesKeepArriving() throws {
        let modem = SimulatedModem.lora(spreadingFactor: 9).profile
        let result = try ReturnTrial(
            backlogCount: 28_800, secondsApart: 1, modem: modem, lossProbability: 0.3, seed: 1
        ).run()
        let backlog = try #require(result.backlogMicroseconds)
        #expect(result.caughtUpMicroseconds != nil)
        #expect(result.contactMicroseconds <= 62_000_000)
        // The fixes made meanwhile take a part of the time; delivered fixes are not sent again.
        #expect(Double(backlog - result.contactMicroseconds) <= 1.7 * result.boundMicroseconds)
        #expect(result.airtimeOverBound >= 1 && result.airtimeOverBound <= 1.5)
        #expect(Double(result.liveLatencies.count) >= 0.6 * Double(result.liveCount))
        // A newest fix waits for at most one batch of 64 fixes, not for a whole burst.
        #expect(result.liveLatencies.percentile(50) <= 600_000)
        #expect(result.liveLatencies.percentile(95) <= 1_200_000)
        #expect(result.longestGapMicroseconds <= 20_000_000)
    }

    @Test func withoutLossNoFixIsMissedOnAFastLink() throws {
        let modem = SimulatedModem.lora(spreadingFactor: 7).profile
        let result = try ReturnTrial(
            backlogCount: 3600, secondsApart: 1, modem: modem, lossProbability: 0, seed: 1
        ).run()
        #expect(result.backlogMicroseconds != nil)
        #expect(result.longestGapSequences == 1)
        #expect(result.liveLatencies.percentile(100) <= 1_000_000)
    }
}
