import CollarJournal
import LinuxSystem
import SerialDevices

/// Opening of ports, and what follows when it fails.
extension RadioPorts {
    /// Times between attempts to open a port that another program has open, or that fails when it is opened, in microseconds; the
    /// last time repeats.
    private static let retryTimes: [Int64] = [1_000_000, 4_000_000, 9_000_000]
    /// Time between attempts while the failure may pass, in microseconds.
    private static let passingRetryTime: Int64 = 300_000
    /// Time between two looks for a radio that is absent or that this user may not open, in microseconds.
    private static let lookTime: Int64 = 1_000_000

    /// Tries to open a port; if that fails, arranges the next try.
    func tryOpening(_ port: RadioPort, attempt: Int = 0, at time: HostTime) throws(ReceiverError) {
        stopWaiting(port)
        guard port.networkAddress == nil else { return connect(port, attempt: attempt, at: time) }
        do throws(SerialPortError) { try openLine(port, at: time) } catch {
            try arrangeRetry(port, after: error, attempt: attempt, at: time)
        }
    }

    /// Opens the device at a port's path, unless the device is already open by another path, or the path leads by the same
    /// links as before to the number of a closed pseudo-terminal, which another program's terminal may now have.
    private func openLine(_ port: RadioPort, at time: HostTime) throws(SerialPortError) {
        if ports.contains(where: { ($0.connection as? SerialPort)?.isNamed(by: port.node) == true }) {
            port.state = .shared
            return
        }
        if let route = port.route, route == TerminalRoute(of: port.node) { throw .notFound(path: port.path) }
        if port.isNamedByUser, let known = port.device, known.hasIdentity { try expect(known, at: port) }
        let serial = port.isNamedByUser ? try SerialPort(opening: port.node) : try SerialPort(openingRadioAt: port.node)
        port.route = TerminalRoute(toNumberAt: port.node)
        port.isUntried = false
        port.lastError = nil
        port.failure = nil
        port.lastComplaint = nil
        port.lastReader = nil
        // An opening by a program that this user cannot see is only found if the watch began before it.
        watchOpenings(of: port, serial)
        opened(port, serial, at: time)
        lookForReader(of: port, serial)
    }

    /// Checks that no stranger is in the place of the radio that the user named: opening a port raises its DTR, which resets some
    /// devices. A marked device is no stranger.
    private func expect(_ known: SerialDevice, at port: RadioPort) throws(SerialPortError) {
        // If the device at the node is not known yet, udev's event comes.
        guard let present = SerialDevice(at: port.node), present.vendorID != nil else {
            guard SerialDevice.isPseudoTerminal(at: port.node) else { throw .notFound(path: port.path) }
            return
        }
        if !present.isCollarRadio, present.isOther(than: known) { throw .replaced(path: port.path, by: present.text) }
    }

    private func arrangeRetry(
        _ port: RadioPort, after error: SerialPortError, attempt: Int, at time: HostTime
    ) throws(ReceiverError) {
        if port.lastError?.error != error { port.lastError = (error, time.instant) }
        if let since = port.lastError?.since, time.instant.microseconds(since: since) < error.passesWithinMicroseconds {
            return retry(port, afterMicroseconds: RadioPorts.passingRetryTime, attempt: attempt, at: time)
        }
        port.failure = error
        if endsReceiver(error, of: port) { throw .port(error) }
        port.isUntried = false
        if case .notFound = error { port.node = port.path }
        switch error {
        // udev announces the next device.
        case .notFound where !port.isNamedByUser: return
        // Such a look opens no device, so it resets none.
        case .notFound, .replaced, .permissionDenied: retry(port, afterMicroseconds: RadioPorts.lookTime, attempt: 0, at: time)
        case .busy, .disconnected, .notATerminal, .system: retry(port, after: attempt, at: time)
        }
        complain(port, error)
    }

