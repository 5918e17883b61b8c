import CollarARQ
import CollarSimulator
import CollarWire

/// What days of a collar cost. All figures are computed: seconds of the shipping program in virtual time, by currents of data sheets.
extension TrialTables {
    private static let intervals: [(name: String, seconds: UInt32)] = [("1 min", 60), ("3 min", 180), ("15 min", 900), ("1 h", 3600)]
    private static let capacity = 500.0

    /// All tables of `hardware/power`.
    package static func power() throws(DayError) -> String {
        let days = try intervals.map { interval throws(DayError) in (interval.name, try day(everySeconds: interval.seconds)) }
        let slow = ("1 h, SF12", try day(everySeconds: 3600) { $0.spreadingFactor = 12 })
        let tables = [
            schedules(days), parts(days + [slow]), try spreadingFactors(), try frameSizes(), try cat(), try changes(),
        ]
        return tables.joined(separator: "\n")
    }

    /// A simulated day of a collar that makes a fix every so often, and is silent for 300 s at most.
    private static func day(
        everySeconds seconds: UInt32, _ others: [(SettingKey, UInt32)] = [], _ change: (inout DaySetup) -> Void = { _ in }
    ) throws(DayError) -> DayStatistics {
        var setup = DaySetup()
        let keys: [(SettingKey, UInt32)] = [(.heartbeatSeconds, 300), (.fixIntervalMilliseconds, seconds * 1000)]
        let all = keys.filter { key in !others.contains { $0.0 == key.0 } } + others
        setup.settings = all.map { Setting(key: $0.0.rawValue, value: $0.1) }
        change(&setup)
        let day = try SimulatedDay(setup)
        day.run(until: Instant(microseconds: DayPlan.dayMicroseconds))
        return day.statistics
    }

    private static func budget(_ day: DayStatistics, capacity: Double = capacity) -> PowerBudget {
        PowerBudget(day, .default, capacity: capacity)
    }

    private static func seconds(_ microseconds: Int64, decimals: Int = 0) -> String {
        (Double(microseconds) / 1e6).text(decimals: decimals)
    }

    /// Three digits, as far as they are before the point.
    private static func short(_ value: Double) -> String { value.text(decimals: value < 9.95 ? 1 : 0) }

    // MARK: The tables

    /// The text of the first table for these days.
    private static func schedules(_ days: [(name: String, day: DayStatistics)]) -> String {
        var text = """
            All figures are computed; none was measured on a collar.

            A day under an open sky, in reach: SF9, heartbeat 300 s, an answer 75 ms after a poll, a position after 8 s.

            interval   fixes  GNSS, s  probes  sending, s  listening, s  reports  mAh a day  days from 500 mAh

            """
        for (name, day) in days {
            let columns = [
                "\(day.fixes)".right(7), seconds(day.gnssMicroseconds).right(9), "\(day[.probe].frames)".right(8),
                seconds(day.sendingMicroseconds, decimals: 1).right(12), seconds(day.listeningMicroseconds, decimals: 1).right(14),
                "\(day[.report].frames)".right(9), budget(day).total.text(decimals: 1).right(11), short(budget(day).days).right(20),
            ]
            text += name.left(9) + columns.joined() + "\n"
        }
        return text
    }

    /// The first table, whose days take less than a second together.
    /// - Throws: if a simulation does not begin.
    package static func schedules() throws(DayError) -> String {
        schedules(try intervals.map { interval throws(DayError) in (interval.name, try day(everySeconds: interval.seconds)) })
    }

    private static func parts(_ days: [(name: String, day: DayStatistics)]) -> String {
        var text = "The same in mAh a day by part:\n\n" + "".left(16) + days.map { $0.name.right(11) }.joined() + "\n"
        for part in PowerBudget.Part.allCases {
            text += part.rawValue.left(16) + days.map { budget($0.day)[part].text(decimals: 2).right(11) }.joined() + "\n"
        }
        return text + "sum".left(16) + days.map { budget($0.day).total.text(decimals: 2).right(11) }.joined() + "\n"
    }

    private static func spreadingFactors() throws(DayError) -> String {
        let factors: [UInt8] = [7, 9, 12]
        var text = """
            Days from 500 / 1000 mAh by interval and spreading factor, as above; + sends more than 1 % of the time, * more than 10 %.
            Always on: a fix a second, sent in batches every 10 s.

            interval \(factors.map { "SF\($0)".right(14) }.joined())

            """
        let rows = [("always on", 0 as UInt32), ("10 s", 10)] + intervals.map { ($0.name, $0.seconds) }
        for (name, interval) in rows {
            text += name.left(9)
            for factor in factors {
                let batches: [(SettingKey, UInt32)] = [(.intervalMilliseconds, 10_000), (.stationaryIntervalMilliseconds, 10_000)]
                let live = interval > 0 ? [] : batches
                let day = try day(everySeconds: interval, live) { $0.spreadingFactor = factor }
                let share = Double(day.sendingMicroseconds) / Double(day.microseconds)
                let mark = share > 0.1 ? "*" : share > 0.01 ? "+" : " "
                text += "\(short(budget(day).days)) / \(short(budget(day, capacity: 1000).days))".right(13) + mark
            }
            text += "\n"
        }
        return text
    }

