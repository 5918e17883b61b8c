/// The charge that a collar takes from its cell on an average day, and for how long the cell lasts.
package struct PowerBudget: Equatable, Sendable {
    /// The parts of a collar that take charge.
    package enum Part: String, CaseIterable, Sendable {
        case gnss = "GNSS"
        case backup = "GNSS backup"
        case fixes = "fixes on air"
        case probes = "probes"
        case reports = "reports on air"
        case processor = "processor"
        case sleep = "sleep"
        case selfDischarge = "self-discharge"
    }

    private var charges: [Part: Double] = [:]
    /// The charge that a full cell gives, in milliampere-hours.
    private let usable: Double

    /// Computes the budget of a day like the ones that were simulated.
    /// - Parameter capacity: the capacity of the cell, in milliampere-hours.
    package init(_ statistics: DayStatistics, _ table: CurrentTable, capacity: Double) {
        let days = max(statistics.days, 1e-9)
        func charge(_ row: CurrentTable.Row, _ microseconds: Int64) -> Double { table[row] * Double(microseconds) / 3.6e9 / days }
        func onAir(_ use: FrameUse) -> Double {
            charge(.radioSend, statistics[use].sendingMicroseconds) + charge(.radioReceive, statistics[use].listeningMicroseconds)
        }
        let tracking = statistics.cyclicMicroseconds + statistics.fullTrackingMicroseconds
        charges[.gnss] =
            charge(.gnssSearch, statistics.gnssMicroseconds - tracking) + charge(.gnssCyclic, statistics.cyclicMicroseconds)
            + charge(.gnssTracking, statistics.fullTrackingMicroseconds)
        charges[.backup] = charge(.gnssBackup, statistics[.backup])
        charges[.fixes] = onAir(.fixes)
        charges[.probes] = onAir(.probe)
        charges[.reports] = onAir(.report)
        charges[.processor] =
            charge(.processorWithGNSS, statistics.gnssMicroseconds) + charge(.processorAwake, statistics.awakeMicroseconds)
        charges[.sleep] = charge(.sleep, statistics.microseconds)
        charges[.selfDischarge] = capacity * table[.cellSelfDischarge] / 100 / 30
        usable = capacity * table[.cellUsable] / 100
    }

    /// The charge of a part, in milliampere-hours a day.
    package subscript(part: Part) -> Double { charges[part] ?? 0 }

    /// The charge of all parts, in milliampere-hours a day.
    package var total: Double { Part.allCases.reduce(0) { $0 + self[$1] } }

    /// The days from a full cell to the end of its usable charge.
    package var days: Double { usable / max(total, 1e-9) }
}
