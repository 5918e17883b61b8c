import CollarSimulator

/// How soon the fixes of a collar within reach are at the host, and at what airtime, as a text; see ``LiveTrial``.
package enum LiveTable {
    private static let seeds: ClosedRange<UInt64> = 1...5
    private static let rows: [(modem: SimulatedModem, secondsApart: Int64)] =
        [7, 9, 12].flatMap { spreadingFactor in
            [1, 10, 60].map { (.lora(spreadingFactor: spreadingFactor), $0) }
        }

    /// The table: over five seeds.
    /// - Throws: where a trial fails.
    package static func text() throws(StationError) -> String {
        var text = """
            A fix is made "every" so often for an hour, and some frames of both directions are lost; at 100 % the animal is
            out of reach. Over \(seeds.count) seeds: airtime of both ends for each fix in milliseconds; seconds from making a fix to
            storing it at the host (mean, median, 95 %).

            modem      every    loss  airtime     mean   median     95 %

            """
        for row in rows {
            for loss in [0, 10, 30, 50, 100] { text += try line(row.modem, row.secondsApart, lossPercent: loss) + "\n" }
        }
        return text
    }

    private static func line(
        _ modem: SimulatedModem, _ secondsApart: Int64, lossPercent: Int
    ) throws(StationError) -> String {
        var all = LiveTrial.Result()
        for seed in seeds {
            let result = try LiveTrial(
                secondsApart: secondsApart, modem: modem.profile, lossProbability: Double(lossPercent) / 100, seed: seed
            ).run()
            all.fixCount += result.fixCount
            all.collarMicroseconds += result.collarMicroseconds
            all.hostMicroseconds += result.hostMicroseconds
            all.delays += result.delays
        }
        let delays = [all.meanDelay, Double(all.delays.percentile(50)), Double(all.delays.percentile(95))]
        let columns =
            [("\(secondsApart) s", 6), ("\(lossPercent) %", 8), ((all.airtimePerFix / 1e3).text(decimals: 1), 9)]
            + delays.map { (all.isComplete ? ($0 / 1e6).text(decimals: 2) : "-", 9) }
        return modem.name.left(10) + columns.map { $0.0.right($0.1) }.joined()
    }
}
