import CollarARQ
import CollarPorts

/// A port machine, and the ports of a simulated computer, in virtual time.
package struct SimulatedPorts {
    /// The device or terminal at a node, and its obstacles.
    package struct Node {
        package var device: SerialDevice?
        package var isPseudoTerminal: Bool
        /// The links that lead to it, if it is a pseudo-terminal.
        package var route: TerminalRoute
        /// The error with which an attempt to open it fails.
        package var error: SerialPortError?
        /// A process that has it open as well.
        package var reader: ProcessHolder?
        /// Whether a program that this user cannot see has it open.
        package var isOpenedByOthers = false

        package init(
            device: SerialDevice? = nil, isPseudoTerminal: Bool = false, route: TerminalRoute = TerminalRoute(links: []),
            error: SerialPortError? = nil
        ) {
            self.device = device
            self.isPseudoTerminal = isPseudoTerminal
            self.route = route
            self.error = error
        }
    }

    package var machine: PortMachine
    package private(set) var now = Instant(microseconds: 0)
    package var nodes: [String: Node] = [:]
    /// The addresses that do not answer, and why.
    package var unreachable: [String: String] = [:]
    /// Paths that are links to nodes.
    package var links: [String: String] = [:]
    /// Whether an attempt to open stays without an answer until ``answer()``.
    package var isSlow = false
    /// The nodes and addresses that were opened, in order.
    package private(set) var opened: [String] = []
    package private(set) var closed: [String] = []
    /// The notices since ``takeNotices()``, with the path of the port.
    package private(set) var notices: [String] = []
    /// Attempts to examine or to connect since the start.
    package private(set) var attemptCount = 0
    package private(set) var readerSearchCount = 0
    package private(set) var renewedCount = 0
    package private(set) var watchesDevices = false
    package private(set) var end: PortFailure?
    /// Rules that the machine has broken.
    package private(set) var violations: [String] = []
    /// What each port has open.
    package private(set) var openNodes: [PortID: String] = [:]
    private var isAnswering = false
    private var waiting: [(PortID, String, isMarked: Bool)] = []

    package init(reconnects: Bool = true) { machine = PortMachine(reconnects: reconnects) }

    // MARK: The computer

    package static func device(
        _ node: String = "/dev/ttyUSB0", serial: String? = "A1", model: String = "ea60", isMarked: Bool = true, socket: String? = "usb-1"
    ) -> SerialDevice {
        let properties = [
            "ID_VENDOR_ID": "10c4", "ID_MODEL_ID": model, "ID_SERIAL_SHORT": serial, "ID_PATH": socket, "COLLAR_LINK": isMarked ? "1" : nil,
        ]
        return SerialDevice(
            node: node, sysPath: "/sys/usb/\(socket ?? "")/\(node)", property: { properties[$0] ?? nil }, usbAttribute: { _ in nil },
            parentDriver: { "cp210x" })
    }

    private var devices: [SerialDevice] { nodes.values.compactMap(\.device).sorted { $0.node < $1.node } }

    /// A device appears, and udev tells of it.
    package mutating func plug(_ device: SerialDevice, error: SerialPortError? = nil) {
        nodes[device.node] = Node(device: device, error: error)
        udev()
    }

    /// A device goes: an open line hangs up, and then udev tells of it.
    package mutating func unplug(_ node: String = "/dev/ttyUSB0") {
        vanish(node)
        udev()
    }

    /// A device goes, and udev is silent.
    package mutating func vanish(_ node: String = "/dev/ttyUSB0") {
        nodes[node] = nil
        hangUp(node)
    }

    package mutating func hangUp(_ node: String) {
        for (id, open) in openNodes where open == node { machine.hungUp(id, at: now) }
        obey()
    }

    package mutating func udev() {
        let named = machine.ports.filter(\.isNamed)
        machine.devicesChanged(devices, nodesOfNames: Dictionary(named.map { ($0.id, links[$0.path] ?? $0.path) }) { first, _ in first })
        obey()
    }

    // MARK: The receiver

    package mutating func name(_ path: String, isNetwork: Bool = false) {
        machine.open(machine.add(path, isNamed: true, isNetwork: isNetwork))
        obey()
    }

    package mutating func discover() {
        machine.discover()
        udev()
    }

    package mutating func run(seconds: Double) {
        let last = now.advanced(byMicroseconds: Int64(seconds * 1_000_000))
        while let due = [machine.nextRetry, machine.nextLook].compactMap({ $0 }).min(), due <= last {
            now = max(due, now)
            machine.deadlineReached(at: now)
            obey()
        }
        now = last
    }

    package mutating func bytesCame(_ node: String = "/dev/ttyUSB0") {
        for (id, open) in openNodes where open == node { machine.bytesCame(id) }
        obey()
    }

    package mutating func othersOpened(_ node: String = "/dev/ttyUSB0") {
        for (id, open) in openNodes where open == node { machine.othersOpened(id, at: now) }
        obey()
    }

    package mutating func bytesAreMissing() {
        machine.bytesAreMissing(at: now)
        obey()
    }

    package mutating func renew(_ node: String = "/dev/ttyUSB0") {
        let isPseudoTerminal = nodes[node]?.isPseudoTerminal == true
        for (id, open) in openNodes where open == node { machine.renew(id, isPseudoTerminal: isPseudoTerminal, at: now) }
        obey()
    }

    /// Answers the attempts that wait.
    package mutating func answer() {
        isSlow = false
        isAnswering = true
        defer { isAnswering = false }
        for (id, node, isMarked) in waiting { finish(id, node, isMarked: isMarked) }
        waiting = []
        obey()
    }

    package mutating func takeNotices() -> [String] {
        defer { notices = [] }
        return notices
    }

    /// The nodes that are open, in the order of the ports.
    package var open: [String] { openNodes.sorted { $0.key.index < $1.key.index }.map(\.value) }

    private mutating func obey() {
        while let output = machine.nextOutput() {
            switch output {
            case .examine(let id, let node, let asksDevice, let asksRoute):
                attemptCount += 1
                let place = links[node] ?? node
                machine.examined(
                    id,
                    NodeFacts(
                        openPort: openNodes.first { $0.value == place }?.key, route: asksRoute ? nodes[place]?.route : nil,
                        device: asksDevice ? nodes[place]?.device : nil, isPseudoTerminal: nodes[place]?.isPseudoTerminal == true), at: now)
            case .open(let id, let node, let isMarked):
                if isSlow { waiting.append((id, node, isMarked)) } else { finish(id, node, isMarked: isMarked) }
            case .connect(let id):
                attemptCount += 1
                let path = machine.ports[id.index].path
                if let reason = unreachable[path] {
                    machine.refused(id, reason: reason, at: now)
                } else {
                    take(id, path)
                    machine.opened(id, at: now)
                }
            case .attach(let id, _): require(openNodes[id] != nil, "bytes pass, and no line is open")
            case .renewModem: renewedCount += 1
            case .close(let id, _):
                if let node = openNodes.removeValue(forKey: id) { closed.append(node) }
            case .watchDevices: watchesDevices = true
            case .findReader(let id):
                readerSearchCount += 1
                let node = openNodes[id].flatMap { nodes[$0] }
                machine.foundReader(of: id, node?.reader, isOpenedByOthers: node?.isOpenedByOthers == true)
            case .notice(let id, let notice): notices.append("\(machine.ports[id.index].path) \(SimulatedPorts.text(notice))")
            case .end(let failure): end = end ?? failure
            }
        }
    }

    private mutating func finish(_ id: PortID, _ path: String, isMarked: Bool) {
        let place = links[path] ?? path
        guard let node = nodes[place], !isMarked || node.device?.isCollarRadio == true else {
            return machine.refused(id, .notFound(path: path), at: now)
        }
        require(openNodes[id] == nil, "a second line is opened for a port")
        // The lock of the line keeps out this program, too.
        if openNodes.values.contains(place) {
            require(isAnswering, "\(place) is opened twice")
            return machine.refused(id, .busy(path: path, holder: nil), at: now)
        }
        if let error = node.error { return machine.refused(id, error, at: now) }
        take(id, place)
        machine.opened(id, node.device, route: node.isPseudoTerminal ? node.route : nil, at: now)
    }

    private mutating func require(_ isKept: Bool, _ violation: String) { if !isKept { violations.append(violation) } }

    private mutating func take(_ id: PortID, _ node: String) {
        require(openNodes[id] == nil, "a port has two lines")
        require(!openNodes.values.contains(node), "\(node) is open twice")
        openNodes[id] = node
        opened.append(node)
    }

    private static func text(_ notice: PortNotice) -> String {
        switch notice {
        case .waiting: "waiting"
        case .opened(nil): "opened"
        case .opened(let node?): "opened at \(node)"
        case .unmarked: "unmarked"
        case .unplugged(.isAwaited): "unplugged"
        case .unplugged(.isAnotherTerminal): "unplugged for good"
        case .unplugged(.ends): "unplugged at the end"
        case .read(nil): "read by somebody"
        case .read(let reader?): "read by \(reader.name)"
        case .cannotConnect(let reason): "not connected: \(reason)"
        case .cannotOpen(let error):
            switch error {
            case .notFound: "absent"
            case .notATerminal: "no terminal"
            case .busy(_, let holder): "busy with \(holder?.name ?? "somebody")"
            case .permissionDenied: "denied"
            case .disconnected: "dead"
            case .replaced: "replaced"
            case .system: "failing"
            }
        }
    }
}
