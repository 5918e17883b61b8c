import CollarSimulator
import CollarWorld
import Sweeps
import Testing

/// What collars that share a channel do to one another. Fixes are a minute apart, at SF9.
@Suite struct ChannelTrialTests {
    /// Trials over some seeds.
    private func trials(
        _ count: Int, _ phases: CollarPhases, seeds: ClosedRange<UInt64> = 1...(sweepsAreLong ? 3 : 2), _ change: (inout ChannelTrial) -> Void = { _ in }
    ) throws -> [ChannelTrial.Result] {
        try seeds.map { seed in
            var trial = ChannelTrial(collarCount: count, phases: phases, seed: seed)
            change(&trial)
            let result = try trial.run()
            #expect(result.isComplete, "seed \(seed)")
            return result
        }
    }

    /// Before collars knew of one another, 52 to 95 % of these frames collided.
    @Test(arguments: [(2, .same), (16, .random), (16, .same)] as [(Int, CollarPhases)])
    func inTheSecondHalfHardlyAnyFrameCollides(count: Int, phases: CollarPhases) throws {
        let alone = try trials(1, .random)[0].secondHalf
        for result in try trials(count, phases) {
            let half = result.secondHalf
            #expect(Double(half.collisions) <= 0.03 * Double(half.uplinkFrames))
            #expect(Double(half.airtimeMicroseconds) <= 1.1 * Double(count) * Double(alone.airtimeMicroseconds))
            #expect(half.delays.count == count * 50)
            #expect(half.delays.percentile(95) <= 48_000_000)
        }
    }

    /// Collars that sense the channel: the airtime and the delays of fixes in equal intervals, also where six of ten pairs do not hear
    /// each other.
    @Test(arguments: [(8, .random, 0), (16, .same, 0.6), (sweepsAreLong ? 32 : 16, .random, 0)] as [(Int, CollarPhases, Double)])
    func collarsThatSenseTheChannel(count: Int, phases: CollarPhases, hidden: Double) throws {
        let alone = try trials(1, .random)[0].secondHalf
        for result in try trials(count, phases, { ($0.sensesChannel, $0.hiddenProbability, $0.driftPartsPerMillion) = (true, hidden, 20) }) {
            let half = result.secondHalf
            #expect(Double(half.collisions) <= 0.02 * Double(half.uplinkFrames))
            #expect(Double(half.airtimeMicroseconds) <= 1.07 * Double(count) * Double(alone.airtimeMicroseconds))
            #expect((count > 16 ? result.hostDelays : half.delays).percentile(95) <= 48_000_000)
        }
    }

    /// Fixes after a search of 2 to 60 s have no equal intervals. Without the sensing, 5 % of the frames collide.
    @Test(arguments: [0, 0.6])
    func fixesAtIrregularTimesHardlyCollide(hidden: Double) throws {
        let results = try trials(16, .random, seeds: 1...2) {
            ($0.fixes, $0.secondsApart, $0.sensesChannel, $0.hiddenProbability) = (.searched, 180, true, hidden)
            $0.fixCount = sweepsAreLong ? 100 : 40
        }
        let frames = results.reduce(0) { $0 + $1.secondHalf.uplinkFrames }
        #expect(frames > 16 * 20 * 2)
        #expect(Double(results.reduce(0) { $0 + $1.secondHalf.collisions }) <= 0.03 * Double(frames))
    }

    @Test(arguments: [(2, 800_000), (4, 1_100_000)] as [(Int, Int64)])
    func fixesOfEverySecondAreAcknowledgedAtOnce(count: Int, most: Int64) throws {
        func change(_ trial: inout ChannelTrial) {
            (trial.spreadingFactor, trial.secondsApart, trial.fixCount, trial.sensesChannel) = (7, 1, 300, true)
        }
        let alone = try trials(1, .random, seeds: 1...1, change)[0].secondHalf
        for result in try trials(count, .same, change) {
            #expect(result.secondHalf.delays.percentile(95) <= most)
            #expect(Double(result.secondHalf.airtimeMicroseconds) <= 1.05 * Double(count) * Double(alone.airtimeMicroseconds))
        }
    }

