import CollarARQ
import CollarBridge
import CollarDomain
import CollarHost
import CollarWire

/// What somebody at the control socket wants: one line of JSON, at most ``byteLimit`` bytes with its line feed.
///
///     {"type":"request","do":"sound","ms":5000,"collar":"910a2dec89025cc1","mode":"now","timeout_ms":30000}
///
/// The answers are lines of ``ResultLine``: one at once, and after `queued` another when the request has ended.
public struct ControlRequest: Equatable, Sendable {
    /// What is wanted.
    public enum Wish: Equatable, Sendable {
        /// A command to the collar. The version of settings and the receiver of a *pair* are left 0: the host sets them.
        case command(HostRequest)
        /// What became of the request of this id, now or when it ends.
        case await(requestID: UInt16)
    }

    /// How long the request may wait.
    public enum Mode: String, Sendable {
        /// Until the collar is heard, for a week, also over restarts.
        case queue
        /// No longer than the time that is given with it.
        case now
        /// As ``queue``; requests of the same kind that were never sent are given up.
        case latest
    }

    /// What is wrong with a line.
    public struct Fault: Error, Equatable, Sendable {
        /// In a sentence.
        public var reason: String
    }

    /// Bytes of the longest line.
    public static let byteLimit = 4096
    /// Time that ``Mode/now`` may last, in milliseconds: an hour at most.
    public static let timeoutRange: ClosedRange<Int64> = 1...3_600_000

    /// What is wanted.
    public var wish: Wish
    /// Of which collar; nil for the only one.
    public var deviceID: UInt64?
    /// How long it may wait.
    public var mode = Mode.queue
    /// Of ``Mode/now``: how long, in milliseconds.
    public var timeoutMilliseconds: Int64 = 30_000

