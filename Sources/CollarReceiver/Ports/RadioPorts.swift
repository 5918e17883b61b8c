import CollarARQ
import CollarHost
import SerialDevices

/// The ports of a receiver: finds them, opens them, and carries bytes between them and the host.
final class RadioPorts {
    /// Times between attempts to open a port that another program has open, in microseconds; the last time repeats. It also
    /// applies to a path that cannot be watched.
    private static let retryTimes: [Int64] = [1_000_000, 4_000_000, 9_000_000]
    /// Time within which udev sets the access list of a new node, in microseconds.
    private static let permissionTime: Int64 = 300_000
    /// The maximum number of reads from one port before other ports and the journal are served.
    private static let readLimit = 16

    private let configuration: ReceiverConfiguration
    private let events: EventPoll
    private let host: Host
    private let report: (ReceiverNotice) -> Void
    private var ports: [RadioPort] = []
    private var portOfLink: [LinkID: RadioPort] = [:]
    private var monitor: DeviceMonitor?
    private var readBuffer = [UInt8](repeating: 0, count: 65_536)

    init(
        _ configuration: ReceiverConfiguration, events: EventPoll, host: Host, report: @escaping (ReceiverNotice) -> Void
    ) {
        self.configuration = configuration
        self.events = events
        self.host = host
        self.report = report
    }

    /// Opens the ports that the user named, or looks for radios.
    func open(at time: HostTime) throws(ReceiverError) {
        guard configuration.ports.isEmpty else {
            for path in configuration.ports { try openNamed(add(path, isNamedByUser: true), at: time) }
            return
        }
        // The monitor listens before the radios are listed, so that no radio plugged in meanwhile is missed.
        let monitor: DeviceMonitor
        do throws(SystemError) { monitor = try DeviceMonitor() } catch { throw .discovery(error) }
        self.monitor = monitor
        events.watch(monitor.fileDescriptor, as: .deviceMonitor)
        for device in monitor.collarRadios() { appeared(device, at: time) }
        if !ports.contains(where: { $0.serialPort != nil }) {
            if !configuration.reconnects { throw .noDevice(path: nil) }
            if ports.isEmpty { report(.waitingForRadio(others: monitor.allSerialDevices())) }
        }
    }

    private func add(_ path: String, isNamedByUser: Bool) -> RadioPort {
        let link = host.addLink(named: path)
        let port = RadioPort(id: PortID(index: ports.count), link: link, path: path, isNamedByUser: isNamedByUser)
        ports.append(port)
        portOfLink[link] = port
        return port
    }

    /// Handles the events of udev.
    func handleDeviceEvents(at time: HostTime) {
        while let event = monitor?.receive() {
            switch event {
            case .added(let device), .changed(let device):
                if device.isCollarRadio { appeared(device, at: time) }
            case .removed(let node):
                guard let port = ports.first(where: { $0.path == node }) else { continue }
                close(port, at: time)
                port.state = .gone
            case .eventsLost:
                for device in monitor?.collarRadios() ?? [] { appeared(device, at: time) }
            }
        }
    }

    private func appeared(_ device: SerialDevice, at time: HostTime) {
        let port = ports.first { $0.path == device.node } ?? add(device.node, isNamedByUser: false)
        if port.serialPort == nil { tryOpening(port, at: time) }
    }

    /// Tries to open a port; if that fails, arranges the next try.
    private func tryOpening(_ port: RadioPort, attempt: Int = 0, at time: HostTime) {
        stopWaiting(port)
        do throws(SerialPortError) { try openLine(port, at: time) } catch {
            arrangeRetry(port, after: error, attempt: attempt, at: time)
        }
    }

    /// Tries for the first time to open a port that the user named. If the port exists but cannot be used, the error is
    /// thrown at once, because only the user can resolve it. If the port does not exist, the receiver waits for it, or throws
    /// the error if it does not reconnect.
    private func openNamed(_ port: RadioPort, at time: HostTime) throws(ReceiverError) {
        do throws(SerialPortError) { try openLine(port, at: time) } catch {
            guard configuration.reconnects else { throw .port(error) }
            switch error {
            case .notFound, .disconnected: arrangeRetry(port, after: error, attempt: 1, at: time)
            case .busy, .permissionDenied, .notATerminal, .system: throw .port(error)
            }
        }
    }

    /// Opens the device at a port's path, unless the device is already open by another path, or the path leads by the same
    /// links as before to the number of a closed pseudo-terminal, which another program's terminal may now have.
    private func openLine(_ port: RadioPort, at time: HostTime) throws(SerialPortError) {
        if ports.contains(where: { $0.serialPort?.isNamed(by: port.path) == true }) {
            port.state = .shared
            return
        }
        if let route = port.route, route == TerminalRoute(of: port.path) { throw .notFound(path: port.path) }
        let serial = try SerialPort(opening: port.path)
        port.route = TerminalRoute(toNumberAt: port.path)
        port.state = .open(serial, outbound: [])
        port.lastComplaint = nil
        events.watch(serial.fileDescriptor, as: .port(port.id))
        report(.opened(path: port.path))
        host.linkOpened(port.link, at: time)
    }

