import CollarFormats
import CollarTracking

extension Overview {
    /// A line of text, without a line feed.
    package struct TextLine: Equatable, Sendable {
        /// The meaning of a line, which decides its colour. The words say it, too.
        package enum Tone: Sendable { case heading, good, warning, error }

        package let text: String
        package let tone: Tone?
    }

    /// - Parameters:
    ///   - width: the width of the terminal, in characters. No line is wider, except where a single item is.
    ///   - rows: the height of the terminal. Where the whole text has more lines, each collar has one line only.
    ///   - zone: the time zone of the times; nil for UTC.
    package func text(width: Int, rows: Int, zone: TimeZoneOffset?) -> [TextLine] {
        let page = OverviewPage(overview: self, width: width, zone: zone)
        let whole = page.lines(isBrief: false)
        return whole.count < rows ? whole : page.lines(isBrief: true)
    }
}

private struct OverviewPage {
    private typealias Line = Overview.TextLine

    let overview: Overview
    let width: Int
    let zone: TimeZoneOffset?

    func lines(isBrief: Bool) -> [Overview.TextLine] {
        let name = "collar-link \(overview.version)"
        let isShort = name.count + 2 + activity.count <= width
        var lines = isShort ? flow([name, activity], indent: 0, .heading) : flow([name], indent: 0, .heading) + words(activity, indent: 2, .heading)
        lines += section("radios", overview.radios.isEmpty ? [Line(text: "  none", tone: nil)] : overview.radios.flatMap(text))
        let none = Line(text: "  none was heard yet", tone: nil)
        lines += section("collars", overview.collars.isEmpty ? [none] : overview.collars.flatMap { isBrief ? brief($0) : text($0) })
        if !overview.readers.isEmpty { lines += section("readers", overview.readers.flatMap(text)) }
        let problems = overview.problems.filter { $0.code.severity != .info }
        if !problems.isEmpty { lines += section("problems", problems.flatMap(text)) }
        return lines
    }

    private var activity: String {
        switch overview.activity {
        case .running: "running for \(durationText(milliseconds: overview.uptimeMilliseconds ?? 0))"
        case .stopped: "not running: start it with `collar-link`"
        case .unknown: "running, but it reports nothing to this user"
        }
    }

    private func section(_ title: String, _ lines: [Line]) -> [Line] { [Line(text: title, tone: .heading)] + lines }

    private func text(_ radio: Overview.Radio) -> [Line] {
        guard let figures = radio.figures else { return flow([radio.port, "not open"]) }
        let (words, tone): (String, Line.Tone?) =
            switch figures.state {
            case .open: figures.isAirtimeShort ? ("open, its airtime runs short", .warning) : ("open", .good)
            case .detecting: ("detecting its firmware", .warning)
            case .unset: ("not used: no region is set", .warning)
            case .stranger: ("no collar radio answers", .error)
            case .connecting: ("connecting", .warning)
            case .waiting: ("waiting for it to appear", .warning)
            case .retrying: ("cannot be opened, retrying", .error)
            case .shared: ("open by another path", nil)
            case .gone: ("unplugged", .error)
            }
        return flow([radio.port, figures.dialect ?? "", words], tone)
    }

    private func text(_ collar: Overview.Collar) -> [Line] {
        let id = collar.deviceID.description
        let (connection, tone) = connection(of: collar)
        let details = [fix(of: collar), condition(of: collar), schedule(of: collar), delivery(of: collar)]
        return flow([collar.name ?? "", collar.name == nil ? id : "(\(id))", connection], tone)
            + details.flatMap { $0.isEmpty ? [] : flow($0, indent: 4) }
    }

    private func brief(_ collar: Overview.Collar) -> [Line] {
        let (connection, tone) = connection(of: collar)
        let name = collar.name ?? String(collar.deviceID.description.prefix(8))
        let items = [name, connection, fix(of: collar)[0], battery(of: collar), collar.missingCount > 0 ? "\(collar.missingCount) missing" : ""]
        return flow(items, tone)
    }

    private func connection(of collar: Overview.Collar) -> (words: String, Line.Tone?) {
        guard overview.activity == .running else { return ("", nil) }
        let silence = collar.figures[.silence].map { durationText(milliseconds: $0) }
        return switch (collar.connection, silence) {
        case (.connected?, let silence?): ("connected, heard \(silence) ago", .good)
        case (.notReachable?, let silence?): ("not reachable, silent for \(silence)", .error)
        case (.connecting?, _): ("connecting", .warning)
        case (_, _): (collar.figures[.heard] == 1 ? "its radio is not open" : "not heard since the start", .warning)
        }
    }

    private func fix(of collar: Overview.Collar) -> [String] {
        guard let shown = collar.fix else { return ["no fix yet"] }
        let fix = shown.fix
        let age = durationText(milliseconds: overview.unixMilliseconds - fix.unixMilliseconds)
        let time = shortTimeText(unixMilliseconds: fix.unixMilliseconds, reference: overview.unixMilliseconds, in: zone)
        let position = [fix.latitudeSteps, fix.longitudeSteps].map {
            MessageDescription.decimal(Int64($0), fix.positionStep.fractionDigits)
        }
        let accuracy = fix.horizontalAccuracy.map { "±" + MessageDescription.meters($0) + " m" } ?? "accuracy unknown"
        let grade = collar.accuracyGrade.map { ", \($0.rawValue)" } ?? ""
        return ["last fix \(age) ago\(collar.isStale == true ? ", stale" : "")", "at \(time)"] + (shown.whereabouts?.items(from: PlaceTable.homeName) ?? [])
            + [position.joined(separator: ", "), accuracy + grade]
    }

