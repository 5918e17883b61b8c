import CollarSimulator
import RadioModems

extension TrialTables {
    /// What the fixes of a collar within reach cost through sticks of each dialect; see ``DialectTrial``.
    /// - Throws: if a trial fails.
    package static func dialects() throws(StationError) -> String {
        var text = """
            20 fixes of a collar within reach, made "every" so often; some frames of both directions are lost. 125 kHz, coding
            rate 4/5. The collar waits for the turnaround of the stick's dialect. Over \(dialectSeeds.count) seeds: frames of the
            collar and of the host, and airtime of both ends in milliseconds, for 20 fixes; seconds from making a fix to its
            acknowledgement (mean, median, 95 %).

            dialect    modem    every    loss   collar     host  airtime     mean   median     95 %

            """
        for spreadingFactor in [7, 9] as [UInt8] {
            for secondsApart in [1, 10] as [Int64] {
                for loss in [0, 10, 30] {
                    for dialect in Dialect.allCases {
                        text += dialect.rawValue.left(11) + "SF\(spreadingFactor)".left(5) + "\(secondsApart) s".right(9)
                        text += "\(loss) %".right(8) + (try row(dialect, spreadingFactor, secondsApart, loss)) + "\n"
                    }
                }
            }
        }
        return text
    }

    private static let dialectSeeds: ClosedRange<UInt64> = 1...20

    private static func row(
        _ dialect: Dialect, _ spreadingFactor: UInt8, _ secondsApart: Int64, _ lossPercent: Int
    ) throws(StationError) -> String {
        let results = try dialectSeeds.map { seed throws(StationError) in
            var trial = DialectTrial(dialect, settings: .ofTrial(spreadingFactor: spreadingFactor), seed: seed)
            trial.secondsApart = secondsApart
            trial.lossProbability = Double(lossPercent) / 100
            return try trial.run()
        }
        let delays = results.flatMap(\.delays)
        let times = [mean(delays.map(Double.init)), Double(delays.percentile(50)), Double(delays.percentile(95))]
        let isComplete = results.allSatisfy(\.isComplete)
        let columns: [String] =
            [
                mean(results.map { Double($0.uplinkFrames) }).text(decimals: 1),
                mean(results.map { Double($0.downlinkFrames) }).text(decimals: 1),
                mean(results.map { Double($0.collarMicroseconds + $0.hostMicroseconds) / 1000 }).text(decimals: 0),
            ] + times.map { isComplete ? ($0 / 1e6).text(decimals: 2) : "-" }
        return columns.map { $0.right(9) }.joined()
    }
}

extension RadioSettings {
    /// The settings of the radios in trials.
    package static func ofTrial(spreadingFactor: UInt8) -> RadioSettings {
        RadioSettings(
            frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
            powerDBm: 14)
    }
}
