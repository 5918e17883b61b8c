import CollarARQ
import CollarErrors
import CollarFormats
import CollarHost
import CollarWire

extension ResultLine {
    /// The line with the name of the animal that wears the collar.
    func named(by animals: DeploymentTable) -> ResultLine {
        var line = self
        line.name = deviceID.flatMap { animals.wearer(of: $0, at: unixMilliseconds)?.name }
        return line
    }

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
    init(_ message: UserMessage, unixMilliseconds: Int64, deviceID: DeviceID? = nil, verb: String? = nil) {
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
