import CollarARQ
import CollarHost
import CollarJournal
import LinuxSystem
import SerialDevices

/// Notices when another program opens a port that is open here, or reads from it.
struct OtherOpenings {
    /// Time after an opening until it is looked at: some programs close the port again at once. Microseconds.
    private static let patience: Int64 = 300_000
    /// Time between two looks, in microseconds.
    private static let interval: Int64 = 1_000_000

    let watcher: OpeningWatcher
    /// When to look which program has the port open; nil if nothing has happened since the last look.
    private(set) var dueAt: Instant?
    var isUnseenReported = false
    private var lookedAt: Instant?

    init(_ watcher: OpeningWatcher) { self.watcher = watcher }

    /// A program has opened the port, or one that had it open before has begun to read.
    mutating func noteNews(at now: Instant) {
        let earliest = now.advanced(byMicroseconds: OtherOpenings.patience)
        dueAt = dueAt ?? lookedAt.map { max(earliest, $0.advanced(byMicroseconds: OtherOpenings.interval)) } ?? earliest
    }

    mutating func noteLook(at now: Instant) {
        lookedAt = now
        dueAt = nil
    }
}

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

    /// Watches for other programs that open an open port, or read from it. The exclusive flag does not keep out the programs of root.
    func watchOpenings(of port: RadioPort, _ line: SerialPort) {
        // If it cannot be watched, a program is found when bytes are missing.
        do throws(SystemError) {
            let watcher = try OpeningWatcher(of: line)
            events.watch(watcher.fileDescriptor, as: .portOpenings(port.id))
            port.openings = OtherOpenings(watcher)
        } catch {}
    }

    func stopWatchingOpenings(of port: RadioPort) {
        if let openings = port.openings { events.forget(openings.watcher.fileDescriptor) }
        port.openings = nil
    }

    /// Takes note of what other programs have done with a port: opened it, read from it, or closed it.
    /// - Parameter isAfterOwnRead: whether a read of this program is among the events; it does not count as one of another program.
    func noteOpenings(of port: RadioPort, isAfterOwnRead: Bool = false, at time: HostTime) {
        if port.openings?.watcher.drain(isAfterOwnRead: isAfterOwnRead) == true { port.openings?.noteNews(at: time.instant) }
    }

    /// Reports the program that has opened a port, or has read from it, and still has it open.
    func lookForOpener(of port: RadioPort, at time: HostTime) {
        port.openings?.noteLook(at: time.instant)
        guard let openings = port.openings, let line = port.connection as? SerialPort else { return }
        lookForReader(of: port, line)
        guard port.lastReader == nil, openings.watcher.isOpen, !openings.isUnseenReported else { return }
        port.openings?.isUnseenReported = true
        report(.read(path: port.path, by: nil))
    }
}

extension HostNotice {
    /// Whether frames are missing that a process may have taken.
    var suggestsMissingBytes: Bool {
        switch self {
        case .link(_, .noIdentity), .collar(_, .health(.condition(.degraded))), .collar(_, .health(.condition(.unhealthy))),
            .collar(_, .health(.late)), .collar(_, .health(.unreachable)):
            true
        default: false
        }
    }
}
