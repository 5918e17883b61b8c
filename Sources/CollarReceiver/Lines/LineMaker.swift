import CollarBridge
import CollarHost

/// Makes the consumer's lines from entries, notices and figures.
struct LineMaker {
    private let kinds: Set<LineKind>
    private var format: FormatOptions
    private var formatter: EntryFormatter

    init(_ configuration: ReceiverConfiguration) {
        kinds = configuration.lineKinds
        format = configuration.format
        formatter = EntryFormatter(format)
    }

    /// Whether figures are wanted.
    var writesFigures: Bool { kinds.contains(.stats) }

    /// Which animal wears which collar.
    var animals: DeploymentTable {
        get { format.deployments }
        set {
            format.deployments = newValue
            formatter = EntryFormatter(format)
        }
    }

    /// Appends the line of an entry.
    mutating func append(_ entry: EmittedEntry, to bytes: inout [UInt8]) {
        formatter.append(entry.content, deviceID: entry.deviceID, to: &bytes)
    }

    /// The lines of a notice, each with its line feed.
    func lines(of notice: ReceiverNotice, unixMilliseconds now: Int64) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        if kinds.contains(.link), let line = notice.linkLine(now, animals) { lines.append(line) }
        if kinds.contains(.error), let line = notice.errorLine(now, animals) { lines.append(line) }
        switch notice {
        case .host(.requestEnded(let report)):
            if kinds.contains(.result) { lines.append(named(ResultLine(report, unixMilliseconds: now)).bytes) }
        case .host(.status(let deviceID, let logID, let status)):
            if kinds.contains(.status) {
                let name = animals.wearer(of: deviceID, at: now)?.name
                lines.append(status.line(unixMilliseconds: now, deviceID: deviceID, name: name, logID: logID))
            }
        default: break
        }
        return lines
    }

    /// The lines of figures: one line of the receiver, then one line of each collar.
    func lines(of reading: ReceiverReading, unixMilliseconds now: Int64) -> [[UInt8]] {
        [reading.line(now)] + reading.host.collars.map { $0.line(now, animals) }
    }

    /// A result with the name of the animal that wears the collar.
    func named(_ line: ResultLine) -> ResultLine {
        var line = line
        line.name = line.deviceID.flatMap { animals.wearer(of: $0, at: line.unixMilliseconds)?.name }
        return line
    }
}
