import CollarARQ
import CollarHost
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
    /// - Throws: the failure, if it ends the receiver.
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
