import CollarARQ
import CollarErrors
import CollarFormats
import CollarJournal
import Glibc

/// Decides which programs may be connected to the control socket, when their lines are read and handled, which results they get, and
/// when a connection is closed. Each program has a bounded buffer for its requests and another for their results.
///
/// It has no clock and does no I/O: inputs carry the time, and after each input the owner does what the outputs say, in their order.
package struct ControlMachine {
    package enum Output: Equatable, Sendable {
        /// The connection that was accepted last is from now on that of this client.
        case admit(ControlClientID)
        /// Send to the connection that was accepted last what it takes of these bytes at once, and close it.
        case turnAway([UInt8])
        /// Wait until the connection can be read or written, and answer with ``ready(_:isReadable:at:)``.
        case watch(ControlClientID, forReading: Bool, forWriting: Bool)
        /// Read once, and answer with ``received(_:from:at:)`` or ``broke(_:)``.
        case read(ControlClientID, byteLimit: Int)
        /// Send what the connection takes of these bytes, and answer with ``sent(_:to:)`` or ``broke(_:)``.
        case send(ControlClientID, [UInt8])
        case close(ControlClientID)
        /// Submit a request, and answer with ``answered(_:with:)``.
        case submit(ControlClientID, ControlRequest)
        /// Make the line of the receiver's figures, and answer with the same.
        case makeFigures(ControlClientID)
        /// Accept connections, or let them wait.
        case listen(Bool)
    }

    /// The maximum number of programs that are connected at a time.
    package static let clientLimit = 16
    /// Pause before accepting again after the system had no descriptor or memory for a connection, in microseconds.
    static let acceptPause: Int64 = 1_000_000

    /// The user id of the programs that may send requests; those of root may, too.
    private let owner: UInt32
    /// Whether all may send requests who can connect: the permissions of the socket allow that only to the members of a group.
    private let isShared: Bool
    private var clients = [ControlClient?](repeating: nil, count: clientLimit)
    /// When connections are accepted again; nil while they are accepted.
    private var resumesAccepting: Instant?
    private var outputs: [Output] = []

    package init(owner: UInt32, isShared: Bool = false) {
        self.owner = owner
        self.isShared = isShared
    }

    package mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

    private mutating func put(_ output: Output) { outputs.append(output) }

    // MARK: Connections

    /// A connection was accepted from a program of a user.
    package mutating func accepted(peer: UInt32, at time: HostTime) {
        guard isShared || peer == owner || peer == 0 else {
            return turnAway(.notPermitted, "Only the user who runs collar-link, and root, may send requests.", at: time)
        }
        guard let id = placeForClient() else {
            return turnAway(.tooManyClients, "\(ControlMachine.clientLimit) programs wait for results already.", at: time)
        }
        release(id)
        self[id] = ControlClient(lastHeard: time.instant)
        put(.admit(id))
        put(.watch(id, forReading: true, forWriting: false))
    }

    package mutating func acceptFailed(errorNumber: Int32, at now: Instant) {
        guard [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errorNumber) else { return }
        // The listener would stay ready, so the loop would never wait.
        put(.listen(false))
        resumesAccepting = now.advanced(byMicroseconds: ControlMachine.acceptPause)
    }

    /// A place for a new client: a free place if there is one. Otherwise, of the clients that wait for no result, the place of
    /// the one that has been silent longest.
    /// - Returns: nil if every client waits for a result.
    private func placeForClient() -> ControlClientID? {
        if let free = clients.firstIndex(where: { $0 == nil }) { return ControlClientID(place: free) }
        let quiet = clients.enumerated().compactMap { (place, client) in client.flatMap { $0.awaited.isEmpty ? (place, $0.lastHeard) : nil } }
        return quiet.min { $0.1 < $1.1 }.map { ControlClientID(place: $0.0) }
    }

    private mutating func turnAway(_ code: ErrorCode, _ reason: String, at time: HostTime) {
        put(.turnAway(rejection(code, reason, at: time)))
    }

    private func rejection(_ code: ErrorCode, _ reason: String, at time: HostTime) -> [UInt8] {
        ResultLine(rejectedAt: time.unixMilliseconds, code: code.rawValue, reason: reason).bytes
    }

    private mutating func release(_ id: ControlClientID) {
        guard self[id] != nil else { return }
        put(.close(id))
        self[id] = nil
    }

    /// The connection of a client is broken.
    package mutating func broke(_ id: ControlClientID) { release(id) }

    // MARK: Lines and results

    /// The connection of a client can be read (or its other end is gone), or can be written.
    package mutating func ready(_ id: ControlClientID, isReadable: Bool, at time: HostTime) {
        guard isReadable, let client = self[id] else { return serve(id, at: time) }
        self[id]?.lastHeard = time.instant
        if client.room > 0 { return put(.read(id, byteLimit: client.room)) }
        if client.isReadClosed { return release(id) }
        serve(id, at: time)
    }

    /// Bytes of a client were read: none if it has closed its sending direction, nil if none waited.
    package mutating func received(_ bytes: [UInt8]?, from id: ControlClientID, at time: HostTime) {
        if let bytes {
            self[id]?.inbox += bytes
            self[id]?.isReadClosed = bytes.isEmpty
        }
        serve(id, at: time)
    }

    /// Handles one line of a client, or sends it what waits.
    private mutating func serve(_ id: ControlClientID, at time: HostTime) {
        guard let line = self[id]?.takeLine() else {
            guard self[id]?.isLineTooLong == true else { return send(id) }
            self[id]?.isEnding = true
            self[id]?.inbox = []
            return answered(id, with: rejection(.badRequest, "A line has more than \(ControlRequest.byteLimit) bytes.", at: time))
        }
        do throws(ControlRequest.Fault) {
            if try FiguresRequest.isIn(line) { return put(.makeFigures(id)) }
            let request = try ControlRequest(line: line)
            if let count = self[id]?.awaited.count, count < ControlClient.awaitedLimit { return put(.submit(id, request)) }
            let reason = "This program waits for \(ControlClient.awaitedLimit) results already."
            answered(id, with: rejection(.tooManyRequests, reason, at: time))
        } catch { answered(id, with: rejection(.badRequest, error.reason, at: time)) }
    }

    /// A request of a client was submitted.
    package mutating func answered(_ id: ControlClientID, with result: ResultLine) {
        if !result.isFinal, let key = ControlClient.Awaited(result) { self[id]?.awaited.insert(key) }
        answered(id, with: result.bytes)
    }

    /// The answer to a line of a client.
    package mutating func answered(_ id: ControlClientID, with line: [UInt8]) {
        self[id]?.outbox += line
        send(id)
    }

    /// A request has ended: queues its result for the programs that wait for it.
    package mutating func ended(_ line: ResultLine) {
        guard let key = ControlClient.Awaited(line) else { return }
        for place in clients.indices where clients[place]?.awaited.remove(key) != nil {
            clients[place]?.outbox += line.bytes
            clients[place]?.hasNewResult = true
        }
    }

    private mutating func send(_ id: ControlClientID) {
        self[id]?.hasNewResult = false
        guard let outbox = self[id]?.outbox, !outbox.isEmpty else { return conclude(id) }
        put(.send(id, outbox))
    }

    /// A connection has taken this many bytes of those that were to be sent.
    package mutating func sent(_ byteCount: Int, to id: ControlClientID) {
        self[id]?.outbox.removeFirst(byteCount)
        conclude(id)
    }

    private mutating func conclude(_ id: ControlClientID) {
        guard let client = self[id] else { return }
        if client.isOver { return release(id) }
        put(.watch(id, forReading: client.room > 0, forWriting: !client.outbox.isEmpty))
    }

    // MARK: Time

    /// When ``deadlineReached(at:)`` is due without new input from a program: now, if a client has a complete line that can be handled,
    /// or a result that was not sent.
    package func nextDeadline(at now: Instant) -> Instant? {
        clients.contains { $0?.hasLine == true || $0?.hasNewResult == true } ? now : resumesAccepting
    }

    /// Accepts connections again if that is due. Handles at most one line of every client, so that no client delays the
    /// other clients or the radios.
    package mutating func deadlineReached(at time: HostTime) {
        if let due = resumesAccepting, time.instant >= due {
            resumesAccepting = nil
            put(.listen(true))
        }
        for place in clients.indices {
            guard let client = clients[place], client.hasLine || !client.outbox.isEmpty else { continue }
            serve(ControlClientID(place: place), at: time)
        }
    }

    private subscript(id: ControlClientID) -> ControlClient? {
        get { clients[id.place] }
        set { clients[id.place] = newValue }
    }
}