    private func arrangeRetry(_ port: RadioPort, after error: SerialPortError, attempt: Int, at time: HostTime) {
        if case .permissionDenied = error, attempt == 0 {
            port.state = .retrying(
                at: time.instant.advanced(byMicroseconds: RadioPorts.permissionTime), attempt: 1)
            return
        }
        if case .busy = error {
            complain(port, error)
            let delay = RadioPorts.retryTimes[min(attempt, RadioPorts.retryTimes.count - 1)]
            port.state = .retrying(at: time.instant.advanced(byMicroseconds: delay), attempt: attempt + 1)
            return
        }
        watch(port, attempt: attempt, at: time)
        complain(port, error)
    }

    private func complain(_ port: RadioPort, _ error: SerialPortError) {
        guard port.serialPort == nil, port.lastComplaint != error else { return }
        port.lastComplaint = error
        if case .notFound = error {
            if port.isNamedByUser { report(.waitingForPort(path: port.path)) }
        } else {
            report(.cannotOpen(error))
        }
    }

    /// Watches the path for a change. A change before the watch begins would be missed, so the port is then tried once more.
    private func watch(_ port: RadioPort, attempt: Int, at time: HostTime) {
        do throws(SystemError) {
            let watcher = try PathWatcher(path: port.path)
            do throws(SerialPortError) { try openLine(port, at: time) } catch {
                port.state = .waiting(watcher)
                events.watch(watcher.fileDescriptor, as: .port(port.id))
            }
        } catch {
            let delay = RadioPorts.retryTimes[RadioPorts.retryTimes.count - 1]
            port.state = .retrying(at: time.instant.advanced(byMicroseconds: delay), attempt: attempt + 1)
        }
    }

    private func stopWaiting(_ port: RadioPort) {
        if case .waiting(let watcher) = port.state { events.forget(watcher.fileDescriptor) }
        port.state = .gone
    }

    /// Handles an event of the descriptor of a port.
    func handle(_ id: PortID, _ event: EventPoll.Event, at time: HostTime) throws(ReceiverError) {
        let port = ports[id.index]
        switch port.state {
        case .open(let serial, _):
            if event.isReadable { try read(port, serial, at: time) }
            if event.isWritable { flush(port) }
        case .waiting(let watcher):
            var isWorthTrying = true
            do throws(SystemError) { isWorthTrying = try watcher.drain() } catch {}
            if isWorthTrying { tryOpening(port, at: time) }
        case .retrying, .shared, .gone:
            break
        }
    }

    /// The earliest time at which a port is tried again; nil if no port has such a time.
    var nextDeadline: Instant? { ports.compactMap(\.nextDeadline).min() }

    /// Tries again to open the ports that are due.
    func deadlineReached(at time: HostTime) {
        for port in ports {
            if case .retrying(let due, let attempt) = port.state, time.instant >= due {
                tryOpening(port, attempt: attempt, at: time)
            }
        }
    }

    private func read(_ port: RadioPort, _ serial: SerialPort, at time: HostTime) throws(ReceiverError) {
        for _ in 0..<RadioPorts.readLimit {
            switch serial.read(into: &readBuffer) {
            case .bytes(let count):
                host.receive(readBuffer.span.extracting(0..<count), on: port.link, at: time)
                if count < 256 { return }
            case .wouldBlock:
                return
            case .disconnected:
                close(port, at: time)
                guard configuration.reconnects else { throw .noDevice(path: port.path) }
                if port.isNamedByUser, port.route?.isNumber != true { tryOpening(port, at: time) }
                for other in ports { if case .shared = other.state { tryOpening(other, at: time) } }
                return
            }
        }
    }

    /// Closes the port of a radio that is gone. If the descriptor stayed open, the kernel would give the radio another name
    /// when it returns.
    private func close(_ port: RadioPort, at time: HostTime) {
        guard let serial = port.serialPort else { return }
        host.linkClosed(port.link, at: time)
        events.forget(serial.fileDescriptor)
        serial.close()
        port.state = .gone
        report(.unplugged(path: port.path, isAwaited: port.route?.isNumber != true))
    }

    /// Sends a bare frame.
    func send(_ frame: Span<UInt8>, on link: LinkID) {
        guard let port = portOfLink[link] else { return }
        if port.queue(frame) { report(.cannotSend(path: port.path)) }
        flush(port)
    }

    private func flush(_ port: RadioPort) {
        guard let isWaiting = port.flush(), let serial = port.serialPort else { return }
        events.watch(serial.fileDescriptor, as: .port(port.id), forWriting: isWaiting)
    }
}
