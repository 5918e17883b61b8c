import CheckedNumbers
import CollarARQ
import CollarConfiguration
import CollarControl
import CollarErrors
import CollarWire

struct SendArguments {
    var request: ControlRequest
    /// How long to wait for the result, in microseconds.
    let timeoutMicroseconds: Int64
    let ports: [String]
    let radio: RadioConfiguration
    let stateDirectory: String
    let isJSON: Bool

    /// Whether a person looks for an animal, and is to hear that its collar has answered.
    var ringsBell: Bool { if case .command(.command(.find(let seconds))) = request.content { seconds > 0 } else { false } }

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let seconds = try arguments.number("--timeout", in: 0...3600) ?? 30
        timeoutMicroseconds = Int64(seconds * 1e6)
        ports = try arguments.ports()
        radio = try arguments.radio()
        stateDirectory = try arguments.readableStateDirectory()
        isJSON = try arguments.choice("--format", of: ["text": false, "json": true]) ?? false
        let modes = ["--queue", "--now", "--latest"].filter { arguments.has($0) }
        guard modes.count <= 1 else {
            throw CommandFailure.excluding(
                modes[0], modes[1], remedy: "Leave out all of them but one: the request waits (`--queue`), fails at once (`--now`), or "
                    + "replaces those of its kind (`--latest`).")
        }
        request = ControlRequest(try SendArguments.content(arguments))
        let isUndoable = !["pair", "unpair", "message"].contains(arguments.operands.first)
        request.deviceID = try arguments.wantedCollar(takesPrefix: isUndoable)
        switch modes.first {
        case "--now":
            guard timeoutMicroseconds >= 1000 else {
                throw CommandFailure(.usage, "`--now --timeout \(seconds)` leaves no time for an answer.")
            }
            request.mode = .now
            request.timeoutMicroseconds = timeoutMicroseconds
        case "--latest": request.mode = .latest
        default: request.mode = .queue
        }
        // A new receiver may pair a collar before it has stored anything.
        if arguments.operands.first != "pair" { try arguments.requireStateDirectory() }
    }

    private static func content(_ arguments: ParsedArguments) throws(CommandFailure) -> ControlRequest.Content {
        let words = arguments.operands
        let receiverID = try arguments.receiverID()
        if receiverID != nil, words != ["pair"] { throw CommandFailure(.usage, "`--to` goes with `pair`.") }
        if words.first == "message" { return .command(.message(try arguments.message(words.dropFirst()))) }
        for option in ["--data", "--wants-reply", "--reply-to", "--outcome"] where arguments.has(option) {
            throw CommandFailure(.usage, "`\(option)` goes with `message`.")
        }
        switch (words.first, words.dropFirst().first, words.count) {
        case ("locate", _, 1): return .command(.command(.locateNow))
        case ("find", let text, 1...2): return .command(.command(.find(seconds: try findSeconds(text ?? usualFindTime))))
        case ("report", _, 1): return .command(.command(.reportPower))
        case ("sound", let text?, 2): return .command(.command(.sound(milliseconds: try milliseconds(text))))
        case ("track", "on", 2): return .command(.command(.startTracking))
        case ("track", "off", 2): return .command(.command(.stopTracking))
        case ("reboot", _, 1): return .command(.command(.reboot))
        case ("pair", _, 1): return .command(.command(.pair(receiverID: receiverID ?? 0)))
        case ("unpair", _, 1): return .command(.command(.unpair))
        case ("settings", "get", 2): return .command(.settingsRequest)
        case ("settings", "set", 3...): return .command(.settingsUpdate(version: .defaults, try settings(words.dropFirst(2))))
        case (nil, _, _): throw usage("What shall be sent?")
        case (let verb?, _, _):
            if let form = SendArguments.forms.first(where: { $0.key == verb })?.value {
                throw CommandFailure(.usage, "'\(words.joined(separator: " "))' is not a request: type \(form).")
            }
            throw usage("'\(verb)' is nothing that can be sent." + Suggestion.text(forVerb: verb, among: SendArguments.forms.map(\.key)))
        }
    }

    /// The requests, and how each is typed.
    private static let forms: KeyValuePairs = [
        "locate": "`locate`", "find": "`find [DURATION]`", "sound": "`sound SECONDS`", "report": "`report`", "track": "`track on|off`",
        "reboot": "`reboot`",
        "settings": "`settings get`, or `settings set KEY=VALUE …`", "message": "`message CODE [TEXT]`", "pair": "`pair`", "unpair": "`unpair`",
    ]

    private static func usage(_ message: String) -> CommandFailure {
        CommandFailure(
            .usage, message,
            remedy: "Requests are: \(forms.map(\.value).joined(separator: "; ")).")
    }

    /// How long *find* lasts if no duration is typed.
    static let usualFindTime = "30m"

    private static func findSeconds(_ text: String) throws(CommandFailure) -> UInt16 {
        if text == "off" { return 0 }
        guard let seconds = DurationText.seconds(text).flatMap({ UInt16(exactly: $0) }), seconds > 0 else {
            throw CommandFailure(
                .usage, "`find` takes a duration from 1s to 65535s such as 45s, 30m or 2h, or `off`, not '\(text)'.",
                remedy: "Without a duration it lasts \(usualFindTime).")
        }
        return seconds
    }

    private static func milliseconds(_ text: String) throws(CommandFailure) -> UInt16 {
        guard let seconds = Double(text, in: 0.1...65) else {
            throw CommandFailure(.usage, "`sound` takes a number of seconds from 0.1 to 65, not '\(text)'.")
        }
        return UInt16(seconds * 1000)
    }

    private static func settings(_ words: ArraySlice<String>) throws(CommandFailure) -> SettingList {
        guard words.count <= HostRequest.settingLimit else {
            throw CommandFailure(
                .usage, "\(words.count) settings are too many: one request changes at most \(HostRequest.settingLimit).",
                remedy: "Send the others with another `settings set`.")
        }
        var settings = SettingList()
        for setting in try [Setting](words: words) { settings.append(setting) }
        return settings
    }
}

