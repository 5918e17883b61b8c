import CLinuxEvents
import CollarARQ
import CollarBridge
import Glibc

/// The socket at which other programs of this user give requests. It never waits for any of them: each has a bounded
/// buffer for what it says and for what it is told.
final class ControlSocket {
    /// The system refuses every place.
    struct OpenError: Error, Equatable {
        /// The place that was tried last.
        var path: String
        var errorNumber: Int32
    }

    /// Programs that may be connected.
    static let clientLimit = 16

    /// The socket file.
    let path: String
    let listener: Int32
    var clients = [ControlClient?](repeating: nil, count: clientLimit)
    /// When connections are accepted again, where the system had no descriptor for one.
    var resumesAccepting: Instant?

    private init(path: String, listener: Int32) {
        self.path = path
        self.listener = listener
    }

    deinit {
        close(listener)
        unsafe _ = unlink(path)
    }

    /// Listens at the first place where that can be done. A file that stands there was left by a process that was killed:
    /// whoever opens the socket holds the lock of the state directory.
    static func open(stateDirectory: String, runtimeDirectory: String?) throws(OpenError) -> ControlSocket {
        var failure = OpenError(path: stateDirectory, errorNumber: ENOENT)
        for place in ControlPlace.all(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory) where place.prepare() {
            unsafe _ = unlink(place.path)
            let listener = unsafe local_socket_listen(place.path)
            if listener >= 0 { return ControlSocket(path: place.path, listener: listener) }
            failure = OpenError(path: place.path, errorNumber: errno)
        }
        throw failure
    }

    /// Tells what became of a request to those who wait for it.
    func tell(_ line: ResultLine) {
        guard let deviceID = line.deviceID, let requestID = line.requestID else { return }
        let key = ControlClient.Awaited(deviceID: deviceID, requestID: requestID)
        for client in clients {
            if let client, client.awaited.remove(key) != nil { client.outbox += line.bytes }
        }
    }

    /// A place for a new client; where there is none, that of the one that has been quiet for longest and waits for
    /// nothing.
    /// - Returns: nil where all wait for something.
    func placeForClient() -> Int? {
        if let free = clients.firstIndex(where: { $0 == nil }) { return free }
        var quiet: (place: Int, since: Instant)?
        for place in clients.indices {
            guard let client = clients[place], client.awaited.isEmpty else { continue }
            if let other = quiet, other.since <= client.lastHeard { continue }
            quiet = (place, client.lastHeard)
        }
        return quiet?.place
    }
}

/// One program that is connected.
final class ControlClient {
    /// A request whose end it wants to know.
    struct Awaited: Hashable {
        var deviceID: UInt64
        var requestID: UInt16
    }

    /// Requests that one client may wait for.
    static let awaitedLimit = 16
    /// While more than this waits to be read by the client nothing is taken from it.
    static let outboxLimit = 16_384

    let descriptor: Int32
    /// What it said and is not done yet.
    var inbox: [UInt8] = []
    /// What it has not taken yet.
    var outbox: [UInt8] = []
    var awaited: Set<Awaited> = []
    /// When it last said something.
    var lastHeard: Instant
    /// Whether it says nothing more.
    var isReadClosed = false
    /// Whether it is to be let go of once it has taken what waits.
    var isEnding = false

    init(descriptor: Int32, now: Instant) {
        self.descriptor = descriptor
        lastHeard = now
    }

    deinit { close(descriptor) }

    /// Whether a whole line waits to be done.
    var hasLine: Bool { !isEnding && outbox.count < ControlClient.outboxLimit && inbox.contains(UInt8(ascii: "\n")) }

    /// The next line without its end.
    func takeLine() -> [UInt8]? {
        guard hasLine, let end = inbox.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = Array(inbox[..<end])
        inbox.removeFirst(end + 1)
        return line
    }

    /// Whether a line is longer than any may be.
    var isLineTooLong: Bool { inbox.count >= ControlRequest.byteLimit && !inbox.contains(UInt8(ascii: "\n")) }

    /// Whether more may be read from it.
    var hasRoom: Bool {
        !isReadClosed && !isEnding && outbox.count < ControlClient.outboxLimit && inbox.count < ControlRequest.byteLimit
    }

    /// Reads what it says.
    /// - Returns: false where it is gone.
    func read() -> Bool {
        guard hasRoom else { return !isReadClosed }
        var chunk = [UInt8](repeating: 0, count: ControlRequest.byteLimit - inbox.count)
        let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
            inbox += chunk[..<count]
            return true
        }
        if count == 0 {
            isReadClosed = true
            return true
        }
        return errno == EAGAIN || errno == EINTR
    }

    /// Writes what it takes.
    /// - Returns: false where it is gone.
    func write() -> Bool {
        while !outbox.isEmpty {
            let count = unsafe outbox.withUnsafeBytes { unsafe local_socket_send(descriptor, $0.baseAddress, $0.count) }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            outbox.removeFirst(count)
        }
        return true
    }
}
