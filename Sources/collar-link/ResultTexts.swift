import CollarBridge
import CollarWire

extension ResultLine {
    /// The collar it is about.
    var subject: String { deviceID.map { "collar \(hexadecimal($0))" } ?? "the collar" }

    /// What became of the request; lines, each with its line feed.
    var text: String {
        let what = "\(subject): \((verb ?? "request").replacing("_", with: " "))"
        guard outcome == .ok, !settings.isEmpty else { return "\(what): \(outcomeText)\n" }
        var text = "\(what): version \(settingsVersion ?? 0)\n"
        for setting in settings {
            guard let key = SettingKey(rawValue: setting.key) else { continue }
            let assignment = "\(key.name)=\(setting.value)"
            let gap = String(repeating: " ", count: max(1, 46 - assignment.utf8.count))
            text += "  \(assignment)\(gap)\(key.meaning)\n"
        }
        return text
    }

    /// What became of the request, for a person.
    var outcomeText: String {
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

    /// What the person can do about a rejection.
    var remedy: String? {
        switch code {
        case "unknown_collar", "which_collar": "name one that is known: --collar ID"
        case "no_collar": "run collar-link until it has heard the collar, or name it: --collar ID"
        case "paired_elsewhere": "switch the collar off and on, and within 60 s: collar-link send pair"
        case "queue_full": "wait until some have ended, or use --latest"
        case "storage_failing": "mend what keeps the state directory from being written"
        default: nil
        }
    }

    /// The exit code that tells a script what became of the request.
    var exitCode: ExitCode {
        switch outcome {
        case .ok: .clean
        case .queued, .busy, .timeout, .expired, .replaced: .portBusy
        case .unknown, .unsupported: .noDevice
        case .invalid: .corruptInput
        case .refused: .noPermission
        case .conflict: .configuration
        case .failed: .inputOutput
        case .rejected:
            switch code {
            case "not_permitted", "paired_elsewhere": .noPermission
            case "unknown_collar", "no_collar": .noInput
            case "which_collar": .usage
            case "storage_failing": .inputOutput
            case "no_version": .configuration
            case "bad_request": .software
            default: .portBusy
            }
        }
    }
}
