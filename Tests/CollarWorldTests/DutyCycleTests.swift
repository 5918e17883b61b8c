import Sweeps
import Testing

@testable import CollarWorld


/// A duty cycle of 1 % allows 36 s in any hour.
@Suite struct DutyCycleTests {
    @Test func noHourHoldsMoreWhateverHappens() throws {
        var frames = 0
        var cut = 0
        var reboots = 0
        var heard = 0
        let seedCount = sweepsAreLong ? 24 : 8
        for seed in 0..<UInt64(seedCount) {
            let result = try DutyCycleTrial(seed: seed).run()
            #expect(result.mostMicroseconds <= 36_000_000, "seed \(seed): \(result)")
            frames += result.frameCount
            cut += result.cutFrameCount
            reboots += result.rebootCount
            heard += result.heardCount
        }
        #expect(frames > 200 * seedCount)
        #expect(cut > 2 * seedCount)
        #expect(reboots > 200 * seedCount)
        #expect(heard > 200 * seedCount)
    }

    /// The token bucket holds at most one quarter of the airtime that is allowed in an hour, and gains the other three quarters
    /// in the course of an hour. So a busy collar can use three quarters of the allowed airtime in the long run.
    @Test(arguments: [7, 9, 12] as [UInt8])
    func aBusyCollarUsesMostOfWhatItMay(spreadingFactor: UInt8) throws {
        let trial = DutyCycleTrial(modem: .lora(spreadingFactor: spreadingFactor), secondsApart: 1, seed: 1)
        let result = try trial.run()
        #expect(result.mostMicroseconds <= trial.allowedMicroseconds)
        #expect(10 * result.airtimeMicroseconds >= 6 * trial.allowedMicroseconds * trial.hours)
        #expect(result.deliveredCount > 0)
    }

    /// The collar becomes busy after a silence: the hour that begins with a full bucket can hold the most airtime.
    @Test func aFullBucketAndAnHourOfFillingAreWhatIsAllowed() throws {
        var trial = DutyCycleTrial(modem: .lora(spreadingFactor: 7), secondsApart: 3600, seed: 1)
        trial.questionsBeginAfterSeconds = 7200
        trial.meanQuestionMilliseconds = 60
        let result = try trial.run()
        #expect(result.mostMicroseconds <= trial.allowedMicroseconds)
        #expect(100 * result.mostMicroseconds >= 95 * trial.allowedMicroseconds)
    }
}
