import CollarARQ
import CollarPorts
import Glibc
import LinuxSystem
import SerialDevices

/// A port of a board that a person named: it is opened, and opened again when its device returns. Does what a ``PortMachine`` decides.
/// No call blocks.
final class BoardLine {
    private enum Connection {
        case serial(SerialPort)
        case network(NetworkConnection)

        var end: any StreamEnd {
            switch self {
            case .serial(let line): line
            case .network(let connection): connection
            }
        }

        func close() {
            switch self {
            case .serial(let line): line.close()
            case .network(let connection): connection.close()
            }
        }
    }

    /// Asks gpsd for NMEA sentences, which it makes from those of any receiver. Source: gpsd's gpsd_json(5), `?WATCH`.
    private static let watch = Array("?WATCH={\"enable\":true,\"nmea\":true};\n".utf8)
    /// Bytes that wait for the line at most; more are dropped.
    private static let outboundLimit = 4096

    let path: String
    private let speed: LineSpeed
    /// The bytes that are written first after each opening.
    private let greeting: [UInt8]
    private let report: (PortNotice) -> Void
    private var machine = PortMachine(reconnects: true)
    private let id: PortID
    private var connection: Connection?
    private var attempt: ConnectionAttempt?
    private var monitor: DeviceMonitor?
    private var outbound: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 4096)
    /// How often bytes began to pass.
    private(set) var openingCount = 0
    /// The failure for which the port is not opened again; nil if there is none.
    private(set) var failure: PortFailure?

    /// - Parameter path: the path of a terminal, or an address `tcp://HOST:PORT`.
    init(_ path: String, speed: LineSpeed = .b115200, greeting: [UInt8] = [], report: @escaping (PortNotice) -> Void) {
        self.path = path
        self.speed = speed
        self.greeting = greeting
        self.report = report
        id = machine.add(path, isNamed: true, isNetwork: NetworkAddress(path) != nil)
    }

    /// The port of a GNSS receiver.
    convenience init(_ source: GNSSSource, report: @escaping (PortNotice) -> Void) {
        switch source {
        case .port(let path, let speed): self.init(path, speed: speed, report: report)
        case .gpsd(let address): self.init(address, greeting: BoardLine.watch, report: report)
        }
    }

    func open(at now: Instant) {
        machine.open(id)
        obey(at: now)
    }

    func close() {
        connection?.close()
        connection = nil
    }

    var isOpen: Bool { connection != nil }
    var isPseudoTerminal: Bool { if case .serial(let line) = connection { line.isPseudoTerminal } else { false } }
    var isNetwork: Bool { NetworkAddress(path) != nil }
    var roundTripMicroseconds: Int64 { if case .network(let connection) = connection { connection.roundTripMicroseconds } else { 0 } }

    /// When to call ``serve(at:)`` if no descriptor is ready before; nil for no time.
    var nextDeadline: Instant? { [machine.nextRetry, machine.nextLook].compactMap { $0 }.min() }

    /// The descriptors to wait for.
    var descriptors: [pollfd] {
        var found = (monitor?.fileDescriptors ?? []).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if let attempt { found.append(pollfd(fd: attempt.fileDescriptor, events: Int16(POLLIN), revents: 0)) }
        if let connection {
            found.append(pollfd(fd: connection.end.fileDescriptor, events: Int16(outbound.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0))
        }
        return found
    }

    /// Does what is due.
    /// - Returns: the bytes that have come in.
    func serve(at now: Instant) -> [UInt8] {
        if let monitor, monitor.drain() {
            let isClosed = machine.ports.contains { $0.line == nil && $0.device != nil }
            machine.devicesChanged(monitor.allSerialDevices(), nodesOfNames: isClosed ? [id: DevicePath(path).target] : [:])
            obey(at: now)
        }
        machine.deadlineReached(at: now)
        obey(at: now)
        if let attempt, isReadable(attempt.fileDescriptor) { finish(attempt, at: now) }
        flush()
        return read(at: now)
    }

    private func isReadable(_ descriptor: Int32) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&state, 1, 0) > 0
    }

    private func finish(_ attempt: ConnectionAttempt, at now: Instant) {
        self.attempt = nil
        do throws(ConnectionAttempt.Failure) {
            connection = .network(try attempt.finish())
            machine.opened(id, at: now)
        } catch { machine.refused(id, reason: error.text, at: now) }
        obey(at: now)
    }

    private func read(at now: Instant) -> [UInt8] {
        var bytes: [UInt8] = []
        while let connection, bytes.count < 16_384 {
            switch connection.end.read(into: &buffer) {
            case .bytes(let count):
                machine.bytesCame(id)
                obey(at: now)
                bytes += buffer[..<count]
            case .wouldBlock: return bytes
            case .disconnected:
                machine.hungUp(id, at: now)
                obey(at: now)
            }
        }
        return bytes
    }

    /// Writes the bytes, as far as the line takes them; the rest waits. Without an open line they are dropped.
    func write(_ bytes: [UInt8]) {
        guard isOpen, outbound.count < BoardLine.outboundLimit else { return }
        outbound += bytes
        flush()
    }

    private func flush() {
        while let connection, !outbound.isEmpty, case .written(let count) = connection.end.write(outbound.span) { outbound.removeFirst(count) }
    }

    private func obey(at now: Instant) {
        while let output = machine.nextOutput() {
            switch output {
            case .examine(_, let node, let asksDevice, let asksRoute):
                machine.examined(
                    id,
                    NodeFacts(
                        route: asksRoute ? TerminalRoute(of: node) : nil, device: asksDevice ? SerialDevice(at: node) : nil,
                        isPseudoTerminal: asksDevice && SerialDevice.isPseudoTerminal(at: node)), at: now)
            case .open(_, let node, _): openLine(at: node, now)
            case .connect: connect(at: now)
            case .attach, .renewModem: begin()
            case .close:
                close()
                outbound = []
            // Without a monitor, the device is found when it returns at its path.
            case .watchDevices: if monitor == nil { monitor = try? DeviceMonitor() }
            case .findReader:
                if case .serial(let line) = connection { machine.foundReader(of: id, line.otherReader, isOpenedByOthers: false) }
            case .notice(_, let notice): report(notice)
            case .end(let failure): self.failure = failure
            }
        }
    }

    private func openLine(at node: String, _ now: Instant) {
        do throws(SerialPortError) {
            connection = .serial(try SerialPort(opening: node, speed: speed))
            machine.opened(id, SerialDevice(at: node), route: TerminalRoute(toNumberAt: node), at: now)
        } catch { machine.refused(id, error, at: now) }
    }

    private func connect(at now: Instant) {
        guard let address = NetworkAddress(path) else { return }
        do throws(ConnectionAttempt.Failure) { attempt = try ConnectionAttempt(to: address) } catch {
            machine.refused(id, reason: error.text, at: now)
        }
    }

    private func begin() {
        openingCount += 1
        outbound = greeting
        flush()
    }
}
