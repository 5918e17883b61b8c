import CheckedNumbers
import CollarARQ
import CollarErrors
import CollarFormats
import CollarJournal
import CollarWire

/// A request that a program sends to the control socket: one line of JSON, at most ``byteLimit`` bytes with its line
/// feed.
///
///     {"type":"request","do":"sound","ms":5000,"collar":"910a2dec89025cc1","mode":"now","timeout_ms":30000}
///
/// The answers are lines of `ResultLine`: one at once and, if its outcome is `queued`, another when the request ends.
package struct ControlRequest: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        /// A command to the collar. The host sets the version of a settings update and the time of a message; in the command *pair* with receiver 0, it
        /// replaces the 0 by its own id.
        case command(HostRequest)
        /// The result of the request with this id, at once if the request has ended, or else when it ends.
        case await(requestID: UInt16)
    }

    /// How long the request may wait.
    package enum Mode: String, Sendable {
        /// Until the collar is heard, but at most a week, also across restarts.
        case queue
        /// At most as long as ``timeoutMicroseconds``.
        case now
        /// As ``queue``; the request also replaces earlier requests of the same kind that were not sent yet.
        case latest
    }

    package struct Fault: Error, Equatable, Sendable {
        package var reason: String
    }

    /// The length of the longest line, in bytes, with its line feed.
    package static let byteLimit = 4096
    /// The range of ``timeoutMicroseconds`` in a line, in milliseconds: at most an hour.
    package static let timeoutRange: ClosedRange<Int64> = 1...3_600_000

    package var content: Content
    /// The id of the collar; may be nil where there is only one collar.
    package var deviceID: DeviceID?
    package var mode = Mode.queue
    /// How long a request of ``Mode/now`` may wait, in microseconds.
    package var timeoutMicroseconds: Int64 = 30_000_000

    package init(_ content: Content, deviceID: DeviceID? = nil, mode: Mode = .queue, timeoutMicroseconds: Int64 = 30_000_000) {
        self.content = content
        self.deviceID = deviceID
        self.mode = mode
        self.timeoutMicroseconds = timeoutMicroseconds
    }

    package var verb: String {
        switch content {
        case .command(let request): request.verb
        case .await: "await"
        }
    }

    package var patience: RequestPatience {
        switch mode {
        case .queue: .untilHeard
        case .latest: .latest
        case .now: .now(microseconds: timeoutMicroseconds)
        }
    }

    /// The request as a line that ends with a line feed.
    package var line: [UInt8] {
        var object = JSONLine(type: "request")
        object.add("do", verb)
        if let deviceID { object.add("collar", deviceID.description) }
        switch content {
        case .command(.command(.sound(let milliseconds))): object.add("ms", milliseconds)
        case .command(.command(.find(let seconds))): object.add("seconds", seconds)
        case .command(.command(.pair(let receiverID))) where receiverID != 0:
            object.add("to", MessageDescription.hexadecimal(UInt64(receiverID), digits: 8))
        case .command(.settingsUpdate(_, let list)): object.add("settings", (0..<list.count).map { list[$0] })
        case .command(.message(let message)): ControlRequest.add(message, to: &object)
        case .await(let requestID):
            object.add("request", requestID)
            return object.line
        default: break
        }
        object.add("mode", mode.rawValue)
        if mode == .now { object.add("timeout_ms", timeoutMicroseconds / 1000) }
        return object.line
    }

    package init(line: some Sequence<UInt8>) throws(Fault) {
        let object: JSONValue
        do throws(JSONSyntaxError) { object = try JSONScanner.value(of: Array(line)) } catch {
            throw Fault(reason: "The line is not JSON at byte \(error.byteOffset): \(error.problem).")
        }
        guard case .object(let members) = object else { throw Fault(reason: "The line is \(object.kind), where an object is expected.") }
        guard object["type"] == nil || object["type"] == .string("request") else {
            throw Fault(reason: "\"type\" is not \"request\".")
        }
        guard let verb = object["do"]?.text else { throw Fault(reason: "\"do\" is missing.") }
        var known: Set<String> = ["type", "do", "collar"]
        content = try ControlRequest.content(verb, object, &known)
        if verb != "await" { known.formUnion(["mode", "timeout_ms"]) }
        for member in members where object[member.key] == nil || !known.contains(member.key) {
            throw Fault(reason: "\"\(member.key)\" is not expected here, or given twice.")
        }
        if let value = object["collar"] {
            guard let id = value.text.flatMap(CollarID.deviceID) else {
                throw Fault(reason: "\"collar\" is not 16 hexadecimal digits.")
            }
            deviceID = id
        }
        if let value = object["mode"] {
            guard let mode = value.text.flatMap(Mode.init) else {
                throw Fault(reason: "\"mode\" is not \"queue\", \"now\" or \"latest\".")
            }
            self.mode = mode
        }
        if let value = object["timeout_ms"] {
            guard let time = value.integer(in: ControlRequest.timeoutRange) else {
                throw Fault(reason: "\"timeout_ms\" is not a number of milliseconds from 1 to 3600000.")
            }
            timeoutMicroseconds = time * 1000
        }
    }

    /// Reads the id of a receiver from 8 hexadecimal digits, not all of them 0; nil for any other text.
    package static func receiverID(_ text: String) -> UInt32? {
        guard text.utf8.count == 8 else { return nil }
        return UInt32(hexadecimal: text, in: 1 ... .max)
    }

    private static func content(_ verb: String, _ object: JSONValue, _ known: inout Set<String>) throws(Fault) -> Content {
        switch verb {
        case "sound":
            known.insert("ms")
            guard let time = object["ms"]?.integer(in: 0...UInt16.max) else {
                throw Fault(reason: "\"ms\" is not a number of milliseconds from 0 to 65535.")
            }
            return .command(.command(.sound(milliseconds: time)))
        case "find":
            known.insert("seconds")
            guard let time = object["seconds"]?.integer(in: 0...UInt16.max) else {
                throw Fault(reason: "\"seconds\" is not a number of seconds from 0 to 65535.")
            }
            return .command(.command(.find(seconds: time)))
        case "set_settings":
            known.insert("settings")
            return .command(.settingsUpdate(version: .defaults, try settings(object["settings"])))
        case "pair":
            known.insert("to")
            guard let other = object["to"] else { return .command(.command(.pair(receiverID: 0))) }
            guard let receiverID = other.text.flatMap(receiverID) else {
                throw Fault(reason: "\"to\" is not 8 hexadecimal digits.")
            }
            return .command(.command(.pair(receiverID: receiverID)))
        case "message":
            known.formUnion(messageKeys)
            return .command(.message(try message(object)))
        case "await":
            known.insert("request")
            guard let id = object["request"]?.integer(in: 0...UInt16.max) else {
                throw Fault(reason: "\"request\" is not the id of a request.")
            }
            return .await(requestID: id)
        default:
            guard let plain = HostRequest.plain.first(where: { $0.verb == verb }) else {
                throw Fault(reason: "\"do\" is \"\(verb)\", which is not a known request.")
            }
            return .command(plain)
        }
    }

    private static func settings(_ value: JSONValue?) throws(Fault) -> SettingList {
        guard let value, case .object(let members) = value, !members.isEmpty, members.count <= HostRequest.settingLimit else {
            throw Fault(reason: "\"settings\" is not an object of 1 to \(HostRequest.settingLimit) settings.")
        }
        var settings = SettingList()
        for member in members {
            guard let key = SettingKey(name: member.key), value[member.key] != nil else {
                throw Fault(reason: "\"\(member.key)\" is no setting, or given twice.")
            }
            guard let number = member.value.integer(in: 0...UInt32.max), key.accepts(number) else {
                throw Fault(reason: "\"\(member.key)\" is not from \(key.rangeText).")
            }
            settings.append(Setting(key: key.rawValue, value: number))
        }
        return settings
    }

    // The members of a request with a message for a collar's application. They have the names that they have in message lines.

    /// The members that only a message has.
    package static let messageKeys: Set<String> = ["kind", "code", "data", "reply_to", "outcome"]

    package static func add(_ message: ApplicationMessage, to object: inout JSONLine) {
        object.add("kind", message.kind.name)
        object.add("code", message.code)
        if case .reply(let request, let outcome) = message.kind {
            object.add("reply_to", request)
            object.add("outcome", "\(outcome)")
        }
        object.add("data", String(hexadecimal: message.data))
    }

    /// Reads a message. The host sets its time.
    package static func message(_ object: JSONValue) throws(Fault) -> ApplicationMessage {
        let kind: ApplicationMessage.Kind
        switch object["kind"].map(\.text) ?? (object["reply_to"] == nil ? "notice" : "reply") {
        case "notice": kind = .notice
        case "request": kind = .request
        case "reply":
            guard let request = object["reply_to"]?.integer(in: 0...UInt32.max) else {
                throw Fault(reason: "\"reply_to\" is not the \"seq\" of the message that is answered.")
            }
            guard let outcome = CommandResult.Outcome(name: object["outcome"].map(\.text) ?? "ok") else {
                throw Fault(reason: "\"outcome\" is not \(CommandResult.Outcome.names.alternatives).")
            }
            kind = .reply(to: request, outcome)
        default: throw Fault(reason: "\"kind\" is not \"notice\", \"request\" or \"reply\".")
        }
        if kind == .notice || kind == .request, object["reply_to"] != nil || object["outcome"] != nil {
            throw Fault(reason: "\"reply_to\" and \"outcome\" go with the kind \"reply\".")
        }
        guard let code = object["code"]?.integer(in: 0...UInt8.max) else { throw Fault(reason: "\"code\" is not from 0 to 255.") }
        guard let data = [UInt8](hexadecimal: object["data"].map { $0.text ?? "-" } ?? ""),
            let message = ApplicationMessage(kind: kind, code: code, unixSeconds: 0, data: data.span)
        else {
            throw Fault(reason: "\"data\" is not the hexadecimal digits of at most \(ApplicationMessage.dataLimit) bytes.")
        }
        return message
    }
}

