import CLinuxEvents
import CollarBridge
import Glibc

/// A connection to the control socket of a running receiver, for a program that waits for what it is told.
public final class ControlConnection {
    /// Why there is none.
    public enum ConnectError: Error, Equatable, Sendable {
        /// Nobody listens for the state directory.
        case absent
        /// Nobody listens, and who did was killed: whoever restarts it may do so at any moment.
        case deserted
        /// Somebody listens, and this user may not connect; the socket file.
        case denied(path: String)
        /// The system refuses; the path that was tried, and errno.
        case system(path: String, errorNumber: Int32)
    }

    /// What came in.
    public enum Reception: Equatable, Sendable {
        /// A line.
        case line(ResultLine)
        /// The time is over.
        case timeout
        /// The receiver is gone, or says what cannot be understood.
        case closed
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// A line of a receiver is never as long.
    private static let lineLimit = 65_536

    /// Connects to whoever listens for a state directory.
    /// - Parameters:
    ///   - runtimeDirectory: `XDG_RUNTIME_DIR`; nil where that is not set.
    ///   - patience: how long to try while too many others connect, in milliseconds.
    public init(stateDirectory: String, runtimeDirectory: String?, patienceMilliseconds: Int64 = 2000) throws(ConnectError) {
        var failure = ConnectError.absent
        let end = MonotonicClock.microseconds + patienceMilliseconds * 1000
        for place in ControlPlace.all(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory) {
            while true {
                let connected = unsafe local_socket_connect(place.path)
                if connected >= 0 {
                    descriptor = connected
                    return
                }
                guard errno == EAGAIN, MonotonicClock.microseconds < end else { break }
                usleep(10_000)
            }
            switch errno {
            case ENOENT, ENAMETOOLONG, ENOTDIR: break
            case ECONNREFUSED: if failure == .absent { failure = .deserted }
            case EACCES, EPERM: failure = .denied(path: place.path)
            default: failure = .system(path: place.path, errorNumber: errno)
            }
        }
        throw failure
    }

    deinit { close(descriptor) }

    /// Gives a request. Where the receiver is gone ``next(untilMicroseconds:)`` tells it.
    public func send(_ request: ControlRequest) {
        let line = request.line
        _ = unsafe line.withUnsafeBytes { unsafe local_socket_send(descriptor, $0.baseAddress, $0.count) }
    }

    /// Waits for the next line until a time of ``MonotonicClock``.
    public func next(untilMicroseconds end: Int64) -> Reception {
        while true {
            if let feed = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = ResultLine(bytes: buffer[..<feed])
                buffer.removeFirst(feed + 1)
                return line.map { .line($0) } ?? .closed
            }
            let rest = end - MonotonicClock.microseconds
            guard rest > 0 else { return .timeout }
            var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&query, 1, Int32(clamping: (rest + 999) / 1000))
            if ready < 0, errno != EINTR { return .closed }
            guard ready > 0 else { continue }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0, buffer.count < ControlConnection.lineLimit else { return .closed }
            buffer += chunk[..<count]
        }
    }
}
