import CollarDomain
import CollarWire

/// What became of a request to a collar, or that it waits: one line of JSON, as `Protocol/schema/result.schema.json`
/// describes it.
public struct ResultLine: Equatable, Sendable {
    /// What became of it.
    public enum Outcome: String, Sendable, CaseIterable {
        /// It is stored durably, and is sent when the collar is heard.
        case queued
        /// The collar has done it, or told what was asked.
        case ok
        /// The collar does not know what it is about.
        case unknown
        /// The collar cannot do this.
        case unsupported
        /// The collar does not take a value.
        case invalid
        /// The collar does not obey this receiver.
        case refused
        /// The collar has settings of a higher version.
        case conflict
        /// The collar could not do it then.
        case busy
        /// It took the collar too long.
        case timeout
        /// The collar tried, and it failed.
        case failed
        /// The collar did not answer in time; it is not sent any more. It may have been executed.
        case expired
        /// A newer one of the same kind took its place before it was sent.
        case replaced
        /// There was no request: `code` and `reason` tell why.
        case rejected
    }

    /// What became of it.
    public var outcome: Outcome
    /// When that became known, in milliseconds since 1970 by the host's clock.
    public var unixMilliseconds: Int64
    /// The collar's factory id; nil where none was found.
    public var deviceID: UInt64?
    /// The id of the request; nil where it was rejected.
    public var requestID: UInt16?
    /// What was wanted, as a word: `locate`, `get_settings` …
    public var verb: String?
    /// The version of the settings in force, where the collar told it in answer.
    public var settingsVersion: UInt64?
    /// The settings that the collar told in answer, with their names.
    public var settings: [Setting] = []
    /// Of a rejection: a name for programs, in snake case, which stays.
    public var code: String?
    /// Of a rejection: what is wrong, in a sentence.
    public var reason: String?

    /// Creates a line.
    public init(
        outcome: Outcome, unixMilliseconds: Int64, deviceID: UInt64? = nil, requestID: UInt16? = nil, verb: String? = nil
    ) {
        self.outcome = outcome
        self.unixMilliseconds = unixMilliseconds
        self.deviceID = deviceID
        self.requestID = requestID
        self.verb = verb
    }

    /// Creates the line of a rejection.
    public init(
        rejectedAt unixMilliseconds: Int64, code: String, reason: String, deviceID: UInt64? = nil, verb: String? = nil
    ) {
        self.init(outcome: .rejected, unixMilliseconds: unixMilliseconds, deviceID: deviceID, verb: verb)
        self.code = code
        self.reason = reason
    }

    /// The line as text in UTF-8, which ends with a line feed.
    public var bytes: [UInt8] {
        var object = ObjectText(type: "result", unixMilliseconds: unixMilliseconds)
        if let deviceID { object.add("collar", MessageText.hexadecimal(deviceID)) }
        if let requestID { object.add("request", requestID) }
        if let verb { object.add("do", verb) }
        object.add("outcome", outcome.rawValue)
        if let settingsVersion { object.add("settings_version", settingsVersion) }
        if !settings.isEmpty { object.add("settings", settings) }
        if let code { object.add("code", code) }
        if let reason { object.add("reason", reason) }
        return object.line
    }

    /// Reads a line, with or without its line feed; nil for anything else.
    public init?(bytes: some Sequence<UInt8>) {
        let object: JSONText
        do throws(JSONSyntaxError) { object = try JSONScanner.value(of: Array(bytes)) } catch { return nil }
        guard object["type"]?.text == "result", let outcome = object["outcome"]?.text.flatMap({ Outcome(rawValue: $0) }),
            let time = object["unix_ms"]?.integer(Int64.self)
        else { return nil }
        self.init(outcome: outcome, unixMilliseconds: time)
        deviceID = object["collar"]?.text.flatMap { UInt64($0, radix: 16) }
        requestID = object["request"]?.integer()
        verb = object["do"]?.text
        settingsVersion = object["settings_version"]?.integer()
        code = object["code"]?.text
        reason = object["reason"]?.text
        if let values = object["settings"] {
            for key in SettingKey.all {
                if let value = values[key.name]?.integer(UInt32.self) {
                    settings.append(Setting(key: key.rawValue, value: value))
                }
            }
        }
    }

    /// Whether nothing more comes after it.
    public var isFinal: Bool { outcome != .queued }
}
