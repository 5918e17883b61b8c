import CollarErrors
import CollarJournal
import CollarWire

protocol FormatWriter {
    /// Which animal wears which collar, from the next entry on.
    var deployments: DeploymentTable { get set }

    /// Appends what is before the first entry of a document.
    mutating func begin(into bytes: inout [UInt8])
    /// Appends a fix, unless the format cannot express it.
    /// - Precondition: the fix is valid (`Fix.validate()`).
    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8])
    /// Appends a message of a collar's application, where the format has messages.
    mutating func append(_ message: JournaledMessage, deviceID: DeviceID, to bytes: inout [UInt8])
    /// Appends a change of a gap, where the format has gaps.
    mutating func append(_ change: GapChange, deviceID: DeviceID, to bytes: inout [UInt8])
    /// Appends an alert, where the format has alerts.
    mutating func append(_ line: AlertLine, to bytes: inout [UInt8])
    /// Appends what a line of the event log says, where the format has it.
    mutating func append(event line: [UInt8], to bytes: inout [UInt8])
    /// Appends what is after the last entry of a document.
    mutating func end(into bytes: inout [UInt8])
}

/// Most formats are rows of fixes alone.
extension FormatWriter {
    mutating func begin(into bytes: inout [UInt8]) {}
    mutating func append(_ message: JournaledMessage, deviceID: DeviceID, to bytes: inout [UInt8]) {}
    mutating func append(_ change: GapChange, deviceID: DeviceID, to bytes: inout [UInt8]) {}
    mutating func append(_ line: AlertLine, to bytes: inout [UInt8]) {}
    mutating func append(event line: [UInt8], to bytes: inout [UInt8]) {}
    mutating func end(into bytes: inout [UInt8]) {}

    /// The animal that wore the collar at the time of a fix; nil if none is known to.
    func wearer(at received: ReceivedFix) -> Animal? {
        deployments.wearer(of: received.deviceID, at: received.fix.unixMilliseconds)
    }
}

/// Writes entries of journals in one of the formats.
///
/// A document is ``begin(into:)``, then entries, then ``end(into:)``. After the end, the next document can begin. Memory does not
/// grow with the number of entries.
package struct EntryFormatter {
    private var writer: any FormatWriter
    private var finder: WhereaboutsFinder
    /// The time zone of quiet hours; nil for UTC.
    private let localZone: TimeZoneOffset?
    /// The fixes that were left out because the format cannot express them.
    package var omissions: OmissionCount

    package init(_ options: FormatOptions) {
        writer = options.makeWriter()
        finder = WhereaboutsFinder(options)
        localZone = options.localZone
        annotations = options.annotations
        omissions = OmissionCount(options.format)
    }

    package var deployments: DeploymentTable { annotations.deployments }

    /// The animals and places of the next entries.
    package var annotations: Annotations {
        didSet {
            writer.deployments = annotations.deployments
            finder.places = annotations.places
        }
    }

    /// The owner to whom the distances of the next entries count.
    package var owner: Owner? {
        get { finder.owner }
        set { finder.owner = newValue }
    }

    package mutating func begin(into bytes: inout [UInt8]) { writer.begin(into: &bytes) }

    /// Appends an entry. An entry that the format cannot express appends nothing.
    package mutating func append(_ content: EmittedEntry.Content, deviceID: DeviceID, to bytes: inout [UInt8]) {
        switch content {
        case .fix(let record):
            append(ReceivedFix(deviceID: deviceID, record), to: &bytes)
        case .message(let record): writer.append(record, deviceID: deviceID, to: &bytes)
        case .gap(let change): writer.append(change, deviceID: deviceID, to: &bytes)
        }
    }

    /// Appends a fix. A fix that the format cannot express appends nothing.
    package mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let count = bytes.count
        writer.append(finder.located(received), to: &bytes)
        if bytes.count == count { omissions.add(1) }
    }

    /// Appends an alert. A format without alerts appends nothing.
    package mutating func append(_ alert: RaisedAlert, to bytes: inout [UInt8]) {
        let line = AlertLine(
            alert, name: deployments.wearer(of: alert.deviceID, at: alert.alert.unixMilliseconds)?.name,
            shown: alert.fix.map { finder.located(ReceivedFix(deviceID: alert.deviceID, $0)) },
            owner: owner ?? .home, quietHours: annotations.alerts.quietHours, zone: localZone)
        writer.append(line, to: &bytes)
    }

    /// Appends what a line of the event log says. A format without events appends nothing.
    package mutating func append(event line: [UInt8], to bytes: inout [UInt8]) { writer.append(event: line, to: &bytes) }

    package mutating func end(into bytes: inout [UInt8]) { writer.end(into: &bytes) }
}

