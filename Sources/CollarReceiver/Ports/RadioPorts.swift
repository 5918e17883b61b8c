import CollarARQ
import CollarHost
import RadioModems
import SerialDevices

/// The ports of a receiver: finds them, opens them, and carries bytes between them and the host.
final class RadioPorts {
    /// Times between attempts to open a port that another program has open, in microseconds; the last time repeats. It also
    /// applies to a path that cannot be watched.
    private static let retryTimes: [Int64] = [1_000_000, 4_000_000, 9_000_000]
    /// Time within which udev sets the access list of a new node, in microseconds.
    private static let permissionTime: Int64 = 300_000
    /// The name that stands for discovery among the ports that the user names.
    static let discovery = "auto"
    /// The maximum number of reads from one port before other ports and the journal are served.
    private static let readLimit = 16

    let configuration: ReceiverConfiguration
    let events: EventPoll
    private let host: Host
    let report: (ReceiverNotice) -> Void
    /// Where what happens at the ports is recorded; nil if it is not.
    var capture: CaptureFile?
    private var ports: [RadioPort] = []
    private var portOfLink: [LinkID: RadioPort] = [:]
    private var monitor: DeviceMonitor?
    /// Ports for which frames were queued.
    private var answering: [PortID] = []
    /// The airtime of all answers that sticks were given to transmit since the start, in microseconds.
    private(set) var airtimeMicroseconds: Int64 = 0
    private lazy var airtime = AirtimeMemory(stateDirectory: configuration.host.stateDirectory)
    private lazy var memory = StickMemory(stateDirectory: configuration.host.stateDirectory)
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
        let named = configuration.ports.filter { $0 != RadioPorts.discovery }
        for path in named { try openNamed(add(path, isNamedByUser: true), at: time) }
        guard named.isEmpty || named.count < configuration.ports.count else { return }
        // The monitor listens before the radios are listed, so that no radio plugged in meanwhile is missed.
        let monitor: DeviceMonitor
        do throws(SystemError) { monitor = try DeviceMonitor() } catch { throw .discovery(error) }
        self.monitor = monitor
        events.watch(monitor.fileDescriptor, as: .deviceMonitor)
        for device in monitor.collarRadios() { appeared(device, at: time) }
        if named.isEmpty, !ports.contains(where: { $0.connection != nil }) {
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
                capture?.note(.removed, port: node, at: time)
                guard let port = ports.first(where: { $0.path == node }) else { continue }
                close(port, at: time)
                port.state = .gone
            case .eventsLost:
                for device in monitor?.collarRadios() ?? [] { appeared(device, at: time) }
            }
        }
    }

    private func appeared(_ device: SerialDevice, at time: HostTime) {
        capture?.note(.plugged(device: device.text), port: device.node, at: time)
        let port = ports.first { $0.path == device.node } ?? add(device.node, isNamedByUser: false)
        if port.connection == nil { tryOpening(port, at: time) }
    }

    /// Tries to open a port; if that fails, arranges the next try.
    private func tryOpening(_ port: RadioPort, attempt: Int = 0, at time: HostTime) {
        stopWaiting(port)
        guard port.networkAddress == nil else { return connect(port, attempt: attempt, at: time) }
        do throws(SerialPortError) { try openLine(port, at: time) } catch {
            arrangeRetry(port, after: error, attempt: attempt, at: time)
        }
    }

    /// Tries for the first time to open a port that the user named. If the port exists but cannot be used, the error is
    /// thrown at once, because only the user can resolve it. If the port does not exist, the receiver waits for it, or throws
    /// the error if it does not reconnect.
    private func openNamed(_ port: RadioPort, at time: HostTime) throws(ReceiverError) {
        guard port.networkAddress == nil else { return connect(port, attempt: 0, at: time) }
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
        if ports.contains(where: { ($0.connection as? SerialPort)?.isNamed(by: port.path) == true }) {
            port.state = .shared
            return
        }
        if let route = port.route, route == TerminalRoute(of: port.path) { throw .notFound(path: port.path) }
        let serial = try SerialPort(opening: port.path)
        port.route = TerminalRoute(toNumberAt: port.path)
        port.lastComplaint = nil
        opened(port, serial, at: time)
    }

    /// The line of a port is open.
    func opened(_ port: RadioPort, _ connection: any RadioConnection, at time: HostTime) {
        port.state = .open(connection)
        port.isWatchedForWriting = false
        events.watch(connection.fileDescriptor, as: .port(port.id))
        if !port.isOpeningUnreported { report(.opened(path: port.path)) }
        beginModem(of: port, connection, report: port.isOpeningUnreported ? .firstBytes : .now, at: time)
    }

    private func beginModem(
        of port: RadioPort, _ connection: any RadioConnection, report: PortOpening.Report, at time: HostTime
    ) {
        let device = connection.mayRestartBoard ? SerialDevice(at: port.path) : nil
        port.stickName = port.networkAddress == nil ? device?.stickName : port.path
        var opening = PortOpening(report: report, kind: connection.mayRestartBoard ? .board : .remote)
        opening.modem = configuration.radio.modem(path: port.path, device: device)
        // A stick with this project's firmware says so itself.
        if opening.modem.dialect == nil, device?.hasCollarFirmware == true { opening.modem.dialect = .serial }
        opening.remembered = port.stickName.flatMap { memory.dialect(of: $0) }
        opening.isRested = airtime.isRested(at: time.unixMilliseconds)
        opening.roundTripMicroseconds = connection.roundTripMicroseconds
        beginModem(of: port, opening, at: time)
    }

    private func beginModem(of port: RadioPort, _ opening: PortOpening, at time: HostTime) {
        capture?.note(.opened(opening), port: port.path, at: time)
        port.modem = RadioModem(
            opening.modem, kind: opening.kind, remembered: opening.remembered, isRested: opening.isRested, at: time.instant)
        pump(port, at: time)
    }

    /// Passes the events of a port's modem to the host and the owner, and its bytes to the line.
    private func pump(_ port: RadioPort, at time: HostTime) {
        while let event = port.modem?.nextEvent() {
            switch event {
            case .serialLine(let heard):
                capture?.note(.found(.serial), port: port.path, at: time)
                rememberDialect(of: port)
                host.linkOpened(port.link, at: time)
                host.receive(heard.span, on: port.link, at: time)
            case .serialBytes(let bytes):
                rememberDialect(of: port)
                host.receive(bytes.span, on: port.link, at: time)
            case .ready(let profile):
                if let dialect = port.modem?.dialect { capture?.note(.found(dialect), port: port.path, at: time) }
                rememberDialect(of: port)
                host.linkOpened(port.link, at: time)
                let network = port.connection?.roundTripMicroseconds ?? 0
                host.setTurnaround(microseconds: profile.turnaroundMicroseconds + network, of: port.link)
            case .packet(let packet, let signal):
                host.receive(packet: packet.span, signal: signal, on: port.link, at: time)
            case .transmits(let microseconds):
                airtimeMicroseconds += microseconds
                airtime.noteTransmission(at: time.unixMilliseconds)
            case .notice(let notice): report(.modem(path: port.path, notice))
            }
        }
        if port.queueModemBytes() { report(.cannotSend(path: port.path)) }
        flush(port, at: time)
    }

    /// Remembers the dialect of a stick, unless it is only assumed.
    private func rememberDialect(of port: RadioPort) {
        guard let modem = port.modem, let dialect = modem.dialect, let name = port.stickName else { return }
        if modem.isTransparent || dialect != .serial { memory.remember(dialect, of: name) }
    }

    private func arrangeRetry(_ port: RadioPort, after error: SerialPortError, attempt: Int, at time: HostTime) {
        if case .permissionDenied = error, attempt == 0 {
            port.state = .retrying(
                at: time.instant.advanced(byMicroseconds: RadioPorts.permissionTime), attempt: 1)
            return
        }
        if case .busy = error {
            complain(port, error)
            return retry(port, after: attempt, at: time)
        }
        watch(port, attempt: attempt, at: time)
        complain(port, error)
    }

    func retry(_ port: RadioPort, after attempt: Int, at time: HostTime) {
        let delay = RadioPorts.retryTimes[min(attempt, RadioPorts.retryTimes.count - 1)]
        port.state = .retrying(at: time.instant.advanced(byMicroseconds: delay), attempt: attempt + 1)
    }

    private func complain(_ port: RadioPort, _ error: SerialPortError) {
        guard port.connection == nil, port.lastComplaint != error else { return }
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

    /// Does what a record of a capture says: the ports of this machine are left alone.
    func play(_ record: CaptureRecord, at time: HostTime) {
        switch record.event {
        case .began, .ended:
            for port in ports where port.connection != nil { closeRecorded(port, at: time) }
        case .opened(let opening):
            let port = ports.first { $0.path == record.port } ?? add(record.port, isNamedByUser: false)
            if port.connection != nil { closeRecorded(port, at: time) }
            port.state = .open(RecordedConnection(opening))
            port.isOpeningUnreported = opening.report == .firstBytes
            port.connectedAt = port.isOpeningUnreported ? time.instant : nil
            if opening.report == .now { report(.opened(path: port.path)) }
            beginModem(of: port, opening, at: time)
        case .read(let bytes):
            guard let port = openPort(at: record.port) else { return }
            receive(bytes.span, at: port, time)
        case .closed: if let port = openPort(at: record.port) { closeRecorded(port, at: time) }
        case .unplugged: if let port = openPort(at: record.port) { close(port, at: time) }
        case .wrote, .plugged, .removed, .found, .due: break
        }
    }

    private func openPort(at path: String) -> RadioPort? { ports.first { $0.path == path && $0.connection != nil } }

    private func closeRecorded(_ port: RadioPort, at time: HostTime) {
        host.linkClosed(port.link, at: time)
        port.state = .gone
        port.modem = nil
    }

    func stopWaiting(_ port: RadioPort) {
        switch port.state {
        case .waiting(let watcher): events.forget(watcher.fileDescriptor)
        case .connecting(let attempt): events.forget(attempt.fileDescriptor)
        case .open, .retrying, .shared, .gone: break
        }
        port.state = .gone
    }

    /// Handles an event of the descriptor of a port.
    func handle(_ id: PortID, _ event: EventPoll.Event, at time: HostTime) throws(ReceiverError) {
        let port = ports[id.index]
        switch port.state {
        case .open(let connection):
            if event.isReadable { try read(port, connection, at: time) }
            if event.isWritable { flush(port, at: time) }
        case .waiting(let watcher):
            var isWorthTrying = true
            do throws(SystemError) { isWorthTrying = try watcher.drain() } catch {}
            if isWorthTrying { tryOpening(port, at: time) }
        case .connecting(let attempt): try finish(attempt, of: port, at: time)
        case .retrying, .shared, .gone: break
        }
    }

    /// The earliest time at which a port is tried again; nil if no port has such a time.
    var nextDeadline: Instant? {
        var earliest: Instant?
        for port in ports { earliest = Instant.earliest(earliest, port.nextDeadline) }
        return earliest
    }

    /// Tries again to open the ports that are due, and lets their modems do what is due.
    func deadlineReached(at time: HostTime) {
        for port in ports {
            if case .retrying(let due, let attempt) = port.state, time.instant >= due {
                tryOpening(port, attempt: attempt, at: time)
            } else if port.connection != nil, let due = port.modem?.nextDeadline, time.instant >= due {
                port.modem?.deadlineReached(at: time.instant)
                pump(port, at: time)
            }
        }
    }

    private func read(_ port: RadioPort, _ connection: any RadioConnection, at time: HostTime) throws(ReceiverError) {
        for _ in 0..<RadioPorts.readLimit {
            switch connection.read(into: &readBuffer) {
            case .bytes(let count):
                receive(readBuffer.span.extracting(0..<count), at: port, time)
                if count < 256 { return }
            case .wouldBlock:
                return
            case .disconnected:
                close(port, at: time)
                guard configuration.reconnects else { throw .noDevice(path: port.path) }
                if port.networkAddress != nil { return reconnect(port, at: time) }
                if port.isNamedByUser, port.route?.isNumber != true { tryOpening(port, at: time) }
                for other in ports { if case .shared = other.state { tryOpening(other, at: time) } }
                return
            }
        }
    }

    /// Bytes came in at an open port.
    private func receive(_ bytes: Span<UInt8>, at port: RadioPort, _ time: HostTime) {
        capture?.note(.read(bytes.indices.map { bytes[$0] }), port: port.path, at: time)
        if port.connectedAt != nil { noteFirstBytes(of: port) }
        if port.modem?.isTransparent == true {
            host.receive(bytes, on: port.link, at: time)
        } else {
            port.modem?.receive(bytes, at: time.instant)
            pump(port, at: time)
        }
    }

    /// Closes the port of a radio that is gone. If the descriptor stayed open, the kernel would give the radio another name
    /// when it returns.
    private func close(_ port: RadioPort, at time: HostTime) {
        guard let connection = port.connection else { return }
        capture?.note(.unplugged, port: port.path, at: time)
        host.linkClosed(port.link, at: time)
        events.forget(connection.fileDescriptor)
        connection.close()
        port.state = .gone
        port.modem = nil
        if !port.isOpeningUnreported { report(.unplugged(path: port.path, isAwaited: port.route?.isNumber != true)) }
    }

    /// Opens a port again, because the collar that was heard there last is unhealthy and its radio may be the cause. A
    /// pseudo-terminal stays open, because its number may belong to another program once it is closed.
    func renew(_ link: LinkID, for deviceID: UInt64, at time: HostTime) {
        guard let port = portOfLink[link], let connection = port.connection else { return }
        report(.renewing(path: port.path, deviceID: deviceID))
        capture?.note(.closed, port: port.path, at: time)
        host.linkClosed(link, at: time)
        port.modem = nil
        guard (connection as? SerialPort)?.isPseudoTerminal != true else {
            return beginModem(of: port, connection, report: .none, at: time)
        }
        // A capture has the record of the next opening.
        guard !(connection is RecordedConnection) else { return }
        events.forget(connection.fileDescriptor)
        connection.close()
        port.state = .gone
        tryOpening(port, at: time)
    }

    /// Queues a bare frame; ``endAnswers(at:)`` sends it.
    func send(_ frame: [UInt8], on link: LinkID) {
        guard let port = portOfLink[link] else { return }
        if port.queue(frame) { report(.cannotSend(path: port.path)) }
        if !answering.contains(port.id) { answering.append(port.id) }
    }

    /// Sends the frames that were queued since the last call.
    func endAnswers(at time: HostTime) {
        for id in answering {
            ports[id.index].endAnswer(at: time.instant)
            pump(ports[id.index], at: time)
        }
        answering.removeAll(keepingCapacity: true)
    }

    private func flush(_ port: RadioPort, at time: HostTime) {
        let isWaiting = port.flush { bytes in capture?.note(.wrote(Array(bytes)), port: port.path, at: time) }
        guard let isWaiting, let connection = port.connection, isWaiting != port.isWatchedForWriting else {
            return
        }
        port.isWatchedForWriting = isWaiting
        events.watch(connection.fileDescriptor, as: .port(port.id), forWriting: isWaiting)
    }
}
