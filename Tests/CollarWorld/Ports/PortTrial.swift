import CollarPorts
import CollarSimulator

/// Radios that come and go, change their marks and nodes, are taken by other programs and replaced by strangers, at random. Then all
/// obstacles go, and what can be opened must be open.
package struct PortTrial {
    /// A device that may be plugged in. Two adapters have the serial number of all adapters of their maker; one is no radio.
    private struct Device {
        let serial: String
        let socket: String
        var isMarked: Bool
        var node: String?
        /// Whether udev knows it.
        var isKnown = false
    }

    private static let stepCount = 40
    /// The longest time from the end of the obstacles until everything is open, in seconds: two pauses of the longest kind.
    private static let calmSeconds = 20.0

    private var random: SeededRandom
    private var ports = SimulatedPorts()
    private var devices = [
        Device(serial: "A1", socket: "usb-1", isMarked: true), Device(serial: "0001", socket: "usb-2", isMarked: true),
        Device(serial: "0001", socket: "usb-3", isMarked: true), Device(serial: "S9", socket: "usb-4", isMarked: false),
    ]
    /// The path of the port that is named, and the serial number and socket of its device; nil if radios are discovered.
    private let named: String?
    private var reported: [String: String] = [:]
    private var violation: String?

    init(seed: UInt64) {
        random = SeededRandom(seed: seed ^ 0x504F_5254_5300_0001)
        named = random.below(2) == 0 ? nil : "/dev/radio"
    }

    /// The first rule that a seed breaks; nil if it breaks none.
    package static func rule(brokenBy seed: UInt64) -> String? {
        var trial = PortTrial(seed: seed)
        return trial.run()
    }

    private mutating func run() -> String? {
        if let named {
            for index in devices.indices where index < 3 { devices[index].isMarked = random.below(2) == 0 }
            plug(0)
            ports.links[named] = devices[0].node
            ports.name(named)
            // Another name of the same line.
            if random.below(2) == 0 {
                ports.links["/dev/other"] = devices[0].node
                ports.name("/dev/other")
            }
            // Discovery beside a name: the line may be open by the one and lose it, and be left to the other.
            if random.below(2) == 0 { ports.discover() }
        } else {
            ports.discover()
        }
        for _ in 0..<PortTrial.stepCount where violation == nil {
            step()
            ports.run(seconds: Double(random.below(120)) / 10)
            judge()
        }
        calm()
        return violation
    }

    // MARK: Faults

    private mutating func step() {
        let index = random.below(devices.count)
        switch random.below(12) {
        case 0...2: devices[index].node == nil ? plug(index) : unplug(index)
        case 3: if devices[index].node != nil { replug(index) }
        case 4: if let node = devices[index].node { obstruct(node) }
        case 5: if let node = devices[index].node { ports.nodes[node]?.error = nil }
        case 6: if index < 3 { mark(index, !devices[index].isMarked) }
        case 7:
            ports.isSlow = true
            devices[index].node == nil ? plug(index) : ports.udev()
            changeDuringAttempt(index)
            ports.answer()
            judge()
            ports.udev()
        case 8: if let node = devices[index].node { ports.hangUp(node) }
        case 9: if let node = devices[index].node { ports.othersOpened(node) }
        case 10: if let node = devices[index].node { ports.renew(node) }
        default: ports.udev()
        }
    }

    /// The device at a node changes after udev's event and before the attempt to open it is answered.
    private mutating func changeDuringAttempt(_ index: Int) {
        guard let node = devices[index].node else { return }
        switch random.below(5) {
        case 0: unplug(index)
        case 1: ports.udev()
        case 2 where index < 3 && !ports.openNodes.values.contains(node):
            devices[index].isMarked = false
            ports.nodes[node]?.device = SimulatedPorts.device(
                node, serial: devices[index].serial, isMarked: false, socket: devices[index].socket)
        case 3 where index < 3:
            mark(index, false)
            devices[index].isMarked = true
            ports.nodes[node]?.device = SimulatedPorts.device(
                node, serial: devices[index].serial, isMarked: true, socket: devices[index].socket)
        default: break
        }
    }

    /// The lowest free number; the kernel keeps that of a line that is still open.
    private func freeNode() -> String {
        let taken = Set(ports.nodes.keys).union(ports.openNodes.values)
        return (0..<20).lazy.map { "/dev/ttyUSB\($0)" }.first { !taken.contains($0) } ?? "/dev/ttyUSB20"
    }

    private mutating func plug(_ index: Int) {
        guard devices[index].node == nil else { return }
        let node = freeNode()
        devices[index].node = node
        devices[index].isKnown = false
        ports.nodes[node] = .init()
        // udev knows the device some time after the node appears.
        if random.below(4) == 0 { ports.run(seconds: 0.3) }
        know(index)
    }

    private mutating func know(_ index: Int) {
        guard let node = devices[index].node else { return }
        let device = devices[index]
        devices[index].isKnown = true
        ports.nodes[node]?.device = SimulatedPorts.device(
            node, serial: device.serial, isMarked: device.isMarked, socket: device.socket)
        relink()
        ports.udev()
    }

    /// The link of a named port leads to its device, as one in /dev/serial/by-id; while that is gone, to the node where it was.
    private mutating func relink() {
        if let named, let node = devices[0].node {
            ports.links[named] = node
            if ports.links["/dev/other"] != nil { ports.links["/dev/other"] = node }
        }
    }

    private mutating func unplug(_ index: Int) {
        guard let node = devices[index].node else { return }
        devices[index].node = nil
        ports.unplug(node)
    }

    /// The device returns before the receiver has noticed that it was gone, or another one takes its place.
    private mutating func replug(_ index: Int) {
        guard let node = devices[index].node else { return }
        devices[index].node = nil
        ports.nodes[node] = nil
        let other = random.below(devices.count)
        for index in [index, other] where devices[index].node == nil {
            let free = freeNode()
            devices[index].node = free
            ports.nodes[free] = .init(
                device: SimulatedPorts.device(
                    free, serial: devices[index].serial, isMarked: devices[index].isMarked, socket: devices[index].socket))
        }
        relink()
        ports.hangUp(node)
        ports.udev()
    }

    private mutating func obstruct(_ node: String) {
        let errors: [SerialPortError] = [
            .busy(path: node, holder: ProcessHolder(processID: 7, name: "cat")), .disconnected(path: node),
            .permissionDenied(path: node, obstacle: .notSetYet),
            .permissionDenied(path: node, obstacle: .notInGroup(group: "dialout", user: "a")),
        ]
        ports.nodes[node]?.error = errors[random.below(errors.count)]
        if random.below(2) == 0 { ports.hangUp(node) }
    }

    private mutating func mark(_ index: Int, _ isMarked: Bool) {
        devices[index].isMarked = isMarked
        know(index)
    }

    // MARK: Rules

    private mutating func judge() {
        violation = violation ?? ports.violations.first
        if ports.end != nil { broken("a receiver that reconnects has ended") }
        for (id, node) in ports.openNodes {
            if ports.machine.ports[id.index].line == nil { broken("\(node) is open, and the machine does not know it") }
            guard let device = ports.nodes[node]?.device else { continue }
            if device.serialShort == "S9" { broken("a stranger at \(node) was opened") }
            if named == nil, !device.isCollarRadio { broken("\(node) is open without a mark") }
        }
        if Double(ports.attemptCount) > 200 + 4 * Double(ports.now.microseconds) / 300_000 { broken("attempts without a pause") }
        for notice in ports.takeNotices() {
            let words = notice.split(separator: " ", maxSplits: 1).map(String.init)
            guard words.count == 2, !words[1].hasPrefix("read") else { continue }
            if reported[words[0]] == words[1], ["waiting", "unplugged", "unmarked"].contains(words[1]) { broken("'\(notice)' twice") }
            reported[words[0]] = words[1]
        }
    }

    private mutating func broken(_ rule: String) { violation = violation ?? rule }

    /// All obstacles go, and udev knows what is plugged in.
    private mutating func calm() {
        guard violation == nil else { return }
        for node in ports.nodes.keys { ports.nodes[node]?.error = nil }
        for index in devices.indices where devices[index].node != nil { know(index) }
        ports.run(seconds: PortTrial.calmSeconds)
        judge()
        if named == nil {
            for device in devices where device.isMarked {
                if let node = device.node, !ports.open.contains(node) { broken("\(node) is not open at the end") }
            }
        }
        if ports.openNodes.isEmpty, ports.machine.ports.contains(where: { $0.state == .shared }) { broken("a line is shared that nobody has open") }
        for port in ports.machine.ports where port.isNamed && port.line == nil && port.state != .shared {
            let present = ports.nodes.values.compactMap(\.device)
            let own = port.device.map { lost in present.filter { $0.isSameDevice(as: lost) } } ?? []
            if own.count == 1 { broken("the radio of \(port.path) at \(own[0].node) is not open at the end") }
            let place = ports.links[port.path] ?? port.path
            if ports.nodes[place]?.device?.isCollarRadio == true { broken("the marked radio of \(port.path) is not open at the end") }
        }
        guard violation == nil, let (id, node) = ports.openNodes.first(where: { $0.key.index == 0 }) else { return }
        obstructForGood(id, node)
        if named != nil { loseLine(id, node) }
    }

    /// What does not go is reported, and once; when it goes, the port is opened without an event.
    private mutating func obstructForGood(_ id: PortID, _ node: String) {
        let (error, words): (SerialPortError, String) =
            random.below(2) == 0
            ? (.busy(path: node, holder: nil), "busy with somebody")
            : (.permissionDenied(path: node, obstacle: .directory), "denied")
        ports.nodes[node]?.error = error
        ports.hangUp(node)
        ports.udev()
        ports.run(seconds: PortTrial.calmSeconds)
        let reports = ports.takeNotices().filter { $0.hasSuffix(" \(words)") }
        // The port may have gone on with another device, which another port may have open.
        guard ports.machine.ports[id.index].line == nil, ports.machine.ports[id.index].state != .shared else { return }
        // Each port that leads to the line reports it: the named one, another name, and the discovered one.
        if reports.isEmpty || Set(reports).count < reports.count { broken("a lasting obstacle is reported by \(reports)") }
        ports.nodes[node]?.error = nil
        ports.run(seconds: PortTrial.calmSeconds)
        if !ports.open.contains(node) { broken("\(node) is not open after its obstacle has gone") }
    }

    /// A line hangs up while its device stays; and a line of two names, when the first leads nowhere.
    private mutating func loseLine(_ id: PortID, _ node: String) {
        guard ports.openNodes[id] == node else { return }
        ports.hangUp(node)
        ports.run(seconds: PortTrial.calmSeconds)
        if !ports.open.contains(node) { broken("\(node) is not open after it hung up") }
        let others = ports.machine.ports.filter { $0.id != id && $0.state == .shared && (ports.links[$0.node] ?? $0.node) == node }
        guard let other = others.first, ports.openNodes[id] == node else { return }
        ports.links[ports.machine.ports[id.index].path] = "/dev/nothing"
        ports.hangUp(node)
        ports.run(seconds: PortTrial.calmSeconds)
        if !ports.open.contains(node) { broken("\(other.path) does not take over the line") }
    }
}
