import CollarSimulator

extension TrialTables {
    /// What collars that share a channel do to one another; see ``ChannelTrial``.
    /// - Throws: if a trial fails.
    package static func channel() throws(StationError) -> String {
        var text = """
            Collars in reach of one base, 100 fixes of each; "every": the seconds between two fixes. "random": at random times; "same": all in the
            same second; "searched": after a search of 2 to 60 s, of which 3 in 10 find nothing. "hidden": the part of the pairs of
            collars that do not hear each other. "senses": the collars sense the channel before they send. Intervals differ by up to 20 ppm.

            Over some seeds, from the middle of the track on: the part of the collars' frames that collide, their airtime for each fix in
            milliseconds, and as a multiple of that of one collar without losses, seconds from making a fix to its
            acknowledgement (median, 95 %), and to its arrival at the host (95 %).

            collars  SF  every     fixes  hidden  senses    collide   airtime  multiple    median      95 %   arrived

            """
        for cell in channelCells {
            for senses in [false, true] {
                text += try channelRow(
                    cell, ChannelTrial(cell, .random, hidden: 0, senses: senses), title: "random")
                guard cell.hasAligned else { continue }
                text += try channelRow(cell, ChannelTrial(cell, .same, hidden: 0.6, senses: senses), title: "same")
            }
        }
        for hidden in [0, 0.6] {
            for senses in [false, true] {
                let cell = ChannelCell(16, 9, 180)
                var trial = ChannelTrial(cell, .random, hidden: hidden, senses: senses)
                trial.fixes = .searched
                text += try channelRow(cell, trial, title: "searched")
            }
        }
        text += "\nWith further losses of frames, in both directions:\n\n"
        for loss in [0.1, 0.3] {
            for count in [1, 4] {
                for senses in [false, true] {
                    let cell = ChannelCell(count, 9, 60)
                    var trial = ChannelTrial(cell, .random, hidden: 0, senses: senses)
                    trial.lossProbability = loss
                    text += try channelRow(cell, trial, title: "loss \(Int(loss * 100))")
                }
            }
        }
        text += "\nTwo hosts in earshot, each with half of the collars:\n\n"
        for (phases, hidden) in [(CollarPhases.random, 0.0), (.same, 0.6)] {
            for senses in [false, true] {
                let cell = ChannelCell(16, 9, 60)
                var trial = ChannelTrial(cell, phases, hidden: hidden, senses: senses)
                trial.hostCount = 2
                text += try channelRow(cell, trial, title: phases.rawValue)
            }
        }
        text += "\nThe host starts again after 20 minutes; the collisions are those from a minute after it on:\n\n"
        for senses in [false, true] {
            let cell = ChannelCell(16, 9, 60)
            var trial = ChannelTrial(cell, .random, hidden: 0, senses: senses)
            trial.restartSeconds = 1200
            trial.stormMicroseconds = 60_000_000
            text += try channelRow(cell, trial, title: "restart")
        }
        return text
    }

    /// The most collars of one base whose fixes are acknowledged within an interval (95 %), with at most 1.2 times the airtime of one
    /// collar.
    /// - Throws: if a trial fails.
    package static func channelCapacity() throws(StationError) -> String {
        var text = """
            The most of 1, 2, 4, 8, 12, 16, 24, 32, 48 and 64 collars of one base of which 95 % of the fixes arrive within an interval, with at
            most 1.2 times the airtime of one collar. "senses": they sense the channel. "random": fixes at random times, all collars hear
            each other. "same": all fixes in the same second, 6 in 10 pairs of collars do not hear each other.

            SF  every   random   random, senses   same   same, senses

            """
        for (spreadingFactor, seconds) in [(7, 10), (7, 60), (9, 10), (9, 60), (9, 180), (12, 60), (12, 180)] as [(UInt8, Int64)] {
            text += "\(spreadingFactor)".right(2) + "\(seconds) s".right(7)
            for (phases, hidden, width) in [(CollarPhases.random, 0.0, 9), (.same, 0.6, 7)] {
                for senses in [false, true] {
                    let most = try channelCapacity(spreadingFactor, seconds, phases, hidden: hidden, senses: senses)
                    text += "\(most)".right(senses ? (width == 9 ? 17 : 15) : width)
                }
            }
            text += "\n"
        }
        return text
    }

    private static func channelCapacity(
        _ spreadingFactor: UInt8, _ seconds: Int64, _ phases: CollarPhases, hidden: Double, senses: Bool
    ) throws(StationError) -> Int {
        var most = 0
        for count in [1, 2, 4, 8, 12, 16, 24, 32, 48, 64] {
            var trial = ChannelTrial(ChannelCell(count, spreadingFactor, seconds), phases, hidden: hidden, senses: senses)
            trial.fixCount = 60
            // As the settings of a collar give it.
            trial.heartbeatSeconds = max(trial.heartbeatSeconds, seconds * 3 / 2)
            let figures = try ChannelFigures(trial, seeds: 1...1)
            let alone = try airtimeAlone(like: trial)
            guard figures.isComplete, figures.arrival <= Double(seconds), figures.airtime <= 1.2 * alone else { break }
            most = count
        }
        return most
    }

