import CollarErrors
import CollarFormats
import CollarWire

/// Why a request has no answer, and what is known of it.
struct RequestFailure: Error {
    enum Fate {
        /// The collar has certainly not executed it, and will not.
        case notExecuted
        /// The answer may still come: it is in the queue of the receiver, or the collar has it.
        case open
        /// It has ended, and the collar may have executed it.
        case unknown
    }

    let error: UserFacingError
    let fate: Fate

    init(_ error: UserFacingError, _ fate: Fate = .notExecuted) {
        self.error = error
        self.fate = fate
    }

    /// A request whose answer did not come in time.
    /// - Parameters:
    ///   - queued: the line that says that it is queued; nil if none has come.
    ///   - isCancelled: whether the task was cancelled before.
    init(unanswered queued: ResultLine?, isCancelled: Bool) {
        let event = isCancelled ? "The task was cancelled before the collar has answered" : "The collar has not answered in time"
        guard let queued else {
            self.init(
                UserFacingError(.collarNotReachable, reason: "\(event). It is not known whether the request is queued.", remedy: Self.remedy),
                .unknown)
            return
        }
        let id = queued.requestID.map { "request \($0)" } ?? "request"
        self.init(
            UserFacingError(
                .collarNotReachable, reason: "\(event). The \(id) waits in the queue of the receiver, and is sent when the collar is heard.",
                remedy: Self.remedy), .open)
    }

    /// A line that ends a request without success.
    init(_ line: ResultLine) {
        let text = line.reason ?? UserFacingError.text(of: line.outcome)
        switch line.outcome {
        case .rejected:
            let code = line.code.flatMap(ErrorCode.init) ?? .unknown
            self.init(UserFacingError(rejectedAs: code, reason: text))
        case .replaced:
            self.init(UserFacingError(.tooManyRequests, reason: text, remedy: "Use the delivery `.queued` if each request must be sent."))
        case .expired:
            self.init(UserFacingError(.collarNotReachable, reason: text, remedy: Self.remedy), .unknown)
        default: self.init(UserFacingError(outcome: line.outcome))
        }
    }

    private static let remedy = "Bring the collar in range, and see with `collar-link status` when it was heard."
}

extension UserFacingError {
    /// An outcome of the collar other than `ok`.
    init(outcome: ResultLine.Outcome) {
        let reason = Self.text(of: outcome)
        switch outcome {
        case .unknown, .unsupported, .invalid:
            self.init(.badRequest, reason: reason, remedy: "Compare the code and the data with those that the firmware of the collar knows.")
        case .refused: self.init(.notPaired, reason: reason, remedy: ErrorCode.notPaired.requestRemedy)
        case .conflict: self.init(.collarFault, reason: reason, remedy: "Read what is in force, and try again.")
        default: self.init(.collarFault, reason: reason, remedy: "Try again.")
        }
    }

    /// A reply of the collar that cannot be read.
    init(unreadableReply count: Int, as type: Any.Type) {
        self.init(
            .badRequest, reason: "The collar's reply of \(count) bytes is no \(type).",
            remedy: "Compare the type of the response with the reply that the firmware of the collar sends.")
    }

    fileprivate static func text(of outcome: ResultLine.Outcome) -> String {
        switch outcome {
        case .unknown: "The collar does not know this request."
        case .unsupported: "The collar cannot do this."
        case .invalid: "The collar finds a value invalid, and has changed nothing."
        case .refused: "The collar refuses this request, because it belongs to another receiver, or to none."
        case .conflict: "The collar has a higher version, and keeps it."
        case .busy: "The collar is busy."
        case .timeout: "The collar took too long."
        case .expired: "The collar has not answered in time. The request is no longer sent, but the collar may have executed it."
        case .replaced: "A newer request of the same kind has replaced this one before it was sent."
        default: "The collar tried, and it failed."
        }
    }

    /// A request that the receiver does not accept.
    init(rejectedAs code: ErrorCode, reason: String) {
        self.init(code, reason: reason, remedy: Self.remedy(ofRejection: code))
    }

    /// The step after a rejection, in the words of Swift.
    private static func remedy(ofRejection code: ErrorCode) -> String? {
        switch code {
        case .unknownCollar, .whichCollar: "Name one that is known, by the name of its animal or by all 16 digits of its id: `collar-link status` shows them."
        case .noCollar: "Let `collar-link run` hear the collar, or name it, as in `Collar(\"910a2dec89025cc1\")`."
        case .noRadio: "Plug the radio in, or use the delivery `.queued`."
        case .noContact: "Bring the collar in range, or use the delivery `.queued`."
        case .queueFull: "Wait until some have ended, or use the delivery `.latest`."
        case .notPermitted: "Run this program as the user who runs collar-link, or as root."
        case .tooManyClients, .tooManyRequests: "Wait until some requests have ended."
        default: code.requestRemedy
        }
    }
}

extension ResultLine.Outcome {
    init(_ outcome: CommandResult.Outcome) { self = ResultLine.Outcome(rawValue: "\(outcome)") ?? .failed }
}
