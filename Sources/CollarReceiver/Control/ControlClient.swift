import CLinuxEvents
import CollarARQ
import CollarBridge
import Glibc

/// A ``ControlClient`` among those that are connected.
struct ControlClientID: Equatable {
    let place: Int
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
    /// Whether its connection ends once it has taken what waits.
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