    /// Each host counts the collars of the other one, so that the company that it tells is too high.
    @Test(arguments: [true, false])
    func twoHostsInEarshotStarveNoCollar(sensesChannel: Bool) throws {
        let alone = try trials(1, .random)[0].secondHalf
        for result in try trials(8, .same, { ($0.hostCount, $0.hiddenProbability, $0.sensesChannel) = (2, 0.6, sensesChannel) }) {
            #expect((result.whole.delays.max() ?? 0) <= 600_000_000)
            #expect(Double(result.secondHalf.airtimeMicroseconds) <= 1.2 * 8 * Double(alone.airtimeMicroseconds))
        }
    }

    @Test func whatIsLostAfterARestartOfTheHostIsLittle() throws {
        let results = try trials(16, .random) { ($0.restartSeconds, $0.stormMicroseconds, $0.sensesChannel) = (1200, 60_000_000, true) }
        for result in results {
            #expect(result.afterRestart.frames > 1000)
            #expect(result.afterRestart.collisions <= 10)
        }
    }

    /// The base may send 10 % of the time, as in EU868. Answers to each fix of 32 collars would take all of it; of 16 with a fix each 30 s
    /// too, and there the company comes from the airtime alone.
    @Test(arguments: [(32, 60), (16, 30)] as [(Int, Int64)])
    func aBaseWithADutyCycleDropsNoAnswer(count: Int, seconds: Int64) throws {
        func trials(_ count: Int, seeds: ClosedRange<UInt64>) throws -> [ChannelTrial.Result] {
            try self.trials(count, .random, seeds: seeds) {
                ($0.baseDutyCyclePartsPerMillion, $0.sensesChannel, $0.secondsApart) = (100_000, true, seconds)
                $0.fixCount = count > 16 ? (sweepsAreLong ? 100 : 50) : 100
            }
        }
        let alone = try trials(1, seeds: 1...1)[0].secondHalf
        for result in try trials(count, seeds: 1...1) {
            #expect(result.droppedAnswers == 0)
            #expect(result.airtimeShortages == (count > 16 ? 0 : 1))
            #expect(result.hostDelays.percentile(95) <= 30_000_000)
            let fixes = Double(result.secondHalf.delays.count), aloneFixes = Double(alone.delays.count)
            #expect(
                Double(result.secondHalf.airtimeMicroseconds) / fixes <= 1.05 * Double(alone.airtimeMicroseconds) / aloneFixes)
        }
    }

    /// Three new fixes of four go without a poll, and the host has them as soon.
    @Test func manyCollarsPollWithEachFourthFix() throws {
        for result in try trials(17, .random, { ($0.sensesChannel, $0.fixCount) = (true, 60) }) {
            let answers = Double(result.whole.downlinkFrames)
            #expect(answers < 0.4 * Double(result.whole.uplinkFrames))
            #expect(result.hostDelays.percentile(95) <= 30_000_000)
            #expect(result.secondHalf.delays.percentile(95) > 120_000_000)
        }
    }

    @Test func theStormAfterARestartOfTheHostEndsWithinThreeMinutes() throws {
        for result in try trials(16, .even, { $0.restartSeconds = 1200 }) {
            #expect(result.afterRestart.frames > 1000)
            #expect(Double(result.afterRestart.collisions) <= 0.03 * Double(result.afterRestart.frames))
        }
    }

    /// With losses too, a collar that is alone sends as one that knows of no company. Measured with such a collar in 20 trials: 210 and
    /// 386 ms of airtime for a fix, and the same delays.
    @Test(arguments: [(0.1, 210, 0.53, 1.18), (0.3, 386, 0.93, 3.8)] as [(Double, Double, Double, Double)])
    func aCollarAloneLosesNothing(loss: Double, airtime: Double, median: Double, most: Double) throws {
        let results = try trials(1, .random, seeds: 1...20) { $0.lossProbability = loss }
        let delays = results.flatMap(\.secondHalf.delays)
        let measured = Double(results.map(\.secondHalf.airtimeMicroseconds).reduce(0, +)) / 1e6
        #expect(abs(measured - airtime) <= 0.05 * airtime)
        // At a loss of 30 % nearly half of the exchanges succeed at once, so that chance moves the median by a time-out.
        #expect(abs(Double(delays.percentile(50)) / 1e6 - median) <= 0.35 * median)
        #expect(abs(Double(delays.percentile(95)) / 1e6 - most) <= 0.1 * most)
    }
}
