import CollarARQ
import CollarFormats
import CollarErrors
import CollarHost
import CollarJournal
import CollarWire

extension ResultLine {
    /// The line with the state of a command at the time `unixMilliseconds`, in milliseconds since 1970: queued, or its outcome.
    package init(_ report: RequestReport, unixMilliseconds: Int64) {
        var outcome = Outcome.queued
        if case .ended(let end) = report.state { outcome = Outcome(end) }
        self.init(
            outcome: outcome, unixMilliseconds: unixMilliseconds, deviceID: report.deviceID, requestID: report.requestID,
            verb: report.request.verb)
        if case .ended(.outcome(.reported(let version))) = report.state { settingsVersion = version }
        settings = report.settings
    }

    /// The line of a command that the host refuses.
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
    fileprivate init(_ end: OutgoingRequests.End) {
        switch end {
        case .replaced: self = .replaced
        case .outcome(.expired): self = .expired
        case .outcome(.reported): self = .ok
        // The outcomes that a collar reports have the same names here.
        case .outcome(.result(let outcome)): self = Self(rawValue: "\(outcome)") ?? .failed
        }
    }
}
