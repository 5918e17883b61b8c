import CollarARQ
import CollarHost
import CollarJournal
import CollarWire

extension HostRequest {
    /// The word for it in requests and results.
    public var verb: String {
        switch self {
        case .command(.startTracking): "track_on"
        case .command(.stopTracking): "track_off"
        case .command(.locateNow): "locate"
        case .command(.sound): "sound"
        case .command(.reboot): "reboot"
        case .command(.pair): "pair"
        case .command(.unpair): "unpair"
        case .report: "get_settings"
        case .order: "set_settings"
        }
    }

    /// Those that are always wanted by their word alone.
    public static let plain: [HostRequest] = [
        .command(.locateNow), .command(.startTracking), .command(.stopTracking), .command(.reboot),
        .command(.unpair), .report,
    ]
}

extension ResultLine {
    /// The line that tells what became of a command.
    /// - Parameter unixMilliseconds: when that became known, in milliseconds since 1970.
    public init(_ report: CommandReport, unixMilliseconds: Int64) {
        var outcome = Outcome.queued
        if case .ended(let end) = report.state { outcome = Outcome(end) }
        self.init(
            outcome: outcome, unixMilliseconds: unixMilliseconds, deviceID: report.deviceID, requestID: report.requestID,
            verb: report.request.verb)
        if case .ended(.outcome(.reported(let version))) = report.state { settingsVersion = version }
        settings = report.settings
    }

    /// What became of the request, for a person.
    public var outcomeText: String {
        switch outcome {
        case .ok: "done"
        case .queued: "still queued; it is sent when the collar is heard"
        case .unknown: "the collar does not know what it is about"
        case .unsupported: "the collar cannot do this"
        case .invalid: "the collar finds a value invalid; nothing was changed"
        case .refused: "refused: the collar belongs to another receiver, or to none"
        case .conflict: "conflict: the collar has settings of a higher version; 'settings get' learns it, then try again"
        case .busy: "the collar is busy; try again"
        case .timeout: "it took the collar too long"
        case .failed: "the collar tried, and it failed"
        case .expired: "no answer in time; it is not sent any more (it may have been done)"
        case .replaced: "replaced by a newer one before it was sent"
        case .rejected: reason ?? "not taken"
        }
    }

    /// The line of a command that the host does not take.
    public init(_ refusal: CommandRefusal, verb: String, unixMilliseconds: Int64) {
        let (code, reason) = refusal.codeAndReason
        self.init(
            rejectedAt: unixMilliseconds, code: code, reason: reason, deviceID: refusal.deviceID,
            verb: verb)
    }
}

extension ResultLine.Outcome {
    fileprivate init(_ end: OutgoingRequests.End) {
        switch end {
        case .replaced: self = .replaced
        case .outcome(.expired): self = .expired
        case .outcome(.reported): self = .ok
        // A collar's outcomes have the same names here.
        case .outcome(.result(let outcome)): self = Self(rawValue: "\(outcome)") ?? .failed
        }
    }
}

extension CommandRefusal {
    fileprivate var codeAndReason: (code: String, reason: String) {
        switch self {
        case .unknownCollar(let deviceID, let known):
            (
                "unknown_collar",
                "collar \(MessageText.hexadecimal(deviceID)) was never heard here; known: \(known.isEmpty ? "none" : Self.names(known))"
            )
        case .noCollar: ("no_collar", "no collar was ever heard here")
        case .whichCollar(let known): ("which_collar", "which collar? There are \(Self.names(known))")
        case .pairedElsewhere:
            ("paired_elsewhere", "the collar belongs to another receiver: it must be paired with this one first")
        case .noRadio: ("no_radio", "no radio is open")
        case .noContact: ("no_contact", "the collar is not heard now")
        case .queueFull: ("queue_full", "too many requests to the collar wait")
        case .noVersion: ("no_version", "the collar's settings have the highest version there is")
        case .unknownRequest(_, let requestID):
            ("unknown_request", "request \(requestID) is not known, or ended long ago")
        case .storage(_, let error): ("storage_failing", error.description)
        }
    }

    private static func names(_ collars: [UInt64]) -> String {
        collars.map { MessageText.hexadecimal($0) }.joined(separator: ", ")
    }
}