extension CommandResult.Outcome {
    private static var all: [Self] { (0...UInt8.max).compactMap { Self(rawValue: $0) } }

    package static var names: [String] { all.map { "\($0)" } }

    /// The outcome with this name in lines; nil if there is none.
    package init?(name: String?) {
        guard let found = Self.all.first(where: { "\($0)" == name }) else { return nil }
        self = found
    }
}

extension HostRequest {
    /// The verb of the request in lines of requests and results.
    package var verb: String {
        switch self {
        case .command(.startTracking): "track_on"
        case .command(.stopTracking): "track_off"
        case .command(.locateNow): "locate"
        case .command(.sound): "sound"
        case .command(.reboot): "reboot"
        case .command(.pair): "pair"
        case .command(.unpair): "unpair"
        case .command(.find): "find"
        case .command(.reportPower): "report"
        case .settingsRequest: "get_settings"
        case .settingsUpdate: "set_settings"
        case .message: "message"
        }
    }

    /// The requests that take no argument.
    package static let plain: [HostRequest] = [
        .command(.locateNow), .command(.startTracking), .command(.stopTracking), .command(.reboot),
        .command(.unpair), .command(.reportPower), .settingsRequest,
    ]
}

extension ResultLine {
    package var outcomeText: String {
        switch outcome {
        case .ok: "done"
        case .queued: "still queued; it is sent when the collar is heard"
        case .unknown: "the collar does not know this request"
        case .unsupported: "the collar cannot do this"
        case .invalid: "the collar finds a value invalid; nothing was changed"
        case .refused: "the collar refuses it, because it belongs to another receiver, or to none; run `collar-link send pair` first"
        case .conflict: "the collar has settings of a higher version; read them with `collar-link send settings get`, then try again"
        case .busy: "the collar is busy; try again"
        case .timeout: "the collar took too long"
        case .failed: "the collar tried, and it failed"
        case .expired: "no answer in time; the request is no longer sent, but the collar may have executed it"
        case .replaced: "replaced by a newer one before it was sent"
        case .rejected: reason ?? "not accepted"
        }
    }

    package var remedy: String? { code.flatMap(ErrorCode.init)?.requestRemedy }
}
