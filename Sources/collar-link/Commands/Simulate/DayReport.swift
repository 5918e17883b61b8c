import CollarARQ
import CollarErrors
import CollarSimulator
import CollarWire

extension SimulateCommand {
    /// Simulates days of a collar, and prints what they cost.
    static func simulateDays(_ options: DayOptions) throws(CommandFailure) -> ExitCode {
        let day: SimulatedDay
        do throws(DayError) { day = try SimulatedDay(options.setup) } catch {
            switch error {
            case .settingRefused(let setting):
                let name = SettingKey(rawValue: setting.key)?.name ?? "\(setting.key)"
                throw CommandFailure(.software, "The simulated collar refuses \(name)=\(setting.value).")
            case .flash(let error): throw CommandFailure(.software, "The simulated collar's flash fails: \(error).")
            }
        }
        day.run(until: Instant(microseconds: Int64(options.days) * DayPlan.dayMicroseconds))
        let report = DayReport(day.statistics, options)
        try StandardOutput.write(options.isDetailed ? report.details : report.summary)
        return .clean
    }
}

/// The cost of simulated days, for a person. All values are means of a day.
struct DayReport {
    private let statistics: DayStatistics
    private let budget: PowerBudget
    private let capacity: Double

    init(_ statistics: DayStatistics, _ options: DayOptions) {
        self.statistics = statistics
        budget = PowerBudget(statistics, options.currents, capacity: options.capacity)
        capacity = options.capacity
    }

    private static let labelWidth = 18
    private static let valueWidth = 9

    private func row(_ label: String, _ value: Double, decimals: Int = 0, _ rest: String = "") -> String {
        let line = label.left(DayReport.labelWidth) + value.text(decimals: decimals).right(DayReport.valueWidth)
        return line + (rest.isEmpty ? "" : " " + rest) + "\n"
    }

    private func perDay(_ count: Int) -> Double { Double(count) / statistics.days }
    private func secondsPerDay(_ microseconds: Int64) -> Double { Double(microseconds) / 1e6 / statistics.days }

    /// Fixes, days, and how soon *find* reaches the collar.
    var summary: String {
        row("fixes a day", perDay(statistics.fixes))
            + row("within 10 min", statistics.fixes > 0 ? 100 * Double(statistics.promptFixes) / Double(statistics.fixes) : 0, "% of them at the base")
            + row("days", budget.days, decimals: 1, "from \(capacity.text(decimals: 0)) mAh") + find
            + outOfReach
    }

    private var outOfReach: String {
        let hours = secondsPerDay(statistics.outOfReachMicroseconds) / 3600
        return hours > 0 ? row("out of reach", hours, decimals: 1, "h a day") : ""
    }

    private var find: String {
        guard statistics.longestSilenceMicroseconds > 0 else {
            return "find within".left(Self.labelWidth) + "never".right(Self.valueWidth) + "\n"
        }
        return row("find within", Double(statistics.longestSilenceMicroseconds) / 1e6, "s, while in reach")
    }

    /// The same, with times and charges by part.
    var details: String {
        func seconds(_ supply: PowerReport.Supply) -> String { secondsPerDay(statistics[supply]).text(decimals: 0) }
        var text = "a day, as the mean of \(statistics.days.text(decimals: 0)):\n"
        text += row("fixes", perDay(statistics.fixes))
        text += row("searches", perDay(statistics.searches), "of which \(perDay(statistics.failures).text(decimals: 0)) without a position")
        let states = "searching \(seconds(.searching)), settling \(seconds(.settling)), collecting \(seconds(.collecting))"
        text += row("GNSS on", secondsPerDay(statistics.gnssMicroseconds), "s: \(states), tracking \(seconds(.tracking))")
        text += row("GNSS backup", secondsPerDay(statistics[.backup]), "s")
        text += row("GNSS off", secondsPerDay(statistics[.off]), "s")
        text += row("probes", perDay(statistics[.probe].frames))
        text += row("sending", secondsPerDay(statistics.sendingMicroseconds), decimals: 1, "s")
        text += row("listening", secondsPerDay(statistics.listeningMicroseconds), decimals: 1, "s")
        text += row("awake", secondsPerDay(statistics.awakeMicroseconds), decimals: 1, "s (assumed: 30 ms for each exchange)")
        text += "\nmAh a day:\n"
        for part in PowerBudget.Part.allCases { text += row(part.rawValue, budget[part], decimals: 2) }
        text += row("sum", budget.total, decimals: 2)
        return text + "\n" + summary
    }
}