    /// Whether a failure of a port that the user named ends the receiver. If the port exists but cannot be used when it is tried
    /// for the first time, only the user can resolve it.
    private func endsReceiver(_ error: SerialPortError, of port: RadioPort) -> Bool {
        guard port.isNamedByUser else { return false }
        guard configuration.reconnects else { return true }
        return switch error {
        case .notFound, .disconnected, .replaced: false
        case .busy, .permissionDenied, .notATerminal, .system: port.isUntried
        }
    }

    /// Ends a receiver that does not reconnect, if no radio is open and none may open within moments.
    func endIfNothingIsLeft() throws(ReceiverError) {
        guard isDiscovering, !configuration.reconnects, !ports.contains(where: \.mayCarryBytes) else { return }
        let failure = ports.lazy.compactMap(\.failure).first { failure in
            if case .notFound = failure { false } else { true }
        }
        throw failure.map { .port($0) } ?? .noDevice(path: nil)
    }

    func retry(_ port: RadioPort, after attempt: Int, at time: HostTime) {
        let delay = RadioPorts.retryTimes[min(attempt, RadioPorts.retryTimes.count - 1)]
        retry(port, afterMicroseconds: delay, attempt: attempt + 1, at: time)
    }

    private func retry(_ port: RadioPort, afterMicroseconds delay: Int64, attempt: Int, at time: HostTime) {
        port.state = .retrying(at: time.instant.advanced(byMicroseconds: delay), attempt: attempt)
    }

    private func complain(_ port: RadioPort, _ error: SerialPortError) {
        guard port.connection == nil, port.lastComplaint != error else { return }
        if case .replaced(_, let device) = error {
            guard port.lastReplacement != device else { return }
            port.lastReplacement = device
        }
        // If no radio is open, the failure ends a receiver that does not reconnect, and is reported then.
        guard configuration.reconnects || ports.contains(where: { $0.connection != nil }) else { return }
        port.lastComplaint = error
        if case .notFound = error { report(.waitingForPort(path: port.path)) } else { report(.cannotOpen(error)) }
    }

    func stopWaiting(_ port: RadioPort) {
        if case .connecting(let attempt) = port.state { events.forget(attempt.fileDescriptor) }
        port.state = .gone
    }
}

extension RadioPort {
    /// Whether a radio is open, or may open within moments.
    fileprivate var mayCarryBytes: Bool {
        switch state {
        case .open, .connecting, .shared: true
        case .retrying: failure == nil
        case .gone: false
        }
    }
}

extension SerialPortError {
    /// The time in which the error may pass by itself, in microseconds; 0 if it does not.
    fileprivate var passesWithinMicroseconds: Int64 {
        switch self {
        // udevd sets the group first, and the access list up to 300 ms later; with slow rules it takes seconds.
        case .permissionDenied(_, .notSetYet): 30_000_000
        case .permissionDenied: 300_000
        // The node of a device that was unplugged goes within moments.
        case .disconnected: 1_000_000
        // If the device is marked, udevd says so soon.
        case .replaced: 1_000_000
        case .notFound, .notATerminal, .busy, .system: 0
        }
    }
}

/// Radios that udev marks, and devices of named ports that return at another node.
extension RadioPorts {
    /// Looks for radios, now and from now on.
    func discover(at time: HostTime) throws(ReceiverError) {
        // The monitor listens before the radios are listed, so that no radio plugged in meanwhile is missed.
        let monitor: DeviceMonitor
        do throws(SystemError) { monitor = try listen() } catch { throw .discovery(error) }
        isDiscovering = true
        devices = monitor.allSerialDevices()
        note(DeviceChange.between([], devices), at: time)
        for radio in devices where radio.isCollarRadio { try appeared(radio, at: time) }
        try endIfNothingIsLeft()
        if ports.isEmpty { report(.waitingForRadio(others: devices, noticedBy: monitor.source)) }
        if monitor.source == .udevDatabase { report(.udevElsewhere) }
    }

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
        let before = devices
        devices = monitor.allSerialDevices()
        note(DeviceChange.between(before, devices), at: time)
        for port in ports {
            // A hung-up line ends with its last bytes. A port that was closed may be open again, at a new device.
            while let line = port.connection as? SerialPort, line.isHungUp { try read(port, line, at: time) }
            if !port.isNamedByUser, !devices.contains(where: { $0.isCollarRadio && $0.node == port.path }) {
                forget(port, at: time)
            }
        }
        if isDiscovering { for radio in devices where radio.isCollarRadio { try appeared(radio, at: time) } }
        for port in ports { try follow(port, among: devices, at: time) }
        try endIfNothingIsLeft()
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