    private func condition(of collar: Overview.Collar) -> [String] {
        var items = [battery(of: collar)]
        if let status = collar.told.status {
            if let isTracking = status.isTracking {
                let since = status.trackingSinceUnixMilliseconds.map {
                    " since \(shortTimeText(unixMilliseconds: $0, reference: overview.unixMilliseconds, in: zone))"
                }
                items.append((isTracking ? "tracking" : "not tracking") + (since ?? ""))
            }
            if let isStationary = status.isStationary { items.append(isStationary ? "stationary" : "moving") }
            switch status.throttle {
            case "low_battery": items.append("slow: battery low")
            case "critical_battery": items.append("slow: battery critical")
            case "duty_cycle": items.append("slow: duty cycle")
            default: break
            }
            switch status.gnss {
            case "off": items.append("GNSS off")
            case "searching": items.append("GNSS searching")
            case "fault": items.append("GNSS fault")
            default: break
            }
        }
        return items
    }

    /// How the collar spends its battery; empty if it has not told it.
    private func schedule(of collar: Overview.Collar) -> [String] {
        guard let power = collar.told.power else { return [] }
        let interval = collar.figures[.fixInterval].map { "makes a fix every \(durationText(milliseconds: $0))" }
        var items: [String] = []
        switch power.mode {
        case "stopped": items.append("makes no fixes")
        case "continuous": items.append("GNSS always on")
        case "find": items.append("find is in force: GNSS always on")
        case "no_sky": items.append("hears no satellites")
        case "moving", "resting": items.append(interval ?? "makes fixes by a schedule")
        default: break
        }
        if let next = power.nextSearchUnixMilliseconds, next > overview.unixMilliseconds {
            items.append("next search in \(durationText(milliseconds: next - overview.unixMilliseconds))")
        }
        let shares = [("GNSS on", power.gnssTenthsPercent), ("radio listens", power.listeningTenthsPercent)]
        for (words, share) in shares {
            if let share { items.append("\(words) \(MessageDescription.decimal(share, 1)) % of the time") }
        }
        if let failures = power.failuresInRow, failures > 0 {
            items.append(failures == 1 ? "the last search failed" : "\(failures) searches failed in a row")
        }
        return items
    }

    private func battery(of collar: Overview.Collar) -> String {
        let percent = collar.summary.newest?.fix.batteryPercent.map { "\($0) %" } ?? "unknown"
        let drain = collar.drainMilliPercentPerHour.map { ", \(MessageDescription.decimal(($0 + 50) / 100, 1)) % an hour" }
        return "battery \(percent)\(drain ?? "")"
    }

    private func delivery(of collar: Overview.Collar) -> [String] {
        var items: [String] = []
        if let signal = collar.summary.newest?.signal {
            let ratio = signal.signalToNoiseTenthsDB.map { ", SNR \(MessageDescription.decimal(Int64($0), 1)) dB" }
            items.append("signal \(signal.strengthDBm) dBm\(ratio ?? "")")
        }
        items.append(collar.missingCount == 0 ? "nothing missing" : "\(collar.missingCount) missing")
        if collar.summary.lostCount > 0 { items.append("\(collar.summary.lostCount) lost") }
        return items + ["\(collar.summary.storedCount) stored"]
    }

    private func text(_ reader: ReaderLine) -> [Line] {
        var lag = "its lag is unknown"
        if let entries = reader.lag {
            let age = entries.oldestUnixMilliseconds.map { ", the oldest \(durationText(milliseconds: overview.unixMilliseconds - $0))" }
            lag = entries.entryCount == 0 ? "has everything" : "\(entries.entryCount) behind\(age ?? "")"
        }
        let seen = durationText(milliseconds: overview.unixMilliseconds - reader.seenUnixMilliseconds)
        return flow([reader.name, lag, "seen \(seen) ago"], reader.lag == nil ? .warning : nil)
    }

    private func text(_ problem: Finding) -> [Line] {
        let tone: Line.Tone = problem.code.severity == .warning ? .warning : .error
        var lines = words("\(problem.code.severity.rawValue): \(problem.reason)", indent: 2, tone)
        // A command stays on one line, so that it can be copied.
        if let command = problem.command { lines.append(Line(text: "    \(command.text)", tone: nil)) }
        if problem.command == nil, let remedy = problem.remedy { lines += words(remedy, indent: 4, nil) }
        return lines
    }

    private func flow(_ items: [String], indent: Int = 2, _ tone: Line.Tone? = nil) -> [Line] {
        broken(items.map(PlainText.line), separator: "  ", indent: indent, tone)
    }

    private func words(_ text: String, indent: Int, _ tone: Line.Tone?) -> [Line] {
        broken(PlainText.line(text).split(separator: " "), separator: " ", indent: indent, tone)
    }

    private func broken(_ items: [some StringProtocol], separator: String, indent: Int, _ tone: Line.Tone?) -> [Line] {
        let text = TextFlow.joined(items, separator: separator, column: indent, hanging: indent + 2, width: width)
        return (String(repeating: " ", count: indent) + text).split(separator: "\n").map { Line(text: String($0), tone: tone) }
    }
}
