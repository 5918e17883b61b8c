import CollarDomain

/// A change of the link to a radio or a collar: one line of JSON, as `Protocol/schema/link.schema.json` describes it.
public struct LinkLine: Equatable, Sendable {
    /// What happened.
    public enum Event: String, Sendable, CaseIterable {
        /// A radio's port is open.
        case opened
        /// A radio went away.
        case unplugged
        /// A collar is heard for the first time on this run.
        case heard
        /// A collar is heard again after it was late or unreachable.
        case reachable
        /// A collar was due, and is not heard.
        case late
        /// Several heartbeats of a collar did not come.
        case unreachable
        /// What was expected of a collar came again.
        case healthy
        /// Some expected frames in a row did not come.
        case degraded
        /// Many expected frames in a row did not come.
        case unhealthy
    }

    /// What happened.
    public var event: Event
    /// When, in milliseconds since 1970 by the host's clock.
    public var unixMilliseconds: Int64
    /// Path of the port; nil where it is about a collar wherever it is.
    public var port: String?
    /// The collar's factory id; nil where it is about a radio.
    public var deviceID: UInt64?
    /// How long the collar was silent, in milliseconds; nil where that is not known.
    public var silentMilliseconds: Int64?

    /// Creates a line.
    public init(
        event: Event, unixMilliseconds: Int64, port: String? = nil, deviceID: UInt64? = nil,
        silentMilliseconds: Int64? = nil
    ) {
        self.event = event
        self.unixMilliseconds = unixMilliseconds
        self.port = port
        self.deviceID = deviceID
        self.silentMilliseconds = silentMilliseconds
    }

    /// The line as text in UTF-8, which ends with a line feed.
    public var bytes: [UInt8] {
        var object = ObjectText(type: "link")
        object.add("unix_ms", unixMilliseconds)
        object.add("event", event.rawValue)
        if let port { object.add("port", port) }
        if let deviceID { object.add("collar", MessageText.hexadecimal(deviceID)) }
        if let silentMilliseconds { object.add("silent_ms", silentMilliseconds) }
        return object.line
    }
}

/// Something that went wrong: one line of JSON, as `Protocol/schema/error.schema.json` describes it.
public struct ErrorLine: Equatable, Sendable {
    /// A name for programs, in snake case, which stays.
    public var code: String
    /// A few words for a person.
    public var title: String
    /// What happened, in a sentence.
    public var reason: String
    /// What the person can do; nil where there is nothing.
    public var remedy: String?
    /// How bad it is.
    public var severity: UserFacingError.Severity
    /// Whether it may pass without anybody doing anything.
    public var isRetryable: Bool
    /// When, in milliseconds since 1970 by the host's clock.
    public var unixMilliseconds: Int64
    /// Path of the port it is about, if it is about one.
    public var port: String?
    /// The factory id of the collar it is about, if it is about one.
    public var deviceID: UInt64?

    /// Creates a line.
    public init(
        code: String, title: String, reason: String, remedy: String?, severity: UserFacingError.Severity,
        isRetryable: Bool, unixMilliseconds: Int64, port: String? = nil, deviceID: UInt64? = nil
    ) {
        self.code = code
        self.title = title
        self.reason = reason
        self.remedy = remedy
        self.severity = severity
        self.isRetryable = isRetryable
        self.unixMilliseconds = unixMilliseconds
        self.port = port
        self.deviceID = deviceID
    }

    /// The line as text in UTF-8, which ends with a line feed.
    public var bytes: [UInt8] {
        var object = ObjectText(type: "error")
        object.add("unix_ms", unixMilliseconds)
        object.add("code", code)
        object.add("title", title)
        object.add("reason", reason)
        if let remedy { object.add("remedy", remedy) } else { object.addNull("remedy") }
        object.add("severity", severity.rawValue)
        object.add("retryable", isRetryable)
        if let port { object.add("port", port) }
        if let deviceID { object.add("collar", MessageText.hexadecimal(deviceID)) }
        return object.line
    }
}
