import CheckedNumbers
import CollarARQ
import CollarConfiguration
import CollarControl
import CollarHost
import CollarJournal
import CollarPorts
import CollarWire
import LinuxSystem
import RadioModems
import SerialDevices

enum EventSource: Equatable {
    case signals, deviceMonitor, output, control
    case controlClient(ControlClientID)
    case port(PortID)
    case portOpenings(PortID)
}

typealias ReceiverEvents = EventPoll<EventSource>

/// The ports of a receiver: does what a ``PortMachine`` decides, and carries bytes between the ports and the host.
final class RadioPorts {
    /// The name that stands for discovery among the ports that the user names.
    static let discovery = "auto"
    /// The longest time for which ports are read before signals, other ports and the journal are served, in microseconds. What one
    /// read has brought is handled to its end.
    static let turnMicroseconds: Int64 = 20_000

    let configuration: ReceiverConfiguration
    let events: ReceiverEvents
    let host: Host
    let report: (ReceiverNotice) -> Void
    var machine: PortMachine
    /// Records the events at the ports; nil if they are not recorded.
    var capture: CaptureFile?
    /// In the order of the machine's ports.
    private(set) var ports: [RadioPort] = []
    private(set) var portOfLink: [LinkID: RadioPort] = [:]
    /// Nil until devices are looked for.
    private var monitor: DeviceMonitor?
    /// The serial devices that were present when udev was asked last.
    private var devices: [SerialDevice] = []
    /// Ports for which frames were queued.
    var answering: [PortID] = []
    /// The airtime of all answers that sticks were given to transmit since the start, in microseconds.
    var airtimeMicroseconds: Int64 = 0
    lazy var airtime = AirtimeMemory(stateDirectory: configuration.host.stateDirectory)
    lazy var memory = StickMemory(stateDirectory: configuration.host.stateDirectory)
    var readBuffer = [UInt8](repeating: 0, count: 16_384)

    init(_ configuration: ReceiverConfiguration, events: ReceiverEvents, host: Host, report: @escaping (ReceiverNotice) -> Void) {
        self.configuration = configuration
        self.events = events
        self.host = host
        self.report = report
        machine = PortMachine(reconnects: configuration.reconnects)
    }

    /// Opens the ports that the user named, or looks for radios.
    func open(at time: HostTime) throws(ReceiverError) {
        let named = configuration.ports.filter { $0 != RadioPorts.discovery }
        for path in named {
            machine.open(machine.add(path, isNamed: true, isNetwork: NetworkAddress(path) != nil))
            try obey(at: time)
        }
        guard named.isEmpty || named.count < configuration.ports.count else { return }
        // The monitor listens before the radios are listed, so that no radio plugged in meanwhile is missed.
        let monitor: DeviceMonitor
        do throws(SystemError) { monitor = try listen() } catch { throw .discovery(error) }
        machine.discover()
        try listDevices(monitor, at: time)
        if ports.isEmpty { report(.waitingForRadio(others: devices, noticedBy: monitor.source)) }
        if monitor.source == .udevDatabase { report(.udevElsewhere) }
    }

    /// Whether orders of the machine wait for ``deadlineReached(at:)``.
    var hasWork: Bool { machine.hasOutputs }

    /// Does what the machine says.
    func obey(at time: HostTime) throws(ReceiverError) {
        while true {
            for known in machine.ports[ports.count...] { add(known.path) }
            guard let output = machine.nextOutput() else { return }
            switch output {
            case .examine(let id, let node, let asksDevice, let asksRoute):
                machine.examined(id, facts(of: node, asksDevice: asksDevice, asksRoute: asksRoute), at: time.instant)
            case .open(let id, let node, let isMarked): openLine(of: ports[id.index], at: node, isMarked: isMarked, time)
            case .connect(let id): connect(ports[id.index], at: time)
            case .attach(let id, let isReported): beginModem(of: ports[id.index], report: isReported ? .now : .firstBytes, at: time)
            case .renewModem(let id): beginModem(of: ports[id.index], report: .none, at: time)
            case .close(let id, let isLost): close(ports[id.index], isLost: isLost, at: time)
            // Without a monitor, the device is found when it returns at its path.
            case .watchDevices: do throws(SystemError) { _ = try listen() } catch {}
            case .findReader(let id): findReader(of: ports[id.index])
            case .notice(let id, let notice): report(.port(path: ports[id.index].path, notice))
            case .end(let failure): throw ReceiverError(failure)
            }
        }
    }