    private static let channelCells = [
        ChannelCell(1, 9, 60, hasAligned: false), ChannelCell(2, 9, 60), ChannelCell(8, 9, 60), ChannelCell(16, 9, 60), ChannelCell(32, 9, 60),
        ChannelCell(4, 9, 10, hasAligned: false), ChannelCell(8, 9, 10), ChannelCell(16, 7, 10), ChannelCell(32, 7, 10, hasAligned: false),
        ChannelCell(64, 7, 60, hasAligned: false), ChannelCell(2, 7, 1), ChannelCell(4, 7, 1), ChannelCell(4, 12, 180, hasAligned: false),
        ChannelCell(8, 12, 180, hasAligned: false),
    ]

    private static func channelRow(_ cell: ChannelCell, _ trial: ChannelTrial, title: String) throws(StationError) -> String {
        let figures = try ChannelFigures(trial, seeds: 1...(cell.count > 16 ? 1 : 3))
        let alone = try airtimeAlone(like: trial)
        return "\(cell.count)".right(7) + "\(cell.spreadingFactor)".right(4) + "\(cell.seconds) s".right(7) + title.right(10)
            + trial.hiddenProbability.text(decimals: 1).right(8) + (trial.sensesChannel ? "yes" : "no").right(8)
            + (figures.collide * 100).text(decimals: 1).right(9) + " %" + figures.airtime.text(decimals: 0).right(10)
            + (figures.airtime / alone).text(decimals: 2).right(10)
            + [figures.median, figures.most, figures.arrival].map { figures.isComplete ? $0.text(decimals: 1).right(10) : "-".right(10) }.joined()
            + "\n"
    }

    /// The airtime of one collar for each fix, in milliseconds, without losses.
    private static func airtimeAlone(like trial: ChannelTrial) throws(StationError) -> Double {
        var alone = ChannelTrial(collarCount: 1, phases: .random, seed: 0)
        (alone.spreadingFactor, alone.secondsApart, alone.fixCount) = (trial.spreadingFactor, trial.secondsApart, trial.fixCount)
        (alone.fixes, alone.heartbeatSeconds) = (trial.fixes, trial.heartbeatSeconds)
        return try ChannelFigures(alone, seeds: 1...2).airtime
    }
}

/// Collars, and the time between two fixes of each.
private struct ChannelCell {
    let count: Int
    let spreadingFactor: UInt8
    let seconds: Int64
    /// Whether there is a line for fixes in the same second, too.
    let hasAligned: Bool

    init(_ count: Int, _ spreadingFactor: UInt8, _ seconds: Int64, hasAligned: Bool = true) {
        (self.count, self.spreadingFactor, self.seconds, self.hasAligned) = (count, spreadingFactor, seconds, hasAligned)
    }
}

extension ChannelTrial {
    fileprivate init(_ cell: ChannelCell, _ phases: CollarPhases, hidden: Double, senses: Bool) {
        self.init(collarCount: cell.count, phases: phases, seed: 0)
        spreadingFactor = cell.spreadingFactor
        secondsApart = cell.seconds
        if cell.seconds == 1 { fixCount = 400 }
        hiddenProbability = hidden
        sensesChannel = senses
        driftPartsPerMillion = 10
    }
}

/// What trials of several seeds measured, from the middle of the track on.
private struct ChannelFigures {
    /// The part of the frames that collide.
    let collide: Double
    /// Milliseconds for each fix.
    let airtime: Double
    /// Seconds.
    let median: Double
    let most: Double
    let arrival: Double
    /// Whether all fixes were acknowledged; else the times mean nothing.
    let isComplete: Bool

    init(_ trial: ChannelTrial, seeds: ClosedRange<UInt64>) throws(StationError) {
        let results = try seeds.map { seed throws(StationError) in
            var trial = trial
            trial.seed = seed
            return try trial.run()
        }
        let isRestarted = trial.restartSeconds != nil
        let frames = results.reduce(0) { $0 + (isRestarted ? $1.afterRestart.frames : $1.secondHalf.uplinkFrames) }
        let collisions = results.reduce(0) { $0 + (isRestarted ? $1.afterRestart.collisions : $1.secondHalf.collisions) }
        let delays = results.flatMap(\.secondHalf.delays)
        collide = Double(collisions) / Double(max(1, frames))
        airtime = Double(results.reduce(0) { $0 + $1.secondHalf.airtimeMicroseconds }) / 1000 / Double(max(1, delays.count))
        isComplete = results.allSatisfy(\.isComplete)
        median = Double(delays.percentile(50)) / 1e6
        most = Double(delays.percentile(95)) / 1e6
        arrival = Double(results.flatMap(\.hostDelays).percentile(95)) / 1e6
    }
}
