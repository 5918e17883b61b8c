import CheckedNumbers
import CollarErrors
import CollarFormats
import FoundationEssentials

/// Something that happened at a radio or a collar: a line of the receiver's event log.
public struct CollarEvent: Equatable, Sendable {
    /// What happened.
    public enum Kind: Equatable, Sendable {
        /// The port of a radio was opened, or unplugged, or closed because it is not marked any more.
        case opened(port: String), unplugged(port: String), closed(port: String)
        /// A collar was heard for the first time since the receiver started.
        case heard(port: String)
        /// A collar was due and did not come.
        case late
        /// A collar missed three heartbeats, or is heard again.
        case unreachable, reachable
        /// Three or ten expected frames in a row are missing, or they come again.
        case degraded, unhealthy, healthy
        /// A collar has restarted; the cause, where it has told one: `none`, `low_voltage_reset`, `watchdog_reset`, `firmware_reset`.
        case restarted(cause: String?)
        /// Something went wrong.
        case problem(UserFacingError)
        /// Another kind of line: figures, a collar's status or power report, the result of a request. ``CollarEvent/json`` has its content.
        case other(String)
    }

    /// What happened.
    public let kind: Kind
    /// When it happened, by the clock of this machine.
    public let date: Date
    /// The id of the collar that it concerns, 16 hexadecimal digits; nil if it concerns none.
    public let collarID: String?
    /// The line of JSON, as `Protocol/LINES.md` describes it.
    public let json: String

    /// Reads a line of the event log; nil if it is none.
    init?(line: [UInt8]) {
        guard let object = try? JSONScanner.value(of: line), let type = object["type"]?.text,
            let time = object["unix_ms"]?.integer(in: .unixMilliseconds), let kind = Kind(type, object)
        else { return nil }
        self.kind = kind
        date = Date(unixMilliseconds: time)
        collarID = object["collar"]?.text
        json = String(decoding: line.last == UInt8(ascii: "\n") ? line.dropLast() : line[...], as: UTF8.self)
    }
}

extension CollarEvent.Kind {
    fileprivate init?(_ type: String, _ object: JSONValue) {
        switch type {
        case LineKind.link.rawValue: self.init(link: object)
        case LineKind.error.rawValue:
            guard let code = object["code"]?.text.flatMap(ErrorCode.init) else { return nil }
            self = .problem(UserFacingError(code, reason: object["reason"]?.text ?? code.title, remedy: object["remedy"]?.text))
        default: self = .other(type)
        }
    }

    private init?(link object: JSONValue) {
        let port = object["port"]?.text ?? ""
        switch object["event"]?.text {
        case "opened": self = .opened(port: port)
        case "unplugged": self = .unplugged(port: port)
        case "closed": self = .closed(port: port)
        case "heard": self = .heard(port: port)
        case "late": self = .late
        case "unreachable": self = .unreachable
        case "reachable": self = .reachable
        case "degraded": self = .degraded
        case "unhealthy": self = .unhealthy
        case "healthy": self = .healthy
        case "restarted": self = .restarted(cause: object["cause"]?.text)
        default: return nil
        }
    }
}
