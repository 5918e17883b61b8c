import CLinuxEvents
import CollarARQ
import CollarBridge
import CollarHost
import Glibc

/// Takes requests of other programs of this user. It never waits for any of them: each has a bounded buffer for its requests and
/// for their results.
final class ControlServer {
    /// Programs that may be connected.
    private static let clientLimit = 16
    /// Time after which connections are accepted again, if the system had no descriptor for one, in microseconds.
    private static let acceptPause: Int64 = 1_000_000

    private let socket: ControlSocket
    private let events: EventPoll
    private let submit: (ControlRequest) -> ResultLine
    private var clients = [ControlClient?](repeating: nil, count: clientLimit)
    /// When connections are accepted again; nil while they are accepted.
    private var resumesAccepting: Instant?

    /// Listens.
    /// - Parameter submit: gives a request to the host.
    init(
        stateDirectory: String, runtimeDirectory: String?, events: EventPoll, submit: @escaping (ControlRequest) -> ResultLine
    ) throws(ControlSocket.OpenError) {
        socket = try ControlSocket.open(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory)
        self.events = events
        self.submit = submit
        events.watch(socket.listener, as: .control)
    }

    /// Accepts the programs that want to connect.
    func accept(at now: Instant) {
        for _ in 0..<ControlServer.clientLimit {
            let descriptor = local_socket_accept(socket.listener)
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS {
                    // It would be ready all the time.
                    events.forget(socket.listener)
                    resumesAccepting = now.advanced(byMicroseconds: ControlServer.acceptPause)
                }
                return
            }
            let client = ControlClient(descriptor: descriptor, now: now)
            let peer = local_socket_peer(descriptor)
            guard peer == geteuid() || peer == 0 else {
                turnAway(
                    client, code: "not_permitted",
                    reason: "only the user who runs collar-link, and root, may send requests")
                continue
            }
            guard let id = placeForClient() else {
                turnAway(client, code: "too_many_clients", reason: "\(ControlServer.clientLimit) programs wait for results already")
                continue
            }
            release(id)
            clients[id.place] = client
            events.watch(descriptor, as: .controlClient(id))
        }
    }

    /// A place for a new client; if there is none, that of the one that has been quiet for longest and waits for nothing.
    /// - Returns: nil where all wait for something.
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

    private func turnAway(_ client: ControlClient, code: String, reason: String) {
        client.outbox += rejection(code, reason).bytes
        _ = client.write()
    }

    private func rejection(_ code: String, _ reason: String) -> ResultLine {
        ResultLine(rejectedAt: WallClock.unixMilliseconds, code: code, reason: reason)
    }

    /// A client is ready.
    func handle(_ id: ControlClientID, _ event: EventPoll.Event, at now: Instant) {
        guard let client = clients[id.place] else { return }
        var isThere = true
        if event.isReadable {
            client.lastHeard = now
            isThere = client.read()
        }
        serve(id, isThere: isThere)
    }

    /// Does one line of a client, and writes what waits for it.
    private func serve(_ id: ControlClientID, isThere: Bool = true) {
        guard let client = clients[id.place] else { return }
        guard isThere else { return release(id) }
        if let line = client.takeLine() { client.outbox += answer(line, to: client).bytes }
        if client.isLineTooLong {
            client.isEnding = true
            client.inbox = []
            client.outbox += rejection("bad_request", "a line longer than \(ControlRequest.byteLimit) bytes").bytes
        }
        let isTaken = client.write()
        let isOver = client.isEnding || (client.isReadClosed && client.awaited.isEmpty && !client.hasLine)
        guard isTaken, !(isOver && client.outbox.isEmpty) else { return release(id) }
        events.watch(
            client.descriptor, as: .controlClient(id), forReading: client.hasRoom, forWriting: !client.outbox.isEmpty)
    }

    private func answer(_ line: [UInt8], to client: ControlClient) -> ResultLine {
        let wanted: ControlRequest
        do throws(ControlRequest.Fault) { wanted = try ControlRequest(line: line) } catch {
            return rejection("bad_request", error.reason)
        }
        guard client.awaited.count < ControlClient.awaitedLimit else {
            return rejection("too_many_requests", "this program waits for \(ControlClient.awaitedLimit) results already")
        }
        let result = submit(wanted)
        if !result.isFinal, let deviceID = result.deviceID, let requestID = result.requestID {
            client.awaited.insert(.init(deviceID: deviceID, requestID: requestID))
        }
        return result
    }

    private func release(_ id: ControlClientID) {
        guard let client = clients[id.place] else { return }
        events.forget(client.descriptor)
        clients[id.place] = nil
    }

    /// Tells the result of a request to the programs that wait for it.
    func tell(_ line: ResultLine) {
        guard let deviceID = line.deviceID, let requestID = line.requestID else { return }
        let key = ControlClient.Awaited(deviceID: deviceID, requestID: requestID)
        for client in clients {
            if let client, client.awaited.remove(key) != nil { client.outbox += line.bytes }
        }
    }

    /// Whether a client has a line to be done, or a result to be written, now.
    private var isTurnDue: Bool { clients.contains { $0?.hasLine == true } }

    /// When ``deadlineReached(at:)`` has something to do although no program has said anything new.
    func nextDeadline(at now: Instant) -> Instant? { isTurnDue ? now : resumesAccepting }

    /// Gives every client its turn: one line each, so that none keeps the others or the radios waiting.
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
