import CLinux
import CollarARQ
import CollarControl
import CollarErrors
import CollarFormats
import CollarHost
import Glibc
import LinuxSystem

/// Accepts requests from other programs of this user and of root. It never waits for a program: each program has a bounded
/// buffer for its requests and another for their results.
final class ControlServer {
    /// The maximum number of programs that are connected at a time.
    private static let clientLimit = 16
    /// Pause before accepting again after the system had no descriptor or memory for a connection, in microseconds.
    private static let acceptPause: Int64 = 1_000_000

    private let socket: ControlSocket
    private let events: ReceiverEvents
    private let submit: (ControlRequest) -> ResultLine
    private let figures: () -> [UInt8]
    private var clients = [ControlClient?](repeating: nil, count: clientLimit)
    /// When connections are accepted again; nil while they are accepted.
    private var resumesAccepting: Instant?

    /// Opens the socket and listens.
    /// - Parameters:
    ///   - submit: gives a request to the host.
    ///   - figures: makes the line of the receiver's figures.
    init(
        stateDirectory: String, runtimeDirectory: String?, events: ReceiverEvents, submit: @escaping (ControlRequest) -> ResultLine,
        figures: @escaping () -> [UInt8]
    ) throws(ControlSocket.OpenError) {
        socket = try ControlSocket.open(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory)
        self.events = events
        self.submit = submit
        self.figures = figures
        events.watch(socket.listener, as: .control)
    }

    /// Accepts the waiting connections.
    func accept(at now: Instant) {
        for _ in 0..<ControlServer.clientLimit {
            let descriptor = local_socket_accept(socket.listener)
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS {
                    // The listener would stay ready, so the loop would never wait.
                    events.forget(socket.listener)
                    resumesAccepting = now.advanced(byMicroseconds: ControlServer.acceptPause)
                }
                return
            }
            let client = ControlClient(descriptor: descriptor, now: now)
            let peer = local_socket_peer(descriptor)
            guard peer == geteuid() || peer == 0 else {
                turnAway(
                    client, code: .notPermitted,
                    reason: "only the user who runs collar-link, and root, may send requests")
                continue
            }
            guard let id = placeForClient() else {
                turnAway(client, code: .tooManyClients, reason: "\(ControlServer.clientLimit) programs wait for results already")
                continue
            }
            release(id)
            clients[id.place] = client
            events.watch(descriptor, as: .controlClient(id))
        }
    }

    /// A place for a new client: a free place if there is one. Otherwise, of the clients that wait for no result, the place of
    /// the one that has been silent longest.
    /// - Returns: nil if every client waits for a result.
    private func placeForClient() -> ControlClientID? {
        if let free = clients.firstIndex(where: { $0 == nil }) { return ControlClientID(place: free) }
        var quiet: (id: ControlClientID, since: Instant)?
        for place in clients.indices {
            guard let client = clients[place], client.awaited.isEmpty else { continue }
            if let other = quiet, other.since <= client.lastHeard { continue }
            quiet = (ControlClientID(place: place), client.lastHeard)
        }
        return quiet?.id
    }

    private func turnAway(_ client: ControlClient, code: ErrorCode, reason: String) {
        client.outbox += rejection(code, reason).bytes
        _ = client.write()
    }

    private func rejection(_ code: ErrorCode, _ reason: String) -> ResultLine {
        ResultLine(UserMessage(code, reason), unixMilliseconds: WallClock.unixMilliseconds)
    }

    /// Handles a client whose connection is ready.
    func handle(_ id: ControlClientID, _ event: ReceiverEvents.Event, at now: Instant) {
        guard let client = clients[id.place] else { return }
        var isThere = true
        if event.isReadable {
            client.lastHeard = now
            isThere = client.read()
        }
        serve(id, isThere: isThere)
    }

    /// Handles one line of a client, and writes the results that wait to be sent to the client.
    private func serve(_ id: ControlClientID, isThere: Bool = true) {
        guard let client = clients[id.place] else { return }
        guard isThere else { return release(id) }
        if let line = client.takeLine() { client.outbox += answer(line, to: client) }
        if client.isLineTooLong {
            client.isEnding = true
            client.inbox = []
            client.outbox += rejection(.badRequest, "a line longer than \(ControlRequest.byteLimit) bytes").bytes
        }
        client.hasNewResult = false
        let isTaken = client.write()
        let isOver = client.isEnding || (client.isReadClosed && client.awaited.isEmpty && !client.hasLine)
        guard isTaken, !(isOver && client.outbox.isEmpty) else { return release(id) }
        events.watch(
            client.descriptor, as: .controlClient(id), forReading: client.hasRoom, forWriting: !client.outbox.isEmpty)
    }

    /// - Returns: the line of the answer.
    private func answer(_ line: [UInt8], to client: ControlClient) -> [UInt8] {
        let wanted: ControlRequest
        do throws(ControlRequest.Fault) {
            if try FiguresRequest.isIn(line) { return figures() }
            wanted = try ControlRequest(line: line)
        } catch {
            return rejection(.badRequest, error.reason).bytes
        }
        guard client.awaited.count < ControlClient.awaitedLimit else {
            return rejection(.tooManyRequests, "this program waits for \(ControlClient.awaitedLimit) results already").bytes
        }
        let result = submit(wanted)
        if !result.isFinal, let deviceID = result.deviceID, let requestID = result.requestID {
            client.awaited.insert(.init(deviceID: deviceID, requestID: requestID))
        }
        return result.bytes
    }

    private func release(_ id: ControlClientID) {
        guard let client = clients[id.place] else { return }
        events.forget(client.descriptor)
        clients[id.place] = nil
    }

    /// Queues the result of a request for the programs that wait for it.
    func tell(_ line: ResultLine) {
        guard let deviceID = line.deviceID, let requestID = line.requestID else { return }
        let key = ControlClient.Awaited(deviceID: deviceID, requestID: requestID)
        for client in clients {
            guard let client, client.awaited.remove(key) != nil else { continue }
            client.outbox += line.bytes
            client.hasNewResult = true
        }
    }

    /// Whether a client has a complete line that can be handled now, or a result that was not sent.
    private var isTurnDue: Bool { clients.contains { $0?.hasLine == true || $0?.hasNewResult == true } }

    /// When ``deadlineReached(at:)`` is due without new input from a program.
    func nextDeadline(at now: Instant) -> Instant? { isTurnDue ? now : resumesAccepting }

    /// Accepts connections again if that is due. Handles at most one line of every client, so that no client delays the
    /// other clients or the radios.
    func deadlineReached(at now: Instant) {
        if let due = resumesAccepting, now >= due {
            resumesAccepting = nil
            events.watch(socket.listener, as: .control)
        }
        for place in clients.indices {
            guard let client = clients[place], client.hasLine || !client.outbox.isEmpty else { continue }
            serve(ControlClientID(place: place))
        }
    }
}