/// Fixes that are left out, because the format of the output cannot express them.
package struct Omission: Equatable, Sendable {
    package var format: OutputFormat
    /// How many fixes were left out; nil where the first one is announced.
    package var fixCount: Int?

    package var message: UserMessage {
        UserMessage(
            nil,
            fixCount.map { "The format \(format.rawValue) has left out \($0) fix\($0 == 1 ? "" : "es") \(format.inexpressibleFixes)." }
                ?? "The format \(format.rawValue) leaves out fixes \(format.inexpressibleFixes).",
            format == .homeassistant ? "To include them, give them an accuracy: `--unknown-accuracy METRES`." : nil)
    }
}

/// Counts the fixes that are left out. A person is told of the first one as it happens, and of the number at the end.
package struct OmissionCount {
    private let format: OutputFormat
    private var isAnnounced = false
    /// How many fixes were left out.
    package private(set) var fixCount = 0

    package init(_ format: OutputFormat) { self.format = format }

    package mutating func add(_ count: Int) { fixCount += count }

    /// The announcement after the first fix; nil at any other time.
    package mutating func takeFirst() -> Omission? {
        guard fixCount > 0, !isAnnounced else { return nil }
        isAnnounced = true
        return Omission(format: format, fixCount: nil)
    }

    package var total: Omission? { fixCount > 0 ? Omission(format: format, fixCount: fixCount) : nil }
}

/// A fix with its origin: everything that a fix line contains.
package struct ReceivedFix: Equatable, Sendable {
    package var deviceID: DeviceID
    package var logID: LogID
    /// When the host received the frame, in milliseconds since 1970 by the host's clock; nil if unknown.
    package var receivedUnixMilliseconds: Int64?
    /// The fix in the codes it was logged with.
    package var fix: Fix
    /// The signal that the radio reported for the frame; nil when it reports none.
    package var signal: RadioSignal?
    /// Where the fix is; nil where neither places nor an owner are known.
    package var whereabouts: Whereabouts?

    package init(deviceID: DeviceID, logID: LogID, receivedUnixMilliseconds: Int64?, fix: Fix, signal: RadioSignal? = nil) {
        self.deviceID = deviceID
        self.logID = logID
        self.receivedUnixMilliseconds = receivedUnixMilliseconds
        self.fix = fix
        self.signal = signal
    }

    /// Creates a received fix from a record in a collar's journal; the record does not contain the collar's `deviceID`.
    package init(deviceID: DeviceID, _ record: JournaledFix) {
        self.init(
            deviceID: deviceID, logID: record.logID, receivedUnixMilliseconds: record.receivedUnixMilliseconds,
            fix: record.fix, signal: record.signal)
    }

    /// The permanent identifier.
    var identifier: FixIdentifier { FixIdentifier(deviceID: deviceID, logID: logID, sequence: fix.sequence) }
}

extension OutputFormat {
    fileprivate var inexpressibleFixes: String {
        switch self {
        case .homeassistant: "of unknown accuracy"
        case .influx: "from before 1677 or after 2262"
        case .nmea: "from before 1980 or after 2079"
        case .json, .text, .csv, .gpx, .geojson, .geojsonTrack, .movebank, .owntracks, .traccar: "that it cannot express"
        }
    }
}
