import CollarARQ

/// A port in the list of a ``PortMachine``.
package struct PortID: Hashable, Sendable {
    package let index: Int

    package init(index: Int) { self.index = index }
}

/// Decides which ports are opened, when a port is tried again, what is reported, and which failure ends the receiver.
///
/// It has no clock and does no I/O: inputs carry the time, and after each input the owner does what the outputs say, in their order.
///
///     machine.devicesChanged(devices)
///     while let output = machine.nextOutput() { … }
///
/// Each order to examine, open or connect has one answer: ``examined(_:_:at:)``, ``opened(_:_:route:at:)``, ``refused(_:_:at:)`` or,
/// for a connection, ``refused(_:reason:at:)``.
package struct PortMachine {
    package enum Output: Equatable, Sendable {
        /// Examine a node before it is opened. `asksDevice`: also ask udev for its device. `asksRoute`: also follow the links to it.
        case examine(PortID, node: String, asksDevice: Bool, asksRoute: Bool)
        /// Open a node; one that udev has found only if it is still marked.
        case open(PortID, node: String, isMarked: Bool)
        /// Connect to the address of the port.
        case connect(PortID)
        /// Let bytes pass between the open line and the modem of its radio.
        case attach(PortID, isReported: Bool)
        /// Set the modem up once more; the line stays open.
        case renewModem(PortID)
        /// Close the line. `isLost`: its device is gone.
        case close(PortID, isLost: Bool)
        /// Listen for devices that come and go.
        case watchDevices
        /// Look which other process has the open line open, and answer with ``foundReader(of:_:isOpenedByOthers:)``.
        case findReader(PortID)
        case notice(PortID, PortNotice)
        /// End the receiver.
        case end(PortFailure)
    }

    /// Times between attempts to open a port that another program has open, or that fails when it is opened, in microseconds; the
    /// last time repeats.
    static let retryTimes: [Int64] = [1_000_000, 4_000_000, 9_000_000]
    /// Time between attempts while the failure may pass, in microseconds.
    static let passingRetryTime: Int64 = 300_000
    /// Time between two looks for a radio that is absent or that this user may not open, in microseconds.
    static let lookTime: Int64 = 1_000_000
    /// A connection that ends within this time, in microseconds, and carries nothing, counts as a failed attempt.
    static let shortestConnection: Int64 = 10_000_000
    /// Time between two looks for processes that take bytes, in microseconds, if only missing bytes suggest one.
    static let readerSearchTime: Int64 = 60_000_000

    package private(set) var ports: [Port] = []
    /// Whether marked devices are opened.
    private var isDiscovering = false
    /// Whether the receiver goes on after the loss of a radio.
    private let reconnects: Bool
    private var outputs: [Output] = []
    /// Where the next output goes: after those of this input, before those that waited.
    private var position = 0
    private var readersSoughtAt: Instant?

    package init(reconnects: Bool) { self.reconnects = reconnects }

    package var hasOutputs: Bool { !outputs.isEmpty }

    package mutating func nextOutput() -> Output? {
        position = 0
        return outputs.isEmpty ? nil : outputs.removeFirst()
    }

    /// An attempt is finished before the next port is examined: two paths may lead to one line.
    private mutating func put(_ output: Output) {
        outputs.insert(output, at: position)
        position += 1
    }

    /// When the state of an open port is looked at; nil if no time is set.
    package var nextLook: Instant? { ports.compactMap { $0.line?.others.dueAt }.min() }

    /// When a port is tried again; nil if none has a time.
    package var nextRetry: Instant? { ports.compactMap { $0.wait?.due }.min() }

    // MARK: Ports and devices

    /// Adds a port that is opened by ``open(_:)`` or by its device.
    package mutating func add(_ path: String, isNamed: Bool, isNetwork: Bool = false) -> PortID {
        let id = PortID(index: ports.count)
        ports.append(Port(id: id, path: path, isNamed: isNamed, isNetwork: isNetwork))
        return id
    }

    /// Opens a port for the first time.
    package mutating func open(_ id: PortID) { attempt(id) }

    /// Opens marked devices from now on. ``devicesChanged(_:nodesOfNames:)`` must follow with those that are present.
    package mutating func discover() { isDiscovering = true }

    /// udev has told of a change: these devices are present, and the paths of named ports lead to these nodes.
    package mutating func devicesChanged(_ devices: [SerialDevice], nodesOfNames: [PortID: String] = [:]) {
        let radios = devices.filter(\.isCollarRadio)
        for port in ports where !port.isNamed && !radios.contains(where: { $0.node == port.path }) { forget(port.id) }
        if isDiscovering {
            for radio in radios {
                let known = ports.first { $0.path == radio.node }?.id
                let id = known ?? add(radio.node, isNamed: false)
                if self[id].line == nil { attempt(id) }
            }
        }
        for port in ports { follow(port, among: devices, node: nodesOfNames[port.id]) }
        endIfNothingIsLeft()
    }

    /// A port at which udev has found a radio is not one any more.
    private mutating func forget(_ id: PortID) {
        let wasOpen = self[id].line != nil
        close(id, isLost: false)
        self[id].state = .gone
        self[id].failure = nil
        self[id].complaint.error = nil
        if wasOpen { retryShared() }
    }

    /// Opens a named port at the node at which its device has returned, or at its own path, if another device is there now.
    private mutating func follow(_ port: Port, among devices: [SerialDevice], node: String?) {
        guard port.isNamed, port.line == nil, let lost = port.device else { return }
        let found = devices.filter { $0.isSameDevice(as: lost) }
        guard let device = found.count == 1 ? found.first : devices.first(where: { $0.node == node }) else { return }
        self[port.id].node = device.node == node ? port.path : device.node
        attempt(port.id)
    }

    // MARK: Opening

    private mutating func attempt(_ id: PortID, after count: Int = 0) {
        let port = self[id]
        if case .trying = port.state { return }
        self[id].state = .trying(Attempt(count: count))
        put(
            port.isNetwork
                ? .connect(id)
                : .examine(
                    id, node: port.node, asksDevice: port.isNamed && port.device?.hasIdentity == true, asksRoute: port.route != nil))
    }

    /// The node was examined.
    package mutating func examined(_ id: PortID, _ facts: NodeFacts, at now: Instant) {
        let port = self[id]
        guard case .trying = port.state else { return }
        // The line is open by another path. This port is tried again when that port loses it, and expects the same device.
        if let other = facts.openPort {
            self[id].state = .shared
            self[id].device = self[other].device
            self[id].isUntried = false
            return
        }
        // The path leads by the same links as before to the number of a closed pseudo-terminal, which another program's terminal may
        // now have.
        if let route = port.route, route == facts.route { return refused(id, .notFound(path: port.path), at: now) }
        if let error = stranger(at: port, facts) { return refused(id, error, at: now) }
        put(.open(id, node: port.node, isMarked: !port.isNamed))
    }

    /// Why the device at the node of a named port is not opened: opening a port raises its DTR, which resets some devices. A marked
    /// device is no stranger.
    private func stranger(at port: Port, _ facts: NodeFacts) -> SerialPortError? {
        guard port.isNamed, let known = port.device, known.hasIdentity else { return nil }
        // If the device at the node is not known yet, udev's event comes.
        guard let present = facts.device, present.vendorID != nil else {
            return facts.isPseudoTerminal ? nil : .notFound(path: port.path)
        }
        return present.isCollarRadio || !present.isOther(than: known) ? nil : .replaced(path: port.path, by: present.text)
    }

    /// A line is open.
    package mutating func opened(_ id: PortID, _ device: SerialDevice? = nil, route: TerminalRoute? = nil, at now: Instant) {
        let port = self[id]
        // The device may have lost its mark meanwhile.
        guard case .trying(let attempt) = port.state else { return put(.close(id, isLost: false)) }
        self[id].state = .open(Line(attemptCount: attempt.count, openedAt: now))
        self[id].device = device
        self[id].route = route
        self[id].isUntried = false
        self[id].failure = nil
        let isReported = !port.complaint.hidesOpening
        self[id].complaint = Complaint(replacement: port.complaint.replacement, hidesOpening: !isReported)
        if isReported { put(.notice(id, .opened(node: port.node == port.path ? nil : port.node))) }
        put(.attach(id, isReported: isReported))
        if !port.isNetwork { put(.findReader(id)) }
    }

    /// A node could not be opened.
    package mutating func refused(_ id: PortID, _ cause: SerialPortError, at now: Instant) {
        guard case .trying(let attempt) = self[id].state else { return }
        var error = cause
        // Nothing is there, wherever the device was last.
        if case .notFound = cause { error = .notFound(path: self[id].path) }
        if self[id].failure?.error != error { self[id].failure = Failure(error: error, since: now) }
        if let since = self[id].failure?.since, now.microseconds(since: since) < error.passesWithinMicroseconds {
            return retry(id, afterMicroseconds: PortMachine.passingRetryTime, attemptCount: attempt.count, at: now)
        }
        self[id].failure?.isLasting = true
        if endsReceiver(error, of: self[id]) { return put(.end(.port(error))) }
        self[id].isUntried = false
        switch error {
        case .notFound, .replaced: self[id].node = self[id].path
        case .busy, .disconnected, .notATerminal, .permissionDenied, .system: break
        }
        switch error {
        // udev announces the next device.
        case .notFound where !self[id].isNamed: return self[id].state = .gone
        // Such a look opens no device, so it resets none.
        case .notFound, .replaced, .permissionDenied:
            retry(id, afterMicroseconds: PortMachine.lookTime, attemptCount: 0, at: now)
        case .busy, .disconnected, .notATerminal, .system: retry(id, after: attempt.count, at: now)
        }
        complain(id, error)
        endIfNothingIsLeft()
    }

    /// A connection to another machine was not made.
    package mutating func refused(_ id: PortID, reason: String, at now: Instant) {
        guard case .trying(let attempt) = self[id].state else { return }
        guard reconnects else { return put(.end(.connection(path: self[id].path, reason: reason))) }
        if self[id].complaint.connection != reason {
            self[id].complaint.connection = reason
            put(.notice(id, .cannotConnect(reason: reason)))
        }
        retry(id, after: attempt.count, at: now)
    }

    /// Whether a failure of a port that the user named ends the receiver. If the port exists but cannot be used when it is tried
    /// for the first time, only the user can resolve it.
    private func endsReceiver(_ error: SerialPortError, of port: Port) -> Bool {
        guard port.isNamed else { return false }
        guard reconnects else { return true }
        return switch error {
        case .notFound, .disconnected, .replaced: false
        case .busy, .permissionDenied, .notATerminal, .system: port.isUntried
        }
    }

    /// Ends a receiver that does not reconnect, if no radio is open and none may open within moments.
    private mutating func endIfNothingIsLeft() {
        guard isDiscovering, !reconnects, !ports.contains(where: \.mayCarryBytes) else { return }
        let errors = ports.compactMap { $0.failure?.error }
        let cause = errors.first { if case .notFound = $0 { false } else { true } }
        put(.end(cause.map { .port($0) } ?? .noDevice(path: nil)))
    }

    private mutating func retry(_ id: PortID, after attemptCount: Int, at now: Instant) {
        let times = PortMachine.retryTimes
        retry(id, afterMicroseconds: times[min(attemptCount, times.count - 1)], attemptCount: attemptCount + 1, at: now)
    }

    private mutating func retry(_ id: PortID, afterMicroseconds time: Int64, attemptCount: Int, at now: Instant) {
        self[id].state = .waiting(Wait(due: now.advanced(byMicroseconds: time), attemptCount: attemptCount))
    }

    private mutating func complain(_ id: PortID, _ error: SerialPortError) {
        guard self[id].complaint.error != error else { return }
        if case .replaced(_, let device) = error {
            guard self[id].complaint.replacement != device else { return }
            self[id].complaint.replacement = device
        }
        // If no radio is open, the failure ends a receiver that does not reconnect, and is reported then.
        guard reconnects || ports.contains(where: { $0.line != nil }) else { return }
        self[id].complaint.error = error
        if case .notFound = error {
            put(.notice(id, .waiting))
        } else {
            put(.notice(id, .cannotOpen(error)))
        }
    }

    // MARK: Open lines

    /// The device at the other end of an open line is gone.
    package mutating func hungUp(_ id: PortID, at now: Instant) {
        guard let line = self[id].line else { return }
        close(id, isLost: true)
        let port = self[id]
        guard reconnects else { return put(.end(.noDevice(path: port.path))) }
        if port.isNetwork { return reconnect(id, after: line, at: now) }
        if port.isNamed, port.route?.isNumber != true {
            // Its device may return at another node.
            if port.device?.hasIdentity == true { put(.watchDevices) }
            attempt(id)
        }
        retryShared()
    }

    /// A line was closed: a port that shared it, by another path, may open it.
    private mutating func retryShared() { for other in ports where other.state == .shared { attempt(other.id) } }

    /// Closes the line of a radio that is gone, or that must not stay open. If the descriptor of a radio that is gone stayed
    /// open, the kernel would give the radio another name when it returns.
    private mutating func close(_ id: PortID, isLost: Bool) {
        let port = self[id]
        guard port.line != nil else { return }
        put(.close(id, isLost: isLost))
        self[id].state = .gone
        // The next notice says that the port is waited for.
        self[id].complaint.error = .notFound(path: port.path)
        if !port.complaint.hidesOpening { put(.notice(id, isLost ? .unplugged(then: afterUnplugging(port)) : .unmarked)) }
    }

    private func afterUnplugging(_ port: Port) -> AfterUnplugging {
        guard reconnects else { return .ends }
        return port.route?.isNumber == true ? .isAnotherTerminal : .isAwaited
    }

    /// Arranges the next attempt after the end of a connection. A machine that closes every connection at once is called less and
    /// less often, and that is reported once.
    private mutating func reconnect(_ id: PortID, after line: Line, at now: Instant) {
        let wasShort = !line.hasCarried && now.microseconds(since: line.openedAt) < PortMachine.shortestConnection
        self[id].complaint.hidesOpening = wasShort
        retry(id, after: wasShort ? line.attemptCount : 0, at: now)
    }

    /// Bytes have come in on an open line.
    package mutating func bytesCame(_ id: PortID) {
        guard case .open(var line) = self[id].state, !line.hasCarried else { return }
        line.hasCarried = true
        self[id].state = .open(line)
        guard self[id].complaint.hidesOpening else { return }
        self[id].complaint.hidesOpening = false
        put(.notice(id, .opened(node: nil)))
    }

    /// Opens a port again, because the collar that was heard there last is unhealthy and its radio may be the cause. A
    /// pseudo-terminal stays open, because its number may belong to another program once it is closed.
    package mutating func renew(_ id: PortID, isPseudoTerminal: Bool, at now: Instant) {
        guard self[id].line != nil else { return }
        guard !isPseudoTerminal else { return put(.renewModem(id)) }
        put(.close(id, isLost: false))
        retry(id, afterMicroseconds: 0, attemptCount: 0, at: now)
        retryShared()
    }

    // MARK: Other processes at open lines

    /// Another program has opened the line, or one that had it open before has begun to read.
    package mutating func othersOpened(_ id: PortID, at now: Instant) {
        guard case .open(var line) = self[id].state else { return }
        line.others.noteNews(at: now)
        self[id].state = .open(line)
    }

    /// Bytes seem to be missing: looks for processes that take them, at most once in a time.
    package mutating func bytesAreMissing(at now: Instant) {
        if let readersSoughtAt, now.microseconds(since: readersSoughtAt) < PortMachine.readerSearchTime { return }
        readersSoughtAt = now
        for port in ports where port.line != nil && !port.isNetwork { put(.findReader(port.id)) }
    }

    /// The process that has an open line open as well; nil if this user sees none.
    /// - Parameter isOpenedByOthers: whether a program has opened the line and not closed it, be it visible or not.
    package mutating func foundReader(of id: PortID, _ reader: ProcessHolder?, isOpenedByOthers: Bool) {
        guard case .open(var line) = self[id].state else { return }
        if let reader, reader != line.reader { put(.notice(id, .read(by: reader))) }
        line.reader = reader
        if reader == nil, isOpenedByOthers, !line.isUnseenReported {
            line.isUnseenReported = true
            put(.notice(id, .read(by: nil)))
        }
        self[id].state = .open(line)
    }

    // MARK: Time

    /// Tries the ports that are due.
    package mutating func deadlineReached(at now: Instant) {
        for port in ports {
            switch port.state {
            case .waiting(let wait) where now >= wait.due: attempt(port.id, after: wait.attemptCount)
            case .open(var line):
                guard let due = line.others.dueAt, now >= due else { continue }
                line.others.noteLook(at: now)
                self[port.id].state = .open(line)
                put(.findReader(port.id))
            case .waiting, .trying, .shared, .gone: continue
            }
        }
    }

    fileprivate subscript(id: PortID) -> Port {
        get { ports[id.index] }
        set { ports[id.index] = newValue }
    }
}

/// Events of a capture, in which the ports of another machine were open.
extension PortMachine {
    /// - Parameter isReported: false if the opening is reported only when bytes come in.
    package mutating func replayOpening(_ id: PortID, isReported: Bool, at now: Instant) {
        self[id].state = .open(Line(attemptCount: 0, openedAt: now))
        self[id].complaint.hidesOpening = !isReported
    }

    package mutating func replayClosing(_ id: PortID) { self[id].state = .gone }

    package mutating func replayUnplugging(_ id: PortID) { close(id, isLost: true) }
}
