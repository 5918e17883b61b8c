import CLinuxEvents
import CollarARQ
import CollarBridge
import Glibc

extension Receiver {
    /// Listens for requests of other programs. Without that everything else goes on.
    func openControlSocket() {
        do throws(ControlSocket.OpenError) {
            let socket = try ControlSocket.open(
                stateDirectory: configuration.stateDirectory, runtimeDirectory: configuration.runtimeDirectory)
            controlSocket = socket
            events.watch(socket.listener, token: Token.control)
        } catch {
            report(.controlFailing(path: error.path, errorNumber: error.errorNumber))
        }
    }

    /// Somebody wants to connect.
    func acceptControlClients() {
        guard let socket = controlSocket else { return }
        for _ in 0..<ControlSocket.clientLimit {
            let descriptor = local_socket_accept(socket.listener)
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS {
                    // It would be ready all the time.
                    events.forget(socket.listener)
                    socket.resumesAccepting = now.advanced(byMicroseconds: 1_000_000)
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
            guard let place = socket.placeForClient() else {
                turnAway(client, code: "too_many_clients", reason: "\(ControlSocket.clientLimit) programs wait for results already")
                continue
            }
            releaseControlClient(place)
            socket.clients[place] = client
            events.watch(descriptor, token: Token.controlClients + UInt64(place))
        }
    }

    private func turnAway(_ client: ControlClient, code: String, reason: String) {
        client.outbox += rejection(code, reason).bytes
        _ = client.write()
    }

    private func rejection(_ code: String, _ reason: String) -> ResultLine {
        ResultLine(rejectedAt: WallClock.unixMilliseconds, code: code, reason: reason)
    }

    /// A client said something, took something, or is gone.
    func handleControlClient(_ place: Int, _ event: EventPoll.Event) {
        guard let client = controlSocket?.clients[place] else { return }
        var isThere = true
        if event.isReadable {
            client.lastHeard = now
            isThere = client.read()
        }
        serveControlClient(place, isThere: isThere)
    }

    /// Does one line of a client, and writes what waits for it.
    private func serveControlClient(_ place: Int, isThere: Bool = true) {
        guard let client = controlSocket?.clients[place] else { return }
        guard isThere else { return releaseControlClient(place) }
        if let line = client.takeLine() { client.outbox += answer(line, to: client).bytes }
        if client.isLineTooLong {
            client.isEnding = true
            client.inbox = []
            client.outbox += rejection("bad_request", "a line longer than \(ControlRequest.byteLimit) bytes").bytes
        }
        let isTaken = client.write()
        let isOver = client.isEnding || (client.isReadClosed && client.awaited.isEmpty && !client.hasLine)
        guard isTaken, !(isOver && client.outbox.isEmpty) else { return releaseControlClient(place) }
        events.watch(
            client.descriptor, token: Token.controlClients + UInt64(place), forReading: client.hasRoom,
            forWriting: !client.outbox.isEmpty)
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

    private func releaseControlClient(_ place: Int) {
        guard let client = controlSocket?.clients[place] else { return }
        events.forget(client.descriptor)
        controlSocket?.clients[place] = nil
    }

    /// When the control socket wants a turn without anybody having said anything new.
    var controlDeadline: Instant? {
        guard let socket = controlSocket else { return nil }
        if socket.clients.contains(where: { $0?.hasLine == true }) { return now }
        return socket.resumesAccepting
    }

    /// Gives every client its turn: one line each, so that none keeps the others or the radios waiting.
    func controlDeadlineReached(now: Instant) {
        guard let socket = controlSocket else { return }
        if let due = socket.resumesAccepting, now >= due {
            socket.resumesAccepting = nil
            events.watch(socket.listener, token: Token.control)
        }
        for place in socket.clients.indices {
            guard let client = socket.clients[place], client.hasLine || !client.outbox.isEmpty else { continue }
            serveControlClient(place)
        }
    }
}