    @discardableResult
    func add(_ path: String) -> RadioPort {
        let port = RadioPort(id: PortID(index: ports.count), link: host.addLink(named: path), path: path)
        ports.append(port)
        portOfLink[port.link] = port
        return port
    }

    // MARK: Devices

    private func listen() throws(SystemError) -> DeviceMonitor {
        if let monitor { return monitor }
        let monitor = try DeviceMonitor()
        for descriptor in monitor.fileDescriptors { events.watch(descriptor, as: .deviceMonitor) }
        self.monitor = monitor
        return monitor
    }

    /// Handles the events of udev. What they say may be out of date, so the present state counts: for example, the node of a
    /// radio may belong to another device by now.
    func handleDeviceEvents(at time: HostTime) throws(ReceiverError) {
        guard let monitor, monitor.drain() else { return }
        try listDevices(monitor, at: time)
    }

    private func listDevices(_ monitor: DeviceMonitor, at time: HostTime) throws(ReceiverError) {
        let before = devices
        devices = monitor.allSerialDevices()
        note(DeviceChange.between(before, devices), at: time)
        for port in ports {
            // A hung-up line ends with its last bytes. A port that was closed may be open again, at a new device.
            while let line = port.connection as? SerialPort, line.isHungUp { try read(port, line, at: time) }
        }
        let closed = machine.ports.filter { $0.isNamed && $0.line == nil && $0.device != nil }
        machine.devicesChanged(
            devices, nodesOfNames: Dictionary(closed.map { ($0.id, DevicePath($0.path).target) }, uniquingKeysWith: { first, _ in first }))
        try obey(at: time)
    }

    /// Records which radios came and which devices went.
    private func note(_ changes: [DeviceChange], at time: HostTime) {
        for change in changes {
            switch change {
            case .added(let device), .changed(let device):
                guard device.isCollarRadio else { continue }
                capture?.note(.plugged(device: device.text), port: device.node, at: time)
            case .removed(let device): capture?.note(.removed, port: device.node, at: time)
            }
        }
    }

    // MARK: Opening

    private func facts(of node: String, asksDevice: Bool, asksRoute: Bool) -> NodeFacts {
        NodeFacts(
            openPort: ports.first { ($0.connection as? SerialPort)?.isNamed(by: node) == true }?.id,
            route: asksRoute ? TerminalRoute(of: node) : nil,
            device: asksDevice ? SerialDevice(at: node) : nil, isPseudoTerminal: asksDevice && SerialDevice.isPseudoTerminal(at: node))
    }

    private func openLine(of port: RadioPort, at node: String, isMarked: Bool, _ time: HostTime) {
        do throws(SerialPortError) {
            let line = isMarked ? try SerialPort(openingRadioAt: node) : try SerialPort(opening: node)
            // An opening by a program that this user cannot see is only found if the watch began before it.
            watchOpenings(of: port, line)
            port.connection = line
            port.device = SerialDevice(at: node)
            events.watch(line.fileDescriptor, as: .port(port.id))
            machine.opened(port.id, port.device, route: TerminalRoute(toNumberAt: node), at: time.instant)
        } catch { machine.refused(port.id, error, at: time.instant) }
    }

