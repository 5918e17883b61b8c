import CLinux
import CollarARQ
import CollarControl
import CollarErrors
import CollarFormats
import CollarWire
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

    /// - Parameter figures: makes the line of the receiver's figures.
    init(
        stateDirectory: String, runtimeDirectory: String?, events: ReceiverEvents, submit: @escaping (ControlRequest) -> ResultLine,
        figures: @escaping () -> [UInt8]
    ) throws(ControlSocket.OpenError) {
        socket = try ControlSocket(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory)
        self.events = events
        self.submit = submit
        self.figures = figures
        events.watch(socket.listener, as: .control)
    }

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
                turnAway(client, code: .notPermitted, reason: "Only the user who runs collar-link, and root, may send requests.")
                continue
            }
            guard let id = placeForClient() else {
                turnAway(client, code: .tooManyClients, reason: "\(ControlServer.clientLimit) programs wait for results already.")
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
        let quiet = clients.compactMap { $0 }.filter(\.awaited.isEmpty).min { $0.lastHeard < $1.lastHeard }
        return quiet.flatMap { quiet in clients.firstIndex { $0 === quiet } }.map(ControlClientID.init)
    }

    private func turnAway(_ client: ControlClient, code: ErrorCode, reason: String) {
        client.outbox += rejection(code, reason).bytes
        _ = client.write()
    }

    private func rejection(_ code: ErrorCode, _ reason: String) -> ResultLine {
        ResultLine(UserMessage(code, reason), unixMilliseconds: WallClock.unixMilliseconds)
    }

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
            client.outbox += rejection(.badRequest, "A line has more than \(ControlRequest.byteLimit) bytes.").bytes
        }
        client.hasNewResult = false
        let isTaken = client.write()
        let isOver = client.isEnding || (client.isReadClosed && client.awaited.isEmpty && !client.hasLine)
        guard isTaken, !(isOver && client.outbox.isEmpty) else { return release(id) }
        events.watch(client.descriptor, as: .controlClient(id), forReading: client.hasRoom, forWriting: !client.outbox.isEmpty)
    }

    private func answer(_ line: [UInt8], to client: ControlClient) -> [UInt8] {
        let wanted: ControlRequest
        do throws(ControlRequest.Fault) {
            if try FiguresRequest.isIn(line) { return figures() }
            wanted = try ControlRequest(line: line)
        } catch { return rejection(.badRequest, error.reason).bytes }
        guard client.awaited.count < ControlClient.awaitedLimit else {
            return rejection(.tooManyRequests, "This program waits for \(ControlClient.awaitedLimit) results already.").bytes
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

    /// When ``deadlineReached(at:)`` is due without new input from a program: now, if a client has a complete line that can be handled,
    /// or a result that was not sent.
    func nextDeadline(at now: Instant) -> Instant? {
        clients.contains { $0?.hasLine == true || $0?.hasNewResult == true } ? now : resumesAccepting
    }

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

/// The socket file to which other programs send requests.
final class ControlSocket {
    /// No place can be used.
    struct OpenError: Error, Equatable {
        var path: String
        var errorNumber: Int32
    }

    let path: String
    let listener: Int32

    deinit {
        close(listener)
        unsafe _ = unlink(path)
    }

    /// Listens at the first place that can be used, and replaces a socket file there. Such a file is left from a killed
    /// process, because the caller holds the lock of the state directory.
    init(stateDirectory: String, runtimeDirectory: String?) throws(OpenError) {
        var failure = OpenError(path: stateDirectory, errorNumber: ENOENT)
        for place in ControlPlace.all(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory) where place.prepare() {
            unsafe _ = unlink(place.path)
            let listener = unsafe local_socket_listen(place.path)
            if listener >= 0 {
                (path, self.listener) = (place.path, listener)
                return
            }
            failure = OpenError(path: place.path, errorNumber: errno)
        }
        throw failure
    }
}

struct ControlClientID: Equatable {
    let place: Int
}

final class ControlClient {
    /// A request whose result the program waits for.
    struct Awaited: Hashable {
        var deviceID: DeviceID
        var requestID: UInt16
    }

    /// The maximum number of requests whose results one client can wait for.
    static let awaitedLimit = 16
    /// No lines are taken from a client while this many bytes or more wait to be sent to it.
    static let outboxLimit = 16_384

    let descriptor: Int32
    /// Bytes that were received and not handled yet.
    var inbox: [UInt8] = []
    var outbox: [UInt8] = []
    var awaited: Set<Awaited> = []
    /// Whether a result was put into the outbox, and nothing was sent since.
    var hasNewResult = false
    /// When the client last sent something.
    var lastHeard: Instant
    var isReadClosed = false
    /// Whether the connection is closed as soon as the outbox is sent.
    var isEnding = false

    init(descriptor: Int32, now: Instant) {
        self.descriptor = descriptor
        lastHeard = now
    }

    deinit { close(descriptor) }

    /// Whether a complete line waits and may be handled.
    var hasLine: Bool { !isEnding && outbox.count < ControlClient.outboxLimit && inbox.contains(UInt8(ascii: "\n")) }

    /// Removes and returns the next line, without its line feed; nil if no line may be handled.
    func takeLine() -> [UInt8]? {
        guard hasLine, let end = inbox.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = Array(inbox[..<end])
        inbox.removeFirst(end + 1)
        return line
    }

    var isLineTooLong: Bool { inbox.count >= ControlRequest.byteLimit && !inbox.contains(UInt8(ascii: "\n")) }

    /// Whether more bytes may be read from the client.
    var hasRoom: Bool {
        !isReadClosed && !isEnding && outbox.count < ControlClient.outboxLimit && inbox.count < ControlRequest.byteLimit
    }

    /// Reads the bytes that wait.
    /// - Returns: false if the connection is broken, or if an earlier call has found the client's sending direction closed.
    func read() -> Bool {
        guard hasRoom else { return !isReadClosed }
        guard let bytes = SystemFiles.read(from: descriptor, byteLimit: ControlRequest.byteLimit - inbox.count) else { return errno == EAGAIN }
        inbox += bytes
        isReadClosed = bytes.isEmpty
        return true
    }

    /// Writes as much of the outbox as the connection takes.
    /// - Returns: false if the connection is broken.
    func write() -> Bool {
        while !outbox.isEmpty {
            let count = unsafe outbox.withUnsafeBytes { unsafe local_socket_send(descriptor, $0.baseAddress, $0.count) }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            outbox.removeFirst(count)
        }
        return true
    }
}
