import CollarARQ
import CollarErrors
import CollarFormats
import CollarHost
import CollarJournal
import CollarWire

extension ResultLine {
    /// The line with the name of the animal that wears the collar.
    package func named(by animals: DeploymentTable) -> ResultLine {
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
    package init(_ message: UserMessage, unixMilliseconds: Int64, deviceID: DeviceID? = nil, verb: String? = nil) {
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

extension RequestRefusal: MessageError {
    package var message: UserMessage {
        let (code, reason): (ErrorCode, String) =
            switch self {
            case .unknownCollar(let deviceID, let known):
                (.unknownCollar, "\(collarSubject(deviceID)) was never heard here"
                    + (known.isEmpty ? ", nor was any other collar." : "; the known collar\(known.count == 1 ? " is" : "s are") \(list(known))."))
            case .noCollar: (.noCollar, "No collar was ever heard here.")
            case .whichCollar(let known): (.whichCollar, "Which collar? There are \(list(known)).")
            case .pairedElsewhere:
                (.pairedElsewhere, "The collar belongs to another receiver: it must be paired with this one first.")
            case .notPaired(let deviceID): (.notPaired, "\(collarSubject(deviceID)) belongs to nobody: it must be paired first.")
            case .noRadio: (.noRadio, "No radio is open.")
            case .noContact: (.noContact, "The collar is not heard now.")
            case .queueFull: (.queueFull, "Too many requests wait for the collar.")
            case .noVersion: (.noVersion, "The collar's settings have the highest version there is.")
            case .unknownRequest(_, let requestID):
                (.unknownRequest, "Request \(requestID) is not known, or ended long ago.")
            case .storage(_, let error): (.storageFailing, error.message.reason)
            }
        return UserMessage(code, reason, code.requestRemedy)
    }

    private func list(_ collars: [DeviceID]) -> String { collars.map(\.description).joined(separator: ", ") }
}

extension Host {
    /// Accepts a command to a collar, or reports the state of an earlier command.
    /// - Returns: `queued` if the command is stored durably and has not ended; its outcome if it has ended; or why it is
    ///   refused. After `queued`, ``HostNotice/requestEnded(_:)`` reports the end of the command.
    package func result(of wanted: ControlRequest, at time: HostTime) -> ResultLine {
        do throws(RequestRefusal) {
            let report =
                switch wanted.content {
                case .await(let requestID): try report(ofRequest: requestID, to: wanted.deviceID)
                case .command(let request): try submit(request, to: wanted.deviceID, patience: wanted.patience, at: time)
                }
            return ResultLine(report, unixMilliseconds: time.unixMilliseconds)
        } catch { return ResultLine(error, verb: wanted.verb, unixMilliseconds: time.unixMilliseconds) }
    }
}
