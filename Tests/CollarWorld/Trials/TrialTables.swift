import CollarARQ
import CollarSimulator
import CollarWire

/// Tables of what the trials measure. The same code always gives the same table; each takes some seconds.
package enum TrialTables {
    /// A backlog and how it is sent.
    private typealias Workload = (title: String, fixes: [Fix], isBatched: Bool)

    private static let seeds: ClosedRange<UInt64> = 1...5

    /// The airtime of delivery for each loss, modem and kind of backlog: means of ``AirtimeTrial``.
    /// - Throws: if a trial fails.
    package static func airtime() throws(StationError) -> String {
        var text = """
            Airtime of both ends, as a multiple of the bound, and in brackets the acknowledgements' part of it:
            of the whole / of bursts that held eight full frames or more, where there were such.
            The bound: every fix absolute in a frame of its own, airtime / (1 - loss). Means over \(seeds.count) seeds.

            """
        let workloads: [Workload] = [
            ("2000 fixes, one a frame", SimulatedWalk.fixes(2000, secondsApart: 1), false),
            ("28800 fixes a second apart (eight hours), in batches", SimulatedWalk.fixes(28800, secondsApart: 1), true),
            ("2000 fixes of a cat, three minutes and more apart, in batches", SimulatedWalk.cat(2000), true),
        ]
        let losses = [0, 5, 10, 20, 30, 40, 50]
        for workload in workloads {
            text += "\n\(workload.title)\n" + "loss".left(10) + losses.map { "\($0) %".right(20) }.joined()
            for modem in loras + [.ble, .serial] {
                text += "\n" + modem.name.left(10)
                for loss in losses { text += try airtime(workload, modem, lossPercent: loss).right(20) }
            }
            text += "\n"
        }
        return text
    }

    private static let loras = [7, 9, 12].map { SimulatedModem.lora(spreadingFactor: $0) }

    private static func airtime(
        _ workload: Workload, _ modem: SimulatedModem, lossPercent: Int
    ) throws(StationError) -> String {
        let results = try seeds.map { seed throws(StationError) in
            try AirtimeTrial(
                fixes: workload.fixes, modem: modem.profile, lossProbability: Double(lossPercent) / 100,
                delivery: CollarDelivery.Configuration(
                    modem: modem.profile, sendsLiveFixes: workload.isBatched,
                    batchFrameByteLimit: workload.isBatched ? Frame.maximumByteCount : nil),
                seed: seed
            ).run()
        }
        func percent(_ shares: [Double]) -> String { (mean(shares) * 100).text(decimals: 1) }
        let longBursts = results.compactMap(\.longBurstAcknowledgementShare)
        return mean(results.map(\.overBound)).text(decimals: 3) + " (" + percent(results.map(\.acknowledgementShare))
            + (longBursts.isEmpty ? "" : " / " + percent(longBursts)) + " %)"
    }

    /// How soon the fixes of a collar within reach are stored at the host, and at what airtime; see ``LiveTrial``.
    /// - Throws: if a trial fails.
    package static func live() throws(StationError) -> String {
        var text = """
            A fix is made "every" so often for an hour, and some frames of both directions are lost; at 100 % the animal is
            out of reach. Over \(seeds.count) seeds: airtime of both ends for each fix in milliseconds; \
            seconds from making a fix to
            storing it at the host (mean, median, 95 %).

            modem      every    loss  airtime     mean   median     95 %

            """
        for modem in loras {
            for secondsApart in [1, 10, 60] as [Int64] {
                for loss in [0, 10, 30, 50, 100] {
                    text += modem.name.left(10) + "\(secondsApart) s".right(6) + "\(loss) %".right(8)
                    text += try live(modem, secondsApart, lossPercent: loss) + "\n"
                }
            }
        }
        return text
    }

    private static func live(
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
        let columns = delays.map { all.isComplete ? ($0 / 1e6).text(decimals: 2) : "-" }
        return ([(all.airtimePerFix / 1e3).text(decimals: 1)] + columns).map { $0.right(9) }.joined()
    }

    /// How a collar delivers its backlog after eight hours out of reach: means of ``ReturnTrial``.
    /// - Throws: if a trial fails.
    package static func eightHoursAway() throws(StationError) -> String {
        var text = """
            Back after eight hours out of reach; a fix is made "every" so often, before and after. \
            Means over \(seeds.count) seeds.
            contact, backlog, all: seconds from the return until a frame arrives, until the backlog is acknowledged, until
            everything older than a minute is. bound: the backlog in full batches back to back, divided by (1 - loss), in seconds.
            Until the backlog is in: airtime of both ends over the bound; live: fixes that arrived as the newest, of those made;
            their age on arrival in seconds (median, 95 %; of all seeds the most); of all seeds the longest gap between two.

            modem      every  loss  contact  backlog    bound      all  airtime    live  median   95 %   most  gap, s  sequences

            """
        let rows: [(modem: SimulatedModem, secondsApart: Int64)] = [
            (.lora(spreadingFactor: 7), 1), (.lora(spreadingFactor: 9), 1), (.lora(spreadingFactor: 9), 10),
            (.lora(spreadingFactor: 12), 1), (.lora(spreadingFactor: 12), 60), (.ble, 1),
        ]
        for (modem, secondsApart) in rows {
            for loss in [0, 10, 30] {
                text += modem.name.left(10) + "\(secondsApart) s".right(6) + "\(loss) %".right(6)
                text += try eightHoursAway(modem, secondsApart, lossPercent: loss) + "\n"
            }
        }
        return text
    }

    private static func eightHoursAway(
        _ modem: SimulatedModem, _ secondsApart: Int64, lossPercent: Int
    ) throws(StationError) -> String {
        let results = try seeds.map { seed throws(StationError) in
            try ReturnTrial(
                backlogCount: Int(8 * 3600 / secondsApart), secondsApart: secondsApart, modem: modem.profile,
                lossProbability: Double(lossPercent) / 100, seed: seed
            ).run()
        }
        func seconds(_ value: (ReturnTrial.Result) -> Int64?) -> String {
            let values = results.compactMap(value)
            return values.count < results.count ? "never" : (mean(values.map(Double.init)) / 1e6).text(decimals: 1)
        }
        func most(_ value: (ReturnTrial.Result) -> Int64) -> String {
            (Double(results.map(value).max() ?? 0) / 1e6).text(decimals: 1)
        }
        let arrived = mean(results.map { Double($0.liveLatencies.count) }) / mean(results.map { Double(max(1, $0.liveCount)) })
        let columns: [(String, Int)] = [
            (seconds(\.contactMicroseconds), 9), (seconds(\.backlogMicroseconds), 9),
            ((mean(results.map(\.boundMicroseconds)) / 1e6).text(decimals: 1), 9), (seconds(\.caughtUpMicroseconds), 9),
            (mean(results.map(\.airtimeOverBound)).text(decimals: 2), 9), ((min(1, arrived) * 100).text(decimals: 0) + " %", 8),
            (seconds { $0.liveLatencies.percentile(50) }, 8), (seconds { $0.liveLatencies.percentile(95) }, 7),
            (most { $0.liveLatencies.percentile(100) }, 7), (most(\.longestGapMicroseconds), 7),
            ("\(results.map(\.longestGapSequences).max() ?? 0)", 11),
        ]
        return columns.map { $0.0.right($0.1) }.joined()
    }

    static func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
}