extension ParsedArguments {
    /// The message of `send message CODE [TEXT]`, from its operands after `message`, and its options.
    func message(_ words: ArraySlice<String>) throws(CommandFailure) -> ApplicationMessage {
        guard let codeText = words.first, let code = UInt8(codeText, in: 0 ... .max) else {
            throw CommandFailure(.usage, "`message` needs a code from 0 to 255: `message CODE [TEXT]`.")
        }
        guard words.count <= 2 else {
            throw CommandFailure(.usage, "`message` takes one text.", remedy: "Quote a text with spaces: 'come home'.")
        }
        let text = words.dropFirst().first
        guard text == nil || !has("--data") else {
            throw CommandFailure.excluding("TEXT", "--data", remedy: "Leave out the text to send bytes, or `--data` to send the text.")
        }
        guard let data = value("--data").map({ [UInt8](hexadecimal: $0) }) ?? Array((text ?? "").utf8) else {
            throw CommandFailure(.usage, "`--data` takes hexadecimal digits, two for each byte, not '\(value("--data") ?? "")'.")
        }
        guard let message = ApplicationMessage(kind: try messageKind(), code: code, unixSeconds: 0, data: data.span) else {
            throw CommandFailure(
                .usage, "A message has at most \(ApplicationMessage.dataLimit) bytes, and this one has \(data.count).")
        }
        return message
    }

    private func messageKind() throws(CommandFailure) -> ApplicationMessage.Kind {
        let outcomeText = value("--outcome")
        guard let request = try integer("--reply-to", in: 0...Int(UInt32.max)) else {
            guard outcomeText == nil else { throw CommandFailure(.usage, "`--outcome` goes with `--reply-to`.") }
            return has("--wants-reply") ? .request : .notice
        }
        guard !has("--wants-reply") else {
            throw CommandFailure.excluding(
                "--reply-to", "--wants-reply", remedy: "Leave out `--wants-reply` to send a reply, or `--reply-to` to ask for one.")
        }
        guard let outcome = CommandResult.Outcome(name: outcomeText ?? "ok") else {
            throw CommandFailure(
                .usage, "`--outcome` takes \(CommandResult.Outcome.names.alternatives), not '\(outcomeText ?? "")'."
                    + Suggestion.text(for: outcomeText ?? "", among: CommandResult.Outcome.names))
        }
        return .reply(to: UInt32(request), outcome)
    }
}
