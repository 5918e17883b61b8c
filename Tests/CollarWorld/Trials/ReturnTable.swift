import CollarSimulator

/// How a collar comes back after eight hours out of reach, as a text; see ``ReturnTrial``.
package enum ReturnTable {
    private static let seeds: ClosedRange<UInt64> = 1...5
    private static let rows: [(modem: SimulatedModem, secondsApart: Int64)] = [
        (.lora(spreadingFactor: 7), 1), (.lora(spreadingFactor: 9), 1), (.lora(spreadingFactor: 9), 10),
        (.lora(spreadingFactor: 12), 1), (.lora(spreadingFactor: 12), 60), (.ble, 1),
    ]

    /// The table: means over five seeds.
    /// - Throws: where a trial fails.
    package static func text() throws(StationError) -> String {
        var text = """
            Back after eight hours out of reach; a fix is made "every" so often, before and after. Means over \(seeds.count) seeds.
            contact, backlog, all: seconds from the return until a frame arrives, until the backlog is acknowledged, until
            everything older than a minute is. bound: the backlog in full batches back to back, divided by (1 - loss), in seconds.
            Until the backlog is in: airtime of both ends over the bound; live: fixes that arrived as the newest, of those made;
            their age on arrival in seconds (median, 95 %; of all seeds the most); of all seeds the longest gap between two.

            modem      every  loss  contact  backlog    bound      all  airtime    live  median   95 %   most  gap, s  sequences

            """
        for row in rows {
            for loss in [0, 10, 30] { text += try line(row.modem, row.secondsApart, lossPercent: loss) + "\n" }
        }
        return text
    }

    private static func line(
        _ modem: SimulatedModem, _ secondsApart: Int64, lossPercent: Int
    ) throws(StationError) -> String {
        let results = try seeds.map { seed throws(StationError) in
            try ReturnTrial(
                backlogCount: Int(8 * 3600 / secondsApart), secondsApart: secondsApart, modem: modem.profile,
                lossProbability: Double(lossPercent) / 100, seed: seed
            ).run()
        }
        func mean(_ value: (ReturnTrial.Result) -> Double) -> Double {
            results.reduce(0) { $0 + value($1) } / Double(results.count)
        }
        func seconds(_ value: (ReturnTrial.Result) -> Int64?) -> String {
            guard results.allSatisfy({ value($0) != nil }) else { return "never" }
            return (mean { Double(value($0) ?? 0) } / 1e6).text(decimals: 1)
        }
        func most(_ value: (ReturnTrial.Result) -> Int64) -> String {
            (Double(results.map(value).max() ?? 0) / 1e6).text(decimals: 1)
        }
        let arrived = mean { Double($0.liveLatencies.count) } / mean { Double(max(1, $0.liveCount)) }
        let columns: [(String, Int)] = [
            ("\(secondsApart) s", 6), ("\(lossPercent) %", 6), (seconds(\.contactMicroseconds), 9),
            (seconds(\.backlogMicroseconds), 9), ((mean(\.boundMicroseconds) / 1e6).text(decimals: 1), 9),
            (seconds(\.caughtUpMicroseconds), 9), (mean(\.airtimeOverBound).text(decimals: 2), 9),
            ((min(1, arrived) * 100).text(decimals: 0) + " %", 8),
            (seconds { $0.liveLatencies.percentile(50) }, 8), (seconds { $0.liveLatencies.percentile(95) }, 7),
            (most { $0.liveLatencies.percentile(100) }, 7), (most(\.longestGapMicroseconds), 7),
            ("\(results.map(\.longestGapSequences).max() ?? 0)", 11),
        ]
        return modem.name.left(10) + columns.map { $0.0.right($0.1) }.joined()
    }
}