    private func connect(_ port: RadioPort, at time: HostTime) {
        guard let address = port.networkAddress else { return }
        do throws(ConnectionAttempt.Failure) {
            let attempt = try ConnectionAttempt(to: address)
            port.attempt = attempt
            events.watch(attempt.fileDescriptor, as: .port(port.id))
        } catch { machine.refused(port.id, reason: error.text, at: time.instant) }
    }

    func finish(_ attempt: ConnectionAttempt, of port: RadioPort, at time: HostTime) {
        events.forget(attempt.fileDescriptor)
        port.attempt = nil
        do throws(ConnectionAttempt.Failure) {
            let connection = try attempt.finish()
            port.connection = connection
            events.watch(connection.fileDescriptor, as: .port(port.id))
            machine.opened(port.id, at: time.instant)
        } catch { machine.refused(port.id, reason: error.text, at: time.instant) }
    }

    private func close(_ port: RadioPort, isLost: Bool, at time: HostTime) {
        detachModem(of: port, isLost: isLost, at: time)
        if let connection = port.connection { events.forget(connection.fileDescriptor) }
        port.connection?.close()
        port.connection = nil
        if let openings = port.openings { events.forget(openings.fileDescriptor) }
        port.openings = nil
    }

    // MARK: Other processes at open lines

    /// Watches for other programs that open an open port, or read from it. The exclusive flag does not keep out the programs of root.
    private func watchOpenings(of port: RadioPort, _ line: SerialPort) {
        // If it cannot be watched, a program is found when bytes are missing.
        do throws(SystemError) {
            let watcher = try OpeningWatcher(of: line)
            events.watch(watcher.fileDescriptor, as: .portOpenings(port.id))
            port.openings = watcher
        } catch {}
    }

    /// Other programs have opened a port, read from it, or closed it.
    func handleOpenings(of id: PortID, at time: HostTime) { noteOpenings(of: ports[id.index], at: time) }

    /// - Parameter isAfterOwnRead: whether a read of this program is among the events; it does not count as one of another program.
    func noteOpenings(of port: RadioPort, isAfterOwnRead: Bool = false, at time: HostTime) {
        if port.openings?.drain(isAfterOwnRead: isAfterOwnRead) == true { machine.othersOpened(port.id, at: time.instant) }
    }

    private func findReader(of port: RadioPort) {
        guard let line = port.connection as? SerialPort else { return }
        machine.foundReader(of: port.id, line.otherReader, isOpenedByOthers: port.openings?.isOpen == true)
    }

    /// Bytes seem to be missing: looks for processes that take them.
    func bytesAreMissing(at time: HostTime) { machine.bytesAreMissing(at: time.instant) }

    // MARK: Time

    /// The earliest time at which something is due at an open port; nil if nothing is.
    var nextDeadline: Instant? {
        ports.reduce(machine.nextLook) { $1.connection == nil ? $0 : Instant.earliest($0, $1.modem?.nextDeadline) }
    }

    /// The earliest time at which a port is tried again; nil if no port has such a time.
    var nextRetry: Instant? { machine.nextRetry }

    /// Tries again to open the ports that are due, and lets their modems do what is due.
    func deadlineReached(at time: HostTime) throws(ReceiverError) {
        for port in ports where port.connection != nil {
            guard let due = port.modem?.nextDeadline, time.instant >= due else { continue }
            port.modem?.deadlineReached(at: time.instant)
            pump(port, at: time)
        }
        machine.deadlineReached(at: time.instant)
        try obey(at: time)
    }

    /// The state of each port now, for the line of figures.
    var figures: [RadioFigures] { zip(ports, machine.ports).map { $0.figures($1) } }
}

extension ReceiverError {
    fileprivate init(_ failure: PortFailure) {
        switch failure {
        case .port(let error): self = .port(error)
        case .noDevice(let path): self = .noDevice(path: path)
        case .connection(let path, let reason): self = .connection(path: path, reason: reason)
        }
    }
}
