import CheckedNumbers
import CollarControl
import CollarFormats
import CollarJournal
import CollarTracking
import CollarWire

/// The state of a receiver, its radios, collars and readers at one moment, as `collar-link status` shows it.
package struct Overview: Sendable {
    package enum Activity: String, Sendable {
        /// It has told its figures.
        case running
        case stopped
        /// One runs, and this user does not get its figures.
        case unknown
    }

    /// When it was made, in milliseconds since 1970.
    package var unixMilliseconds: Int64
    package var version: String
    package var stateDirectory: String
    package var activity: Activity
    /// How long it has been running, in milliseconds; nil where none runs.
    package var uptimeMilliseconds: Int64?
    /// The radios of the running receiver; where none runs, those that it would open, which have no state.
    package var radios: [Radio] = []
    /// The collars, in the order of their ids.
    package var collars: [Collar] = []
    package var readers: [ReaderLine] = []
    /// What `doctor` finds.
    package var problems: [Finding] = []

    package struct Radio: Sendable {
        /// The path of the port, or the address of the radio.
        package var port: String
        /// Its state; nil where no receiver runs.
        package var figures: RadioFigures?
    }

    package struct Collar: Sendable {
        package var deviceID: DeviceID
        /// The animal that wears it now; nil if it has no name.
        package var name: String?
        package var figures: [CollarFigure: Int64]
        package var summary: JournalSummary
        /// The newest fix as it is shown: in a private place, without its position. Distances count from home.
        package var fix: ReceivedFix?
        /// Whether it is stale; nil while the collar has too few fixes.
        package var isStale: Bool?
        /// The discharge of its battery, in thousandths of a percent an hour; nil if it is not known.
        package var drainMilliPercentPerHour: Int64?
        /// The newest fix, as a line.
        package var fixLine: [UInt8]?
        /// The last status and the last power report of the collar.
        package var told = ToldLines()
    }

    /// Begins without radios, collars and readers.
    /// - Parameter figures: the figures of the receiver; nil where none runs, or where it does not tell them.
    package init(
        unixMilliseconds: Int64, version: String, stateDirectory: String, activity: Activity, figures: ReceiverFigures?
    ) {
        self.unixMilliseconds = unixMilliseconds
        self.version = version
        self.stateDirectory = stateDirectory
        self.activity = activity
        uptimeMilliseconds = figures?.values[.uptime]
        radios = figures?.radios.map { Radio(port: $0.port, figures: $0) } ?? []
    }

    /// Adds the findings of `doctor`; where no receiver runs, also the radios that it would open.
    package mutating func add(_ diagnosis: Diagnosis) {
        problems = diagnosis.findings
        if activity != .running { radios = diagnosis.ports.map { Radio(port: $0) } }
    }

    /// Adds a collar, from its journal, the event log and the figures of the receiver.
    ///
    /// Complexity: as for `JournalReader.summary(examining:)`.
    package mutating func add(
        _ reader: JournalReader, figures: ReceiverFigures?, told: ToldLines, annotations: Annotations
    ) throws(JournalError) {
        var drain = BatteryDrain()
        var trails: [LogID: Trail<Fix>] = [:]
        let summary = try reader.summary { record in
            drain.add(record.fix)
            trails[record.logID, default: Trail<Fix>(limit: 2)].add(record.fix)
        }
        var collar = Collar(
            deviceID: reader.deviceID, name: annotations.deployments.wearer(of: reader.deviceID, at: unixMilliseconds)?.name,
            figures: figures?.collars[reader.deviceID] ?? [:], summary: summary,
            drainMilliPercentPerHour: drain.milliPercentPerHour, told: told)
        if let newest = summary.newest.map({ ReceivedFix(deviceID: reader.deviceID, $0) }) {
            var options = FormatOptions(.json)
            options.annotations = annotations
            options.owner = .home
            collar.fix = WhereaboutsFinder(options).located(newest)
            let age = unixMilliseconds - newest.fix.unixMilliseconds
            collar.isStale = collar.figures[.staleAge].map { age >= $0 } ?? trails[newest.logID]?.isStale(at: unixMilliseconds)
            var formatter = EntryFormatter(options)
            var line: [UInt8] = []
            formatter.append(newest, to: &line)
            collar.fixLine = line
        }
        collars.append(collar)
    }
}

extension Overview.Collar {
    /// Fixes that are known to exist and not stored. The collar may have shown the receiver that it has fixes of which the journal knows
    /// nothing yet.
    package var missingCount: Int64 { figures[.missing] ?? Int64(clamping: summary.missingCount) }

    /// Whether the collar is reachable; nil where no receiver listens to it.
    package var isReachable: Bool? { figures[.reachable].map { $0 == 1 } }

    /// nil where no receiver listens to it.
    package var connection: Connection? { Connection(isListenedTo: figures[.silence] != nil, isReachable: isReachable) }

    /// The accuracy of the newest fix in a word; nil if it is unknown, and in a private place.
    package var accuracyGrade: AccuracyGrade? {
        fix?.whereabouts?.isPrivate == true ? nil : fix?.fix.horizontalAccuracy.map(AccuracyGrade.init)
    }
}

extension Overview {
    /// The line of JSON, with its line feed, as `Protocol/schema/overview.schema.json` describes it. Fixes, statuses, power reports, readers
    /// and findings are the lines of other commands.
    package var line: [UInt8] {
        var object = JSONLine(type: "overview", unixMilliseconds: unixMilliseconds)
        object.add("version", version)
        object.add("state_dir", stateDirectory)
        object.add("receiver", activity.rawValue)
        object.add("uptime_ms", uptimeMilliseconds)
        object.add("radios", radios.map { radio in
            var object = JSONLine()
            object.add("port", radio.port)
            object.add("state", radio.figures?.state.rawValue)
            object.add("dialect", radio.figures?.dialect)
            if radio.figures?.isAirtimeShort == true { object.add("airtime_short", true) }
            return object
        })
        object.add("collars", collars.map(\.object))
        object.add("readers", lines: readers.map { $0.line(unixMilliseconds: unixMilliseconds) })
        object.add("problems", lines: problems.map(\.line))
        return object.line
    }
}

extension Overview.Collar {
    fileprivate var object: JSONLine {
        var object = JSONLine()
        object.add(collar: deviceID, name: name)
        if let isReachable { object.add("reachable", isReachable) } else { object.add("reachable", nil as String?) }
        object.add("connection", connection?.rawValue)
        object.add("silent_ms", figures[.silence])
        object.add("missing", missingCount)
        object.add("lost", summary.lostCount)
        object.add("stored", summary.storedCount)
        object.add("battery_drain_pct_per_h", number: drainMilliPercentPerHour.map { MessageDescription.decimal($0, 3) })
        object.add("accuracy", accuracyGrade?.rawValue)
        if let isStale { object.add("stale", isStale) } else { object.add("stale", nil as String?) }
        object.add("fix", line: fixLine)
        object.add("status", line: told.status?.bytes)
        object.add("fix_interval_ms", figures[.fixInterval])
        object.add("heartbeat_s", figures[.heartbeat])
        object.add("power", line: told.power?.bytes)
        return object
    }
}