    private static func frameSizes() throws(DayError) -> String {
        var text = """
            What fixes on air cost, mAh a day (days from 500 mAh), if each fix were a message of 50 bytes, or JSON of 290 bytes in two
            frames, each acknowledged as a frame of CollarLink is. The bytes are the mean of a day's frames.

            interval  SF  bytes      CollarLink        50 bytes      2 x 145 bytes

            """
        for interval in intervals.dropLast() {
            for factor in [7, 9, 12] as [UInt8] {
                let day = try day(everySeconds: interval.seconds) { $0.spreadingFactor = factor }
                let own = budget(day)
                var modem = SimulatedModem.lora(spreadingFactor: factor).profile
                modem.turnaroundMicroseconds = 75_000
                let listening = day[.fixes].listeningMicroseconds / Int64(max(1, day[.fixes].frames))
                func column(_ charge: Double) -> String {
                    let days = own.days * own.total / (own.total - own[.fixes] + charge)
                    return "\(charge.text(decimals: 1)) (\(short(days)))"
                }
                func charge(_ frames: Int, byteCount: Int) -> Double {
                    let sending = Double(modem.airtimeMicroseconds(frameByteCount: byteCount)) * CurrentTable.default[.radioSend]
                    return Double(day.fixes * frames) * (sending + Double(listening) * CurrentTable.default[.radioReceive]) / 3.6e9
                }
                let bytes = Double(day[.fixes].bytes) / Double(max(1, day.fixes))
                text += interval.name.left(10) + "\(factor)".right(2) + bytes.text(decimals: 1).right(7)
                text += column(own[.fixes]).right(16) + column(charge(1, byteCount: 50)).right(16)
                text += column(charge(2, byteCount: 145)).right(19) + "\n"
            }
        }
        return text
    }

    /// The day of a cat that is 14 hours under roofs.
    private static let catDay = """
          00:00 open
          00:45 roof rest
          02:00 open
          03:30 roof rest
          06:30 open
          08:00 roof rest
          11:00 open
          12:15 roof rest
          16:30 open
          18:30 roof rest
          21:00 open

        """

    private static func cat() throws(DayError) -> String {
        var text = """
            A cat, 14 hours a day under roofs, a fix every 3 min (SF9). Its day, as `--sky` takes it:

            \(catDay)
            rule                                         fixes  GNSS, s  mAh a day  days from 500 mAh

            """
        let plan: DayPlan
        do throws(LineFault) { plan = try DayPlan(catDay) } catch { preconditionFailure("the day of the cat is valid: \(error)") }
        // The board tells the satellites, and has an accelerometer.
        let rules: [(String, [(SettingKey, UInt32)], Bool, Bool)] = [
            ("search for 600 s, again at once", [(.searchTimeoutSeconds, 600), (.searchWaitSeconds, 0)], false, false),
            ("60 s, again after 3 min", [(.searchWaitSeconds, 0)], false, false),
            ("60 s, waits up to 15 min", [(.searchWaitSeconds, 900)], false, false),
            ("60 s, waits up to 1 h (default)", [], false, false),
            ("the same, 20 s with too few satellites", [], true, false),
            ("the same, motion ends the wait", [], true, true),
            ("the same, a fix an hour at rest", [(.restFixIntervalMilliseconds, 3_600_000)], true, true),
        ]
        for (name, settings, tellsSatellites, hasAccelerometer) in rules {
            let day = try day(everySeconds: 180, settings) {
                $0.plan = plan
                ($0.tellsSatellites, $0.hasAccelerometer) = (tellsSatellites, hasAccelerometer)
            }
            text += name.left(43) + "\(day.fixes)".right(7) + seconds(day.gnssMicroseconds).right(9)
            text += budget(day).total.text(decimals: 1).right(11) + short(budget(day).days).right(20) + "\n"
        }
        return text
    }

    private static func changes() throws(DayError) -> String {
        var text = """
            One change from a fix every 3 min at SF9 under an open sky:

            change                                       fixes  GNSS, s  sending, s  mAh a day  days from 500 mAh

            """
        let away = DayPlan([DayPlan.Spell(startMicroseconds: 0, Surroundings(isInReach: false))])
        let trees = DayPlan([DayPlan.Spell(startMicroseconds: 0, Surroundings(sky: .trees))])
        let rest = DayPlan([DayPlan.Spell(startMicroseconds: 0, Surroundings(isMoving: false))])
        let rows: [(String, [(SettingKey, UInt32)], (inout DaySetup) -> Void)] = [
            ("none", [], { _ in }), ("under trees (20 s to a position)", [], { $0.plan = trees }),
            ("a heartbeat of 50 s", [(.heartbeatSeconds, 50)], { _ in }), ("3 frames in 10 are lost", [], { $0.lossProbability = 0.3 }),
            ("batches every 15 min", [(.intervalMilliseconds, 900_000), (.stationaryIntervalMilliseconds, 900_000)], { _ in }),
            ("at rest, a fix an hour then", [(.restFixIntervalMilliseconds, 3_600_000)], { $0.plan = rest }),
            ("out of reach", [], { $0.plan = away }), ("out of reach, polls every 300 s", [(.outOfReachSeconds, 300)], { $0.plan = away }),
        ]
        for (name, settings, change) in rows {
            let day = try day(everySeconds: 180, settings, change)
            text += name.left(43) + "\(day.fixes)".right(7) + seconds(day.gnssMicroseconds).right(9)
            text += seconds(day.sendingMicroseconds).right(12) + budget(day).total.text(decimals: 1).right(11)
            text += short(budget(day).days).right(20) + "\n"
        }
        return text
    }
}
