import CLinux
import CollarARQ
import CollarControl
import CollarFormats
import Glibc

/// The identity of a connected ``ControlClient``.
struct ControlClientID: Equatable {
    let place: Int
}

/// A connected program.
final class ControlClient {
    /// A request whose result the program waits for.
    struct Awaited: Hashable {
        var deviceID: UInt64
        var requestID: UInt16
    }

    /// The maximum number of requests whose results one client can wait for.
    static let awaitedLimit = 16
    /// No lines are taken from a client while this many bytes or more wait to be sent to it.
    static let outboxLimit = 16_384

    let descriptor: Int32
    /// Bytes that were received and not handled yet.
    var inbox: [UInt8] = []
    /// Bytes that were not sent yet.
    var outbox: [UInt8] = []
    var awaited: Set<Awaited> = []
    /// Whether a result was put into the outbox, and nothing was sent since.
    var hasNewResult = false
    /// When the client last sent something.
    var lastHeard: Instant
    /// Whether the client has closed its sending direction.
    var isReadClosed = false
    /// Whether the connection is to be closed as soon as the outbox is sent.
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

    /// Whether the next line is longer than allowed.
    var isLineTooLong: Bool { inbox.count >= ControlRequest.byteLimit && !inbox.contains(UInt8(ascii: "\n")) }

    /// Whether more bytes may be read from the client.
    var hasRoom: Bool {
        !isReadClosed && !isEnding && outbox.count < ControlClient.outboxLimit && inbox.count < ControlRequest.byteLimit
    }

    /// Reads the bytes that wait.
    /// - Returns: false if the connection is broken, or if an earlier call has found the client's sending direction closed.
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
