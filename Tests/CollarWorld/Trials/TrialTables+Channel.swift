import CollarSimulator

extension TrialTables {
    /// What collars that share a channel do to one another; see ``ChannelTrial``.
    /// - Throws: if a trial fails.
    package static func channel() throws(StationError) -> String {
        var text = """
            100 fixes of each collar at SF9, one a minute, at "random" times, all in the "same" second or at "even" distances.
            Over \(channelSeeds.count) seeds, from the middle of the track on: the part of the collars' frames that collide, their airtime
            for each fix in milliseconds, and as a multiple of that of one collar, and seconds from making a fix to its
            acknowledgement (median, 95 %). "restart": the host starts again after twenty minutes; the collisions are those from three
            minutes after it on. "loss": that part of the frames of both directions is lost besides.

            collars   phases    collide    airtime   multiple     median       95 %

            """
        let alone = try mean(ofRow: 1, .random).airtime
        for count in [1, 2, 4, 8, 16] {
            for phases in count == 1 ? [.random] : CollarPhases.allCases {
                text += try channelRow(count, phases.rawValue, mean(ofRow: count, phases), alone: alone)
            }
        }
        text += try channelRow(16, "restart", mean(ofRow: 16, .even, restartSeconds: 1200), alone: alone)
        for loss in [0.1, 0.3] {
            for count in [1, 4] {
                text += try channelRow(count, "loss \(Int(loss * 100))", mean(ofRow: count, .random, loss: loss), alone: alone)
            }
        }
        return text
    }

    private static let channelSeeds: ClosedRange<UInt64> = 1...5

    private static func channelRow(
        _ count: Int, _ title: String, _ row: (collide: Double, airtime: Double, median: Double, most: Double), alone: Double
    ) -> String {
        "\(count)".right(7) + title.right(9) + (row.collide * 100).text(decimals: 1).right(9) + " %"
            + row.airtime.text(decimals: 0).right(11) + (row.airtime / alone).text(decimals: 2).right(11)
            + row.median.text(decimals: 1).right(11) + row.most.text(decimals: 1).right(11) + "\n"
    }

    private static func mean(
        ofRow count: Int, _ phases: CollarPhases, restartSeconds: Int64? = nil, loss: Double = 0
    ) throws(StationError) -> (collide: Double, airtime: Double, median: Double, most: Double) {
        let results = try channelSeeds.map { seed throws(StationError) in
            var trial = ChannelTrial(collarCount: count, phases: phases, seed: seed)
            trial.restartSeconds = restartSeconds
            trial.lossProbability = loss
            return try trial.run()
        }
        let fixes = Double(results.count * count * 50)
        let delays = results.flatMap(\.secondHalf.delays)
        let frames = results.map { restartSeconds == nil ? $0.secondHalf.uplinkFrames : $0.afterRestart.frames }.reduce(0, +)
        let collisions = results.map { restartSeconds == nil ? $0.secondHalf.collisions : $0.afterRestart.collisions }.reduce(0, +)
        return (
            Double(collisions) / Double(max(1, frames)),
            Double(results.map(\.secondHalf.airtimeMicroseconds).reduce(0, +)) / 1000 / fixes,
            results.allSatisfy(\.isComplete) ? Double(delays.percentile(50)) / 1e6 : .infinity,
            results.allSatisfy(\.isComplete) ? Double(delays.percentile(95)) / 1e6 : .infinity
        )
    }
}