    private func appeared(_ radio: SerialDevice, at time: HostTime) throws(ReceiverError) {
        let port = ports.first { $0.path == radio.node } ?? add(radio.node, isNamedByUser: false)
        if port.connection == nil { try tryOpening(port, at: time) }
    }

    /// A port at which udev has found a radio is not one any more.
    private func forget(_ port: RadioPort, at time: HostTime) {
        close(port, isMarked: false, at: time)
        stopWaiting(port)
        port.lastError = nil
        port.failure = nil
        port.lastComplaint = nil
    }

    /// Listens for the return of the device of a named port, which may get another node.
    func lookForDevice(of port: RadioPort) {
        guard port.device?.hasIdentity == true else { return }
        // Without a monitor, the device is found when it returns at its path.
        do throws(SystemError) { _ = try listen() } catch {}
    }

    /// Opens a named port at the node at which its device has returned, or at its own path, if another device is there now.
    private func follow(_ port: RadioPort, among devices: [SerialDevice], at time: HostTime) throws(ReceiverError) {
        guard port.isNamedByUser, port.connection == nil, let lost = port.device else { return }
        let named = DevicePath(port.path).target
        let found = devices.filter { $0.isSameDevice(as: lost) }
        guard let device = found.count == 1 ? found.first : devices.first(where: { $0.node == named }) else { return }
        port.node = device.node == named ? port.path : device.node
        try tryOpening(port, at: time)
    }

    // Radios at other machines.

    /// A connection that ends within this time, in microseconds, and carries nothing, counts as a failed attempt.
    private static let shortestConnection: Int64 = 10_000_000

    func connect(_ port: RadioPort, attempt: Int, at time: HostTime) {
        guard let address = port.networkAddress else { return }
        port.connectionAttemptCount = attempt
        do throws(ConnectionAttempt.Failure) {
            let connecting = try ConnectionAttempt(to: address)
            port.state = .connecting(connecting)
            events.watch(connecting.fileDescriptor, as: .port(port.id))
        } catch { connectionFailed(port, error, at: time) }
    }

    func finish(_ attempt: ConnectionAttempt, of port: RadioPort, at time: HostTime) throws(ReceiverError) {
        stopWaiting(port)
        do throws(ConnectionAttempt.Failure) {
            let connection = try attempt.finish()
            port.lastConnectionFailure = nil
            port.connectedAt = time.instant
            opened(port, connection, at: time)
        } catch {
            guard configuration.reconnects else { throw .connection(path: port.path, reason: error.text) }
            connectionFailed(port, error, at: time)
        }
    }

    /// Arranges the next attempt after the end of a connection. A machine that closes every connection at once is called less and
    /// less often, and that is reported once.
    func reconnect(_ port: RadioPort, at time: HostTime) {
        let wasShort = port.connectedAt.map { time.instant.microseconds(since: $0) < RadioPorts.shortestConnection } ?? false
        port.isOpeningUnreported = wasShort
        retry(port, after: wasShort ? port.connectionAttemptCount : 0, at: time)
    }

    func noteFirstBytes(of port: RadioPort) {
        port.connectedAt = nil
        guard port.isOpeningUnreported else { return }
        port.isOpeningUnreported = false
        report(.opened(path: port.path))
    }

    private func connectionFailed(_ port: RadioPort, _ failure: ConnectionAttempt.Failure, at time: HostTime) {
        if port.lastConnectionFailure != failure {
            port.lastConnectionFailure = failure
            report(.cannotConnect(path: port.path, reason: failure.text))
        }
        retry(port, after: port.connectionAttemptCount, at: time)
    }
}
