import CollarBridge
import CollarReceiver
import CollarWire

extension ResultLine {
    /// The collar it is about.
    var subject: String { deviceID.map { "collar \(MessageText.hexadecimal($0))" } ?? "the collar" }

    /// What became of the request; lines, each with its line feed.
    var text: String {
        let what = PlainText.line("\(subject): \((verb ?? "request").replacing("_", with: " "))")
        guard outcome == .ok, !settings.isEmpty else { return "\(what): \(PlainText.line(outcomeText))\n" }
        var text = "\(what): version \(settingsVersion ?? 0)\n"
        for setting in settings {
            guard let key = SettingKey(rawValue: setting.key) else { continue }
            let assignment = "\(key.name)=\(setting.value)"
            let gap = String(repeating: " ", count: max(1, 46 - assignment.utf8.count))
            text += "  \(assignment)\(gap)\(key.meaning)\n"
        }
        return text
    }

    /// What the person can do about a rejection.
    var remedy: String? {
        switch code {
        case "unknown_collar", "which_collar": "name one that is known: --collar ID"
        case "no_collar": "run collar-link until it has heard the collar, or name it: --collar ID"
        case "paired_elsewhere": "switch the collar off and on, and within 60 s: collar-link send pair"
        case "no_radio": "plug the radio in, or wait for it: leave out --now"
        case "no_contact": "bring the collar in range, or wait for it: leave out --now"
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
            case "no_radio", "no_contact": .noDevice
            case "storage_failing": .inputOutput
            case "no_version": .configuration
            case "bad_request": .software
            default: .portBusy
            }
        }
    }
}
