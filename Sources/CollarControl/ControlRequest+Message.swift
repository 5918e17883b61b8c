import CollarARQ
import CollarFormats
import CollarJournal
import CollarWire

/// The members of a request with a message for a collar's application. They have the names that they have in message lines.
extension ControlRequest {
    /// The members that only a message has.
    package static let messageKeys: Set<String> = ["kind", "code", "data", "reply_to", "outcome"]

    /// Adds the members of a message.
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
                throw Fault(reason: "\"reply_to\" is not the \"seq\" of the message that is answered")
            }
            guard let outcome = CommandResult.Outcome(name: object["outcome"].map(\.text) ?? "ok") else {
                throw Fault(reason: "\"outcome\" is not \(CommandResult.Outcome.nameList)")
            }
            kind = .reply(to: request, outcome)
        default: throw Fault(reason: "\"kind\" is not \"notice\", \"request\" or \"reply\"")
        }
        if kind == .notice || kind == .request, object["reply_to"] != nil || object["outcome"] != nil {
            throw Fault(reason: "\"reply_to\" and \"outcome\" go with the kind \"reply\"")
        }
        guard let code = object["code"]?.integer(in: 0...UInt8.max) else { throw Fault(reason: "\"code\" is not from 0 to 255") }
        guard let data = [UInt8](hexadecimal: object["data"].map { $0.text ?? "-" } ?? ""),
            let message = ApplicationMessage(kind: kind, code: code, unixSeconds: 0, data: data.span)
        else {
            throw Fault(reason: "\"data\" is not the hexadecimal digits of at most \(ApplicationMessage.dataLimit) bytes")
        }
        return message
    }
}

extension CommandResult.Outcome {
    /// The names of the outcomes, for help and error texts.
    package static var nameList: String {
        let names = names
        return names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
    }

    /// The names of the outcomes.
    package static var names: [String] { (0...UInt8.max).compactMap { Self(rawValue: $0) }.map { "\($0)" } }

    /// The outcome with this name in lines; nil if there is none.
    package init?(name: String?) {
        let found = (0...UInt8.max).lazy.compactMap { Self(rawValue: $0) }.first { "\($0)" == name }
        guard let found else { return nil }
        self = found
    }
}
