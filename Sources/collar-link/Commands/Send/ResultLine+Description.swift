import CollarFormats
import CollarErrors
import CollarReceiver
import CollarWire

extension ResultLine {
    /// The collar that the line is about, for a message.
    var subject: String { deviceID.map { "collar \(MessageDescription.hexadecimal($0))\(name.map { " (\($0))" } ?? "")" } ?? "the collar" }

    /// The result for a person, in lines that each end with a line feed.
    var text: String {
        // A reply of the collar's application names the id of the request.
        let id = verb == "message" ? requestID.map { "request \($0), " } : nil
        let what = PlainText.line("\(subject): \(id ?? "")\(ResultLine.words(of: verb ?? "request"))")
        guard outcome == .ok, !settings.isEmpty else { return "\(what): \(PlainText.line(outcomeText))\n" }
        var text = "\(what): \(settingsVersion.map(ResultLine.text) ?? "no version")\n"
        for setting in settings {
            guard let key = SettingKey(rawValue: setting.key) else { continue }
            let assignment = "\(key.name)=\(setting.value)"
            let gap = String(repeating: " ", count: max(1, 46 - assignment.utf8.count))
            text += "  \(assignment)\(gap)\(key.meaning)\n"
        }
        return text
    }

    /// A version of settings for a person.
    private static func text(of version: SettingsVersion) -> String {
        guard version > .defaults else { return "the defaults" }
        let time = utcText(unixMilliseconds: Int64(version.number))
        return "version \(version.number), of \(time), by the receiver …\(text(ofOrigin: version.origin))"
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
        case .rejected: code.flatMap(ErrorCode.init)?.exitCode ?? .portBusy
        }
    }
}
