import CheckedNumbers
import CollarWire

/// The outcome of a request to a collar, or the confirmation that the request is queued: one line of JSON, as
/// `Protocol/schema/result.schema.json` describes it.
package struct ResultLine: Equatable, Sendable {
    package enum Outcome: String, Sendable, CaseIterable {
        /// The request is stored durably, and is sent when the collar is heard.
        case queued
        /// The collar has executed the request, or has sent what was asked for.
        case ok
        /// The collar does not know the request.
        case unknown
        /// The collar knows the request, but cannot execute it.
        case unsupported
        /// The collar finds a value invalid.
        case invalid
        /// The collar does not obey this receiver.
        case refused
        /// The collar has settings of a higher version, or other settings of this version.
        case conflict
        /// The collar was busy and has not executed the request.
        case busy
        /// The collar reports that the request took too long.
        case timeout
        /// The collar tried to execute the request and failed.
        case failed
        /// The collar did not answer in time. The request is not sent any more; it is unknown whether the collar executed it.
        case expired
        /// A newer request of the same kind replaced this one before it was sent.
        case replaced
        /// The request was not accepted: `code` and `reason` tell why.
        case rejected
    }

    package var outcome: Outcome
    /// When the outcome became known, in milliseconds since 1970 by the host's clock.
    package var unixMilliseconds: Int64
    /// The collar's factory id; nil where no collar was found.
    package var deviceID: DeviceID?
    /// The animal that wears the collar; nil where none is known to.
    package var name: String?
    /// The id of the request; nil where it was rejected.
    package var requestID: UInt16?
    /// The verb of the request: `locate`, `get_settings` …
    package var verb: String?
    /// The version of the settings in force; nil unless the collar's answer contains it.
    package var settingsVersion: SettingsVersion?
    package var settings: [Setting] = []
    /// The reason for a rejection, as a name in snake case for programs; the names never change.
    package var code: String?
    /// The reason for a rejection, in a sentence.
    package var reason: String?

    /// The origin of a version of settings: the last five hexadecimal digits of the id of the receiver
    /// that gave the version.
    package static func text(ofOrigin origin: UInt32) -> String { MessageDescription.hexadecimal(UInt64(origin), digits: 5) }

    /// A verb in words for a person: `get settings`.
    package static func words(of verb: String) -> String { String(verb.map { $0 == "_" ? " " : $0 }) }

    package init(
        outcome: Outcome, unixMilliseconds: Int64, deviceID: DeviceID? = nil, requestID: UInt16? = nil, verb: String? = nil
    ) {
        self.outcome = outcome
        self.unixMilliseconds = unixMilliseconds
        self.deviceID = deviceID
        self.requestID = requestID
        self.verb = verb
    }

    package init(rejectedAt unixMilliseconds: Int64, code: String, reason: String, deviceID: DeviceID? = nil, verb: String? = nil) {
        self.init(outcome: .rejected, unixMilliseconds: unixMilliseconds, deviceID: deviceID, verb: verb)
        self.code = code
        self.reason = reason
    }

    /// The line as text in UTF-8, which ends with a line feed.
    package var bytes: [UInt8] {
        var object = JSONLine(type: "result", unixMilliseconds: unixMilliseconds)
        if let deviceID { object.add(collar: deviceID, name: name) }
        if let requestID { object.add("request", requestID) }
        if let verb { object.add("do", verb) }
        object.add("outcome", outcome.rawValue)
        if let settingsVersion {
            object.add("settings_version", settingsVersion.number)
            object.add("settings_origin", ResultLine.text(ofOrigin: settingsVersion.origin))
        }
        if !settings.isEmpty { object.add("settings", settings) }
        if let code { object.add("code", code) }
        if let reason { object.add("reason", reason) }
        return object.line
    }

    /// Reads a line, with or without its line feed; nil if it is not a result line.
    package init?(bytes: some Sequence<UInt8>) {
        guard let object = try? JSONScanner.value(of: Array(bytes)), object["type"]?.text == "result", let outcome = object["outcome"]?.text.flatMap({ Outcome(rawValue: $0) }),
            let time = object["unix_ms"]?.integer(in: .unixMilliseconds)
        else { return nil }
        self.init(outcome: outcome, unixMilliseconds: time)
        deviceID = object["collar"]?.text.flatMap { DeviceID(hexadecimal: $0) }
        name = object["name"]?.text
        requestID = object["request"]?.integer(in: 0 ... .max)
        verb = object["do"]?.text
        if let number = object["settings_version"]?.integer(in: 0...UInt64.max),
            let origin = object["settings_origin"]?.text.flatMap({ UInt32(hexadecimal: $0) })
        {
            settingsVersion = SettingsVersion(number: number, origin: origin)
        }
        code = object["code"]?.text
        reason = object["reason"]?.text
        settings = SettingKey.all.compactMap { key in
            object["settings"]?[key.name]?.integer(in: 0...UInt32.max).map { Setting(key: key.rawValue, value: $0) }
        }
    }

    /// Whether no further line follows for the request.
    package var isFinal: Bool { outcome != .queued }
}