    /// Creates a request.
    public init(_ wish: Wish, deviceID: UInt64? = nil, mode: Mode = .queue, timeoutMilliseconds: Int64 = 30_000) {
        self.wish = wish
        self.deviceID = deviceID
        self.mode = mode
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    /// What is wanted, as a word.
    public var verb: String {
        switch wish {
        case .command(let request): request.verb
        case .await: "await"
        }
    }

    /// How long the host may let the command wait.
    var patience: CommandPatience {
        switch mode {
        case .queue: .untilHeard
        case .latest: .latest
        case .now: .now(milliseconds: timeoutMilliseconds)
        }
    }

    /// The line, which ends with a line feed.
    public var line: [UInt8] {
        var object = ObjectText(type: "request")
        object.add("do", verb)
        if let deviceID { object.add("collar", MessageText.hexadecimal(deviceID)) }
        switch wish {
        case .command(.command(.sound(let milliseconds))): object.add("ms", milliseconds)
        case .command(.command(.pair(let receiverID))) where receiverID != 0:
            object.add("to", MessageText.hexadecimal(UInt64(receiverID), digits: 8))
        case .command(.order(_, let list)): object.add("settings", (0..<list.count).map { list[$0] })
        case .await(let requestID):
            object.add("request", requestID)
            return object.line
        default: break
        }
        object.add("mode", mode.rawValue)
        if mode == .now { object.add("timeout_ms", timeoutMilliseconds) }
        return object.line
    }

    /// Reads a line.
    public init(line: some Sequence<UInt8>) throws(Fault) {
        let object: JSONText
        do throws(JSONSyntaxError) { object = try JSONScanner.value(of: Array(line)) } catch {
            throw Fault(reason: "not JSON at byte \(error.byteOffset): \(error.problem)")
        }
        guard case .object(let members) = object else { throw Fault(reason: "\(object.kind), where an object is expected") }
        guard object["type"] == nil || object["type"] == .string("request") else {
            throw Fault(reason: "\"type\" is not \"request\"")
        }
        guard let verb = object["do"]?.text else { throw Fault(reason: "\"do\" is missing: what is wanted?") }
        var known: Set<String> = ["type", "do", "collar"]
        wish = try ControlRequest.wish(verb, object, &known)
        if verb != "await" { known.formUnion(["mode", "timeout_ms"]) }
        for member in members where object[member.key] == nil || !known.contains(member.key) {
            throw Fault(reason: "\"\(member.key)\" is not expected here, or given twice")
        }
        if let value = object["collar"] {
            guard let text = value.text, let id = ControlRequest.deviceID(text) else {
                throw Fault(reason: "\"collar\" is not 16 hexadecimal digits")
            }
            deviceID = id
        }
        if let value = object["mode"] {
            guard let mode = value.text.flatMap({ Mode(rawValue: $0) }) else {
                throw Fault(reason: "\"mode\" is not \"queue\", \"now\" or \"latest\"")
            }
            self.mode = mode
        }
        if let value = object["timeout_ms"] {
            guard let time = value.integer(Int64.self), ControlRequest.timeoutRange.contains(time) else {
                throw Fault(reason: "\"timeout_ms\" is not a number of milliseconds from 1 to 3600000")
            }
            timeoutMilliseconds = time
        }
    }

    /// The collar of a text of 16 hexadecimal digits; nil for any other text.
    public static func deviceID(_ text: String) -> UInt64? {
        guard text.utf8.count == 16, text.allSatisfy(\.isHexDigit) else { return nil }
        return UInt64(text, radix: 16)
    }

    /// The receiver of a text of 8 hexadecimal digits, not all of them 0; nil for any other text.
    public static func receiverID(_ text: String) -> UInt32? {
        guard text.utf8.count == 8, text.allSatisfy(\.isHexDigit), let receiverID = UInt32(text, radix: 16) else { return nil }
        return receiverID == 0 ? nil : receiverID
    }

    private static func wish(_ verb: String, _ object: JSONText, _ known: inout Set<String>) throws(Fault) -> Wish {
        switch verb {
        case "sound":
            known.insert("ms")
            guard let time = object["ms"]?.integer(UInt16.self) else {
                throw Fault(reason: "\"ms\" is not a number of milliseconds from 0 to 65535")
            }
            return .command(.command(.sound(milliseconds: time)))
        case "set_settings":
            known.insert("settings")
            return .command(.order(version: 0, try settings(object["settings"])))
        case "pair":
            known.insert("to")
            guard let other = object["to"] else { return .command(.command(.pair(receiverID: 0))) }
            guard let receiverID = other.text.flatMap(receiverID) else {
                throw Fault(reason: "\"to\" is not 8 hexadecimal digits")
            }
            return .command(.command(.pair(receiverID: receiverID)))
        case "await":
            known.insert("request")
            guard let id = object["request"]?.integer(UInt16.self) else {
                throw Fault(reason: "\"request\" is not the id of a request")
            }
            return .await(requestID: id)
        default:
            guard let plain = HostRequest.plain.first(where: { $0.verb == verb }) else {
                throw Fault(reason: "\"do\" is \"\(verb)\", which is nothing that can be wanted")
            }
            return .command(plain)
        }
    }

    private static func settings(_ value: JSONText?) throws(Fault) -> SettingList {
        guard let value, case .object(let members) = value, !members.isEmpty, members.count <= HostRequest.settingLimit else {
            throw Fault(reason: "\"settings\" is not an object of 1 to \(HostRequest.settingLimit) settings")
        }
        var settings = SettingList()
        for member in members {
            guard let key = SettingKey(name: member.key), value[member.key] != nil else {
                throw Fault(reason: "\"\(member.key)\" is no setting, or given twice")
            }
            guard let number = member.value.integer(UInt32.self), key.range.contains(number) else {
                let range = key.range
                throw Fault(reason: "\"\(member.key)\" is not from \(range.lowerBound) to \(range.upperBound)")
            }
            settings.append(Setting(key: key.rawValue, value: number))
        }
        return settings
    }
}
