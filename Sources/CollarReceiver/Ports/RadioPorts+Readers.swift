import CollarHost
import SerialDevices

/// Other processes that take bytes from open ports.
extension RadioPorts {
    /// Bytes seem to be missing: looks for processes that take them, at most once in a time.
    func bytesAreMissing(at time: HostTime) {
        /// Microseconds.
        let interval: Int64 = 60_000_000
        guard readersSoughtAt.map({ time.instant.microseconds(since: $0) >= interval }) ?? true else { return }
        readersSoughtAt = time.instant
        for port in ports { if let line = port.connection as? SerialPort { lookForReader(of: port, line) } }
    }

    /// Reports a process that has an open port open as well, once.
    func lookForReader(of port: RadioPort, _ line: SerialPort) {
        let reader = line.otherReader
        defer { port.lastReader = reader }
        if let reader, reader != port.lastReader { report(.read(path: port.path, by: reader)) }
    }
}

extension HostNotice {
    /// Whether frames are missing that a process may have taken.
    var suggestsMissingBytes: Bool {
        switch self {
        case .noIdentity, .health(_, .condition(.degraded)), .health(_, .condition(.unhealthy)), .health(_, .late),
            .health(_, .unreachable):
            true
        default: false
        }
    }
}
