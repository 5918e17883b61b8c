import CLinux
import CollarARQ
import CollarControl
import CollarFormats
import CollarJournal
import Glibc
import LinuxSystem

/// Takes requests from other programs of this user and of root, and of a group that the socket is shared with: does what a ``ControlMachine`` decides. It never waits for a program.
final class ControlServer {
    private let socket: ControlSocket
    private let events: ReceiverEvents
    private let submit: (ControlRequest) -> ResultLine
    private let figures: () -> [UInt8]
    private var machine: ControlMachine
    private var connections: [ControlClientID: AcceptedConnection] = [:]

    /// - Parameter figures: makes the line of the receiver's figures.
    init(
        stateDirectory: String, runtimeDirectory: String?, events: ReceiverEvents, submit: @escaping (ControlRequest) -> ResultLine,
        figures: @escaping () -> [UInt8]
    ) throws(ControlSocket.OpenError) {
        socket = try ControlSocket(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory)
        machine = ControlMachine(owner: geteuid(), isShared: socket.isShared)
        self.events = events
        self.submit = submit
        self.figures = figures
        events.watch(socket.listener, as: .control)
    }

    func accept(at time: HostTime) {
        for _ in 0..<ControlMachine.clientLimit {
            let descriptor = local_socket_accept(socket.listener)
            guard descriptor >= 0 else {
                machine.acceptFailed(errorNumber: errno, at: time.instant)
                return obey(at: time)
            }
            machine.accepted(peer: local_socket_peer(descriptor), at: time)
            obey(accepted: AcceptedConnection(descriptor: descriptor), at: time)
        }
    }

    func handle(_ id: ControlClientID, _ event: ReceiverEvents.Event, at time: HostTime) {
        machine.ready(id, isReadable: event.isReadable, at: time)
        obey(at: time)
    }

    /// Queues the result of a request for the programs that wait for it.
    func tell(_ line: ResultLine) { machine.ended(line) }

    func nextDeadline(at now: Instant) -> Instant? { machine.nextDeadline(at: now) }

    func deadlineReached(at time: HostTime) {
        machine.deadlineReached(at: time)
        obey(at: time)
    }

    /// Does what the machine says.
    /// - Parameter accepted: the connection that was accepted just now; nil if none was. It is closed here if it gets no place.
    private func obey(accepted: AcceptedConnection? = nil, at time: HostTime) {
        while let output = machine.nextOutput() {
            switch output {
            case .admit(let id): connections[id] = accepted
            case .turnAway(let line): _ = accepted?.send(line)
            case .watch(let id, let forReading, let forWriting):
                guard let connection = connections[id] else { continue }
                events.watch(connection.descriptor, as: .controlClient(id), forReading: forReading, forWriting: forWriting)
            case .read(let id, let byteLimit):
                guard let connection = connections[id] else { continue }
                let bytes = SystemFiles.read(from: connection.descriptor, byteLimit: byteLimit)
                if bytes == nil, errno != EAGAIN { machine.broke(id) } else { machine.received(bytes, from: id, at: time) }
            case .send(let id, let bytes):
                if let count = connections[id]?.send(bytes) { machine.sent(count, to: id) } else { machine.broke(id) }
            case .close(let id):
                if let connection = connections.removeValue(forKey: id) { events.forget(connection.descriptor) }
            case .submit(let id, let request): machine.answered(id, with: submit(request))
            case .makeFigures(let id): machine.answered(id, with: figures())
            case .listen(true): events.watch(socket.listener, as: .control)
            case .listen(false): events.forget(socket.listener)
            }
        }
    }
}

/// The connection of a program, which is closed with this object.
private final class AcceptedConnection {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Writes as many of the bytes as the connection takes.
    /// - Returns: how many it took; nil if it is broken.
    func send(_ bytes: [UInt8]) -> Int? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe local_socket_send(descriptor, $0.baseAddress, $0.count) }
            if count < 0 { return errno == EAGAIN || errno == EINTR ? bytes.count - rest.count : nil }
            rest = rest.dropFirst(count)
        }
        return bytes.count
    }
}
