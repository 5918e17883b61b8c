import CollarErrors
import CollarFormats

extension ResultLine {
    /// The outcome of the request, for a person.
    package var outcomeText: String {
        switch outcome {
        case .ok: "done"
        case .queued: "still queued; it is sent when the collar is heard"
        case .unknown: "the collar does not know this request"
        case .unsupported: "the collar cannot do this"
        case .invalid: "the collar finds a value invalid; nothing was changed"
        case .refused: "refused: the collar belongs to another receiver, or to none; run 'collar-link send pair' first"
        case .conflict:
            "conflict: the collar has settings of a higher version; read them with 'settings get', then try again"
        case .busy: "the collar is busy; try again"
        case .timeout: "the collar took too long"
        case .failed: "the collar tried, and it failed"
        case .expired: "no answer in time; the request is no longer sent, but the collar may have executed it"
        case .replaced: "replaced by a newer one before it was sent"
        case .rejected: reason ?? "not accepted"
        }
    }

    /// The remedy for a rejection.
    package var remedy: String? { code.flatMap(ErrorCode.init)?.requestRemedy }
}
