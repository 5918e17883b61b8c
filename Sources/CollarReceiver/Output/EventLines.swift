import CollarFormats
import CollarHost
import CollarWire

extension ReportedNotice {
    /// Calls `body` with the kind and the bytes of each line of the notice.
    func forEachLine(at now: Int64, _ animals: DeploymentTable, _ body: (LineKind, [UInt8]) -> Void) {
        if let line = notice.linkLine(now, animals) { body(.link, line) }
        if let line = errorLine(now, animals) { body(.error, line) }
        switch notice {
        case .host(.requestEnded(let report)): body(.result, ResultLine(report, unixMilliseconds: now).named(by: animals).bytes)
        case .host(.collar(let deviceID, .status(let logID, let status))):
            let name = animals.wearer(of: deviceID, at: now)?.name
            body(.status, status.line(unixMilliseconds: now, deviceID: deviceID, name: name, logID: logID))
        case .host(.collar(let deviceID, .power(let logID, let report))):
            let name = animals.wearer(of: deviceID, at: now)?.name
            body(.power, report.line(unixMilliseconds: now, deviceID: deviceID, name: name, logID: logID))
        default: break
        }
    }

    /// The line of an error, as `Protocol/schema/error.schema.json` describes it; nil for a notice without an error code.
    func errorLine(_ now: Int64, _ animals: DeploymentTable = DeploymentTable()) -> [UInt8]? {
        guard let code = notice.code else { return nil }
        var object = JSONLine(type: "error", unixMilliseconds: now)
        object.add("code", code.rawValue)
        object.add("title", code.title)
        object.add("reason", message.reason)
        object.add("remedy", message.remedy)
        object.add("severity", code.severity.rawValue)
        object.add("retryable", code.isRetryable)
        if let port = notice.port { object.add("port", port) }
        if let deviceID = notice.deviceID { object.add(collar: deviceID, name: animals.wearer(of: deviceID, at: now)?.name) }
        return object.line
    }
}

extension ReceiverNotice {
    /// The line of a change of a link, as `Protocol/schema/link.schema.json` describes it; nil for any other notice.
    func linkLine(_ now: Int64, _ animals: DeploymentTable = DeploymentTable()) -> [UInt8]? {
        switch self {
        case .repeated(let notice, _): notice.linkLine(now, animals)
        case .port(let path, .opened): line(of: "opened", now, port: path)
        case .port(let path, .unmarked): line(of: "closed", now, port: path)
        case .port(let path, .unplugged): line(of: "unplugged", now, port: path)
        case .host(.collar(let deviceID, .heard(_, let path, _))): line(of: "heard", now, port: path, animals, deviceID: deviceID)
        case .host(.collar(let deviceID, .health(.condition(let condition)))):
            line(of: condition.rawValue, now, animals, deviceID: deviceID)
        case .host(.collar(let deviceID, .health(.reachable(let silence)))):
            line(of: "reachable", now, animals, deviceID: deviceID, silentMicroseconds: silence)
        case .host(.collar(let deviceID, .health(.late(let silence)))):
            line(of: "late", now, animals, deviceID: deviceID, silentMicroseconds: silence)
        case .host(.collar(let deviceID, .health(.unreachable(let silence)))):
            line(of: "unreachable", now, animals, deviceID: deviceID, silentMicroseconds: silence)
        case .host(.collar(let deviceID, .restarted(let cause))):
            line(of: "restarted", now, animals, deviceID: deviceID, cause: cause.map { $0.name ?? "none" })
        default: nil
        }
    }

    private func line(
        of event: String, _ now: Int64, port: String? = nil, _ animals: DeploymentTable = DeploymentTable(),
        deviceID: DeviceID? = nil, silentMicroseconds: Int64? = nil, cause: String? = nil
    ) -> [UInt8] {
        var object = JSONLine(type: "link", unixMilliseconds: now)
        object.add("event", event)
        if let port { object.add("port", port) }
        if let deviceID { object.add(collar: deviceID, name: animals.wearer(of: deviceID, at: now)?.name) }
        if let silentMicroseconds { object.add("silent_ms", silentMicroseconds / 1000) }
        if let cause { object.add("cause", cause) }
        return object.line
    }
}

// Figures at one moment: lines of JSON, as `Protocol/schema/stats.schema.json` describes them.

extension ReceiverReading {
    /// One line of the receiver, then one line of each collar.
    func lines(at now: Int64, _ animals: DeploymentTable) -> [[UInt8]] { [line(now)] + host.collars.map { $0.line(now, animals) } }

    func line(_ now: Int64) -> [UInt8] {
        let counts = host.statistics
        var object = JSONLine(type: "stats", unixMilliseconds: now)
        object.add("fixes_stored", counts.fixes)
        object.add("messages_stored", counts.messages)
        object.add("duplicates", counts.duplicates)
        object.add("uptime_s", uptimeMicroseconds / 1_000_000)
        object.add("lines", lineCount)
        object.add("frames", counts.frames)
        object.add("frames_damaged", counts.damagedFrames)
        object.add("frames_unknown", counts.unknownFrames)
        object.add("frames_unsupported", counts.unsupportedFrames)
        object.add("frames_malformed", counts.malformedFrames)
        object.add("output_blocked_ms", outputBlockedMicroseconds.map { $0 / 1000 })
        object.add("storage_failing", host.isStorageFailing)
        object.add(journalByteCount: host.journalByteCount, host.lag)
        return object.line
    }
}

extension CollarReading {
    func line(_ now: Int64, _ animals: DeploymentTable) -> [UInt8] {
        var object = JSONLine(type: "stats", unixMilliseconds: now)
        object.add(collar: deviceID, name: animals.wearer(of: deviceID, at: now)?.name)
        object.add("log", logID?.rawValue)
        object.add("fixes_stored", fixCount)
        object.add("messages_stored", messageCount)
        object.add("duplicates", duplicateCount)
        object.add("highest_seq", highestSequence)
        object.add("missing", missingCount)
        object.add(journalByteCount: journalByteCount, lag)
        return object.line
    }
}

extension JSONLine {
    fileprivate mutating func add(journalByteCount: Int?, _ lag: EmissionLag?) {
        add("journal_bytes", journalByteCount)
        add("lag_bytes", lag?.byteCount)
        add("lag_ms", lag?.milliseconds)
    }
}
