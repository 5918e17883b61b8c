import CollarBridge
import CollarHost
import CollarJournal
import SerialDevices

extension ReceiverNotice {
    /// The line of a change of a link, as `Protocol/schema/link.schema.json` describes it; nil for any other notice.
    func linkLine(_ now: Int64) -> [UInt8]? {
        switch self {
        case .opened(let path): line(of: "opened", now, port: path)
        case .unplugged(let path, _): line(of: "unplugged", now, port: path)
        case .host(.collar(let deviceID, _, let path)): line(of: "heard", now, port: path, deviceID: deviceID)
        case .host(.health(let deviceID, .condition(let condition))):
            line(of: condition.rawValue, now, deviceID: deviceID)
        case .host(.health(let deviceID, .reachable(let silence))):
            line(of: "reachable", now, deviceID: deviceID, silentMicroseconds: silence)
        case .host(.health(let deviceID, .late(let silence))):
            line(of: "late", now, deviceID: deviceID, silentMicroseconds: silence)
        case .host(.health(let deviceID, .unreachable(let silence))):
            line(of: "unreachable", now, deviceID: deviceID, silentMicroseconds: silence)
        default: nil
        }
    }

    private func line(
        of event: String, _ now: Int64, port: String? = nil, deviceID: UInt64? = nil, silentMicroseconds: Int64? = nil
    ) -> [UInt8] {
        var object = ObjectText(type: "link", unixMilliseconds: now)
        object.add("event", event)
        if let port { object.add("port", port) }
        if let deviceID { object.add("collar", MessageText.hexadecimal(deviceID)) }
        if let silentMicroseconds { object.add("silent_ms", silentMicroseconds / 1000) }
        return object.line
    }

    /// The line of an error, as `Protocol/schema/error.schema.json` describes it; nil for any other notice.
    func errorLine(_ now: Int64) -> [UInt8]? {
        guard let kind = errorKind else { return nil }
        var object = ObjectText(type: "error", unixMilliseconds: now)
        object.add("code", kind.code)
        object.add("title", kind.title)
        object.add("reason", text)
        object.add("remedy", remedy)
        object.add("severity", kind.severity.rawValue)
        object.add("retryable", kind.isRetryable)
        if let port { object.add("port", port) }
        if let deviceID { object.add("collar", MessageText.hexadecimal(deviceID)) }
        return object.line
    }

    private var port: String? {
        switch self {
        case .cannotOpen(let error): error.path
        case .host(let notice): notice.link
        default: nil
        }
    }

    private var deviceID: UInt64? { if case .host(let notice) = self { notice.deviceID } else { nil } }

    /// What the error is; nil for a notice that is none.
    var errorKind: ErrorKind? {
        switch self {
        case .cannotOpen(let error): error.kind
        case .controlFailing: ErrorKind("control_failing", "No control socket", .warning)
        case .host(let notice): notice.errorKind
        default: nil
        }
    }
}

extension HostNotice {
    fileprivate var link: String? {
        switch self {
        case .noIdentity(let link, _), .collarRefused(_, let link, _), .unknownAsksIgnored(let link): link
        default: nil
        }
    }

    fileprivate var deviceID: UInt64? {
        switch self {
        case .commandsSetAside(let deviceID, _), .commandsFailing(let deviceID, _), .pairedElsewhere(let deviceID, _),
            .copiedJournal(let deviceID, _), .journalDamage(let deviceID, _), .journalUnavailable(let deviceID, _),
            .cannotRemoveOld(let deviceID, _), .journalUnreadable(let deviceID, _), .storageFailing(let deviceID, _),
            .misbehaving(let deviceID, _), .collarRefused(let deviceID, _, _), .health(let deviceID, _):
            deviceID
        default: nil
        }
    }

    fileprivate var errorKind: ErrorKind? {
        switch self {
        case .noIdentity(_, let seconds):
            seconds < 5
                ? ErrorKind("session_not_established", "No session yet", .warning, isRetryable: true)
                : ErrorKind("session_timeout", "No collar in time", .warning, isRetryable: true)
        case .pairedElsewhere: ErrorKind("paired_elsewhere", "Collar belongs to another receiver", .critical)
        case .copiedJournal: ErrorKind("receiver_copied", "Another receiver than before", .error)
        case .journalDamage: ErrorKind("journal_damaged", "Journal damaged", .error)
        case .cannotRemoveOld: ErrorKind("old_fixes_kept", "Old fixes cannot be removed", .warning, isRetryable: true)
        case .storageFailing(_, .stopped): ErrorKind("storage_failing", "Storage failing", .critical)
        case .storageFailing: ErrorKind("storage_failing", "Storage failing", .critical, isRetryable: true)
        case .journalUnavailable: ErrorKind("journal_unavailable", "Journal cannot be opened", .critical, isRetryable: true)
        case .journalUnreadable: ErrorKind("journal_unreadable", "Journal cannot be read", .error, isRetryable: true)
        case .commandsSetAside: ErrorKind("requests_damaged", "Requests damaged", .error)
        case .commandsFailing: ErrorKind("requests_failing", "Requests cannot be stored", .error, isRetryable: true)
        case .misbehaving(_, let misbehaviour):
            ErrorKind(misbehaviour.code, "Collar misbehaves", .warning)
        case .collarRefused(_, _, .tooManyCollars): ErrorKind("too_many_collars", "Collar not taken up", .warning)
        case .collarRefused(_, _, .tooManyAtOnce):
            ErrorKind("too_many_new_collars", "Collar not taken up now", .warning, isRetryable: true)
        case .unknownAsksIgnored: ErrorKind("too_many_unknown_asks", "Unknown collars ask too often", .warning)
        case .health(_, .unreachable):
            ErrorKind("collar_not_reachable", "Collar not reachable", .warning, isRetryable: true)
        case .health(_, .condition(.unhealthy)): ErrorKind("link_unhealthy", "Link unhealthy", .error, isRetryable: true)
        default: nil
        }
    }
}

/// What an error is called, and how bad it is.
struct ErrorKind {
    /// How bad it is.
    enum Severity: String {
        /// It should pass; if not, something needs to be done.
        case warning
        /// Something failed; it is tried again.
        case error
        /// Nothing works until somebody acts.
        case critical
    }

    var code: String
    var title: String
    var severity: Severity
    var isRetryable: Bool

    init(_ code: String, _ title: String, _ severity: Severity, isRetryable: Bool = false) {
        self.code = code
        self.title = title
        self.severity = severity
        self.isRetryable = isRetryable
    }
}

extension SerialPortError {
    fileprivate var kind: ErrorKind {
        switch self {
        case .busy: ErrorKind("device_in_use", "Radio in use", .critical, isRetryable: true)
        case .permissionDenied: ErrorKind("permission_denied", "Permission denied", .critical)
        case .notATerminal: ErrorKind("not_a_serial_port", "Not a serial port", .critical)
        case .notFound, .disconnected: ErrorKind("no_device", "No device", .warning, isRetryable: true)
        case .system: ErrorKind("port_failed", "Port cannot be set up", .error, isRetryable: true)
        }
    }
}
