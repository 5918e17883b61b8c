import Testing

@testable import CollarWorld

/// What a duty cycle of 1 % allows: 36 s in any hour.
@Suite struct DutyCycleTests {
    @Test func noHourHoldsMoreWhateverHappens() throws {
        var frames = 0
        var cut = 0
        var reboots = 0
        var heard = 0
        for seed in 0..<48 as Range<UInt64> {
            let result = try DutyCycleTrial(seed: seed).run()
            #expect(result.mostMicroseconds <= 36_000_000, "seed \(seed): \(result)")
            frames += result.frameCount
            cut += result.cutFrameCount
            reboots += result.rebootCount
            heard += result.heardCount
        }
        #expect(frames > 10_000)
        #expect(cut > 100)
        #expect(reboots > 10_000)
        #expect(heard > 10_000)
    }

    /// A bucket that holds a quarter of the hour and fills with the rest is full again a quarter of an hour after a boot.
    @Test(arguments: [7, 9, 12] as [UInt8])
    func aBusyCollarUsesMostOfWhatItMay(spreadingFactor: UInt8) throws {
        let trial = DutyCycleTrial(modem: .lora(spreadingFactor: spreadingFactor), secondsApart: 1, seed: 1)
        let result = try trial.run()
        #expect(result.mostMicroseconds <= trial.allowedMicroseconds)
        #expect(10 * result.airtimeMicroseconds >= 6 * trial.allowedMicroseconds * trial.hours)
        #expect(result.deliveredCount > 0)
    }

    /// After silence it is busy: the hour that begins with a full bucket is the one that may hold the most.
    @Test func aFullBucketAndAnHourOfFillingAreWhatIsAllowed() throws {
        var trial = DutyCycleTrial(modem: .lora(spreadingFactor: 7), secondsApart: 3600, seed: 1)
        trial.questionsBeginAfterSeconds = 7200
        trial.meanQuestionMilliseconds = 60
        let result = try trial.run()
        #expect(result.mostMicroseconds <= trial.allowedMicroseconds)
        #expect(100 * result.mostMicroseconds >= 95 * trial.allowedMicroseconds)
    }
}
