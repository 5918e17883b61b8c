import CollarARQ
import CollarSimulator
import CollarWire

/// What delivery costs on the air for each loss, modem and kind of backlog, as a text that never changes by itself.
package enum AirtimeTable {
    /// A backlog and how it is sent.
    private typealias Workload = (title: String, fixes: [Fix], isBatched: Bool)

    private static let modems: [SimulatedModem] = [
        .lora(spreadingFactor: 7), .lora(spreadingFactor: 9), .lora(spreadingFactor: 12), .ble, .serial,
    ]
    private static let lossPercents = [0, 5, 10, 20, 30, 40, 50]
    private static let seeds: ClosedRange<UInt64> = 1...5

    /// The table: means over five seeds of ``AirtimeTrial``. It takes some seconds to make.
    /// - Throws: where a trial fails.
    package static func text() throws(StationError) -> String {
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
        for workload in workloads { text += try section(workload) }
        return text
    }

    private static func section(_ workload: Workload) throws(StationError) -> String {
        var text = "\n\(workload.title)\n" + "loss".left(10)
        for loss in lossPercents { text += "\(loss) %".right(20) }
        for modem in modems {
            text += "\n" + modem.name.left(10)
            for loss in lossPercents { text += try cell(workload, modem, lossPercent: loss).right(20) }
        }
        return text + "\n"
    }

    private static func cell(
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
        func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
        func percent(_ shares: [Double]) -> String { (mean(shares) * 100).text(decimals: 1) }
        let longBursts = results.compactMap(\.longBurstAcknowledgementShare)
        return mean(results.map(\.overBound)).text(decimals: 3) + " (" + percent(results.map(\.acknowledgementShare))
            + (longBursts.isEmpty ? "" : " / " + percent(longBursts)) + " %)"
    }
}
