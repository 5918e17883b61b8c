import CollarConfiguration
import CollarControl
import CollarFormats
import CollarJournal
import CollarWire

/// The state of a receiver, its radios, collars and readers at one moment, as `collar-link status` shows it.
package struct Overview: Sendable {
    /// Whether a receiver runs.
    package enum Activity: String, Sendable {
        /// It has told its figures.
        case running
        /// None runs.
        case stopped
        /// One runs, and this user does not get its figures.
        case unknown
    }

    /// When it was made, in milliseconds since 1970.
    package var unixMilliseconds: Int64
    /// The version of the program.
    package var version: String
    /// The state directory that it is about.
    package var stateDirectory: String
    /// Whether a receiver runs.
    package var activity: Activity
    /// How long it has been running, in milliseconds; nil where none runs.
    package var uptimeMilliseconds: Int64?
    /// The radios of the running receiver; where none runs, those that it would open, which have no state.
    package var radios: [Radio] = []
    /// The collars, in the order of their ids.
    package var collars: [Collar] = []
    /// The named readers.
    package var readers: [ReaderLine] = []
    /// What `doctor` finds.
    package var problems: [Finding] = []

    /// A radio.
    package struct Radio: Sendable {
        /// The path of the port, or the address of the radio.
        package var port: String
        /// Its state; nil where no receiver runs.
        package var figures: RadioFigures?

        /// A radio that a receiver has, or would open.
        package init(port: String, figures: RadioFigures? = nil) {
            self.port = port
            self.figures = figures
        }
    }

    /// A collar.
    package struct Collar: Sendable {
        /// The factory id.
        package var deviceID: UInt64
        /// The animal that wears it now; nil if it has no name.
        package var name: String?
        /// The figures of the running receiver.
        package var figures: [CollarFigure: Int64]
        /// What its journal holds.
        package var summary: JournalSummary
        /// The discharge of its battery, in thousandths of a percent an hour; nil if it is not known.
        package var drainMilliPercentPerHour: Int64?
        /// The newest fix, as a line.
        package var fixLine: [UInt8]?
        /// What the collar said about itself last, as a line of status; nil if that was long ago.
        package var status: StatusLine?
    }

    /// Begins without radios, collars and readers.
    /// - Parameters:
    ///   - unixMilliseconds: the present time, in milliseconds since 1970.
    ///   - version: the version of the program.
    ///   - stateDirectory: the state directory.
    ///   - activity: whether a receiver runs.
    ///   - figures: the figures of the receiver; nil where none runs, or where it does not tell them.
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
        _ reader: JournalReader, figures: ReceiverFigures?, status: StatusLine?, animals: DeploymentTable
    ) throws(JournalError) {
        var drain = BatteryDrain()
        let summary = try reader.summary { record in drain.add(record.fix) }
        var collar = Collar(
            deviceID: reader.deviceID, name: animals.wearer(of: reader.deviceID, at: unixMilliseconds)?.name,
            figures: figures?.collars[reader.deviceID] ?? [:], summary: summary,
            drainMilliPercentPerHour: drain.milliPercentPerHour, status: status)
        if let newest = summary.newest {
            var options = FormatOptions(.json)
            options.deployments = animals
            var formatter = EntryFormatter(options)
            var line: [UInt8] = []
            formatter.append(ReceivedFix(deviceID: reader.deviceID, newest), to: &line)
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
}
