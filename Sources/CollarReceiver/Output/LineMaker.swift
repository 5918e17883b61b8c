import CollarARQ
import CollarErrors
import CollarFormats
import CollarHost
import CollarJournal

/// Makes the consumer's lines from entries, notices and figures.
struct LineMaker {
    private let kinds: Set<LineKind>
    private var format: FormatOptions
    private var formatter: EntryFormatter
    /// Entries that the format has left out.
    var omissions: OmissionCount {
        get { formatter.omissions }
        set { formatter.omissions = newValue }
    }

    init(_ configuration: ReceiverConfiguration) {
        kinds = configuration.lineKinds
        format = configuration.format
        formatter = EntryFormatter(format)
    }

    var writesFigures: Bool { kinds.contains(.stats) }

    var animals: DeploymentTable {
        get { format.deployments }
        set {
            format.deployments = newValue
            formatter.setDeployments(newValue)
        }
    }

    /// Appends what is before the first line.
    mutating func begin(into bytes: inout [UInt8]) { formatter.begin(into: &bytes) }

    /// Appends what is after the last line.
    mutating func end(into bytes: inout [UInt8]) { formatter.end(into: &bytes) }

    mutating func append(_ entry: EmittedEntry, to bytes: inout [UInt8]) {
        formatter.append(entry.content, deviceID: entry.deviceID, to: &bytes)
    }

    /// A line that is not of an entry.
    struct EventLine {
        let kind: LineKind
        let bytes: [UInt8]
    }

    func writes(_ kind: LineKind) -> Bool { kinds.contains(kind) }

    func lines(of notice: ReceiverNotice, unixMilliseconds now: Int64) -> [EventLine] {
        var lines: [EventLine] = []
        if let line = notice.linkLine(now, animals) { lines.append(EventLine(kind: .link, bytes: line)) }
        if let line = notice.errorLine(now, animals) { lines.append(EventLine(kind: .error, bytes: line)) }
        switch notice {
        case .host(.requestEnded(let report)):
            lines.append(EventLine(kind: .result, bytes: named(ResultLine(report, unixMilliseconds: now)).bytes))
        case .host(.status(let deviceID, let logID, let status)):
            let name = animals.wearer(of: deviceID, at: now)?.name
            let bytes = status.line(unixMilliseconds: now, deviceID: deviceID, name: name, logID: logID)
            lines.append(EventLine(kind: .status, bytes: bytes))
        default: break
        }
        return lines
    }

    /// The lines of figures: one line of the receiver, then one line of each collar.
    func lines(of reading: ReceiverReading, unixMilliseconds now: Int64) -> [EventLine] {
        ([reading.line(now)] + reading.host.collars.map { $0.line(now, animals) }).map { EventLine(kind: .stats, bytes: $0) }
    }

    func named(_ line: ResultLine) -> ResultLine {
        var line = line
        line.name = line.deviceID.flatMap { animals.wearer(of: $0, at: line.unixMilliseconds)?.name }
        return line
    }
}

extension ResultLine {
    /// The line with the state of a command at the time `unixMilliseconds`, in milliseconds since 1970: queued, or its outcome.
    package init(_ report: RequestReport, unixMilliseconds: Int64) {
        var outcome = Outcome.queued
        if case .ended(let ended) = report.state { outcome = Outcome(ended) }
        self.init(
            outcome: outcome, unixMilliseconds: unixMilliseconds, deviceID: report.deviceID, requestID: report.requestID,
            verb: report.request.verb)
        if case .ended(.reported(let version)) = report.state { settingsVersion = version }
        settings = report.settings
    }

    package init(_ refusal: RequestRefusal, verb: String, unixMilliseconds: Int64) {
        self.init(refusal.message, unixMilliseconds: unixMilliseconds, deviceID: refusal.deviceID, verb: verb)
    }

    /// The line of a request that is rejected for the reason of a message.
    init(_ message: UserMessage, unixMilliseconds: Int64, deviceID: UInt64? = nil, verb: String? = nil) {
        self.init(
            rejectedAt: unixMilliseconds, code: (message.code ?? .unknown).rawValue, reason: message.reason, deviceID: deviceID,
            verb: verb)
    }
}

extension ResultLine.Outcome {
    fileprivate init(_ outcome: HostRequestOutcome) {
        self =
            switch outcome {
            case .replaced: .replaced
            case .expired: .expired
            case .reported, .result(.ok): .ok
            case .result(.unknown): .unknown
            case .result(.unsupported): .unsupported
            case .result(.invalid): .invalid
            case .result(.refused): .refused
            case .result(.conflict): .conflict
            case .result(.busy): .busy
            case .result(.timeout): .timeout
            case .result(.failed): .failed
            }
    }
}
