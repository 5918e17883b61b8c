import CollarErrors
import CollarFormats
import CollarJournal
import CollarLink
import CollarWire
import Synchronization

/// Lines that wait.
final class Lines: Sendable {
    private let lines = Mutex<[[UInt8]]>([])

    func append(_ line: [UInt8]) { lines.withLock { $0.append(line) } }

    func takeFirst() -> [UInt8]? { lines.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

extension CollarEvent.Kind {
    /// The line of the event log, with its line feed; nil for kinds that sessions do not write.
    func line(at unixMilliseconds: Int64, deviceID: DeviceID?) -> [UInt8]? {
        if case .problem(let error) = self {
            var object = JSONLine(type: LineKind.error.rawValue, unixMilliseconds: unixMilliseconds)
            object.add("code", error.code.rawValue)
            object.add("title", error.code.title)
            object.add("reason", error.reason)
            object.add("remedy", error.remedy)
            object.add("severity", error.severity.rawValue)
            object.add("retryable", error.isRetryable)
            if let deviceID { object.add(collar: deviceID, name: nil) }
            return object.line
        }
        let (event, port, cause): (String, String?, String?)
        switch self {
        case .opened(let path): (event, port, cause) = ("opened", path, nil)
        case .unplugged(let path): (event, port, cause) = ("unplugged", path, nil)
        case .closed(let path): (event, port, cause) = ("closed", path, nil)
        case .heard(let path): (event, port, cause) = ("heard", path, nil)
        case .late: (event, port, cause) = ("late", nil, nil)
        case .unreachable: (event, port, cause) = ("unreachable", nil, nil)
        case .reachable: (event, port, cause) = ("reachable", nil, nil)
        case .degraded: (event, port, cause) = ("degraded", nil, nil)
        case .unhealthy: (event, port, cause) = ("unhealthy", nil, nil)
        case .healthy: (event, port, cause) = ("healthy", nil, nil)
        case .restarted(let told): (event, port, cause) = ("restarted", nil, told)
        case .problem, .other: return nil
        }
        var object = JSONLine(type: LineKind.link.rawValue, unixMilliseconds: unixMilliseconds)
        object.add("event", event)
        if let port { object.add("port", port) }
        if let deviceID { object.add(collar: deviceID, name: nil) }
        if case .late = self { object.add("silent_ms", 0) }
        if case .unreachable = self { object.add("silent_ms", 0) }
        if let cause { object.add("cause", cause) }
        return object.line
    }
}
