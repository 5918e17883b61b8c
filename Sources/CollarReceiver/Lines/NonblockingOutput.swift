import CLinuxEvents
import Glibc

/// A descriptor that is written to without ever waiting for who reads it. Others may have it open too: its mode stays as it is.
public final class NonblockingOutput {
    private enum Kind {
        /// Has room for ``atomicByteCount`` where poll says that it has any.
        case pipe
        case socket
        /// A terminal says that it has room where it takes a byte. A thread waits for it.
        case relayed(unread: Int32)
        /// A file, or a device that takes everything at once.
        case other
    }

    /// A write of at most this many bytes to a pipe is not mixed with others (PIPE_BUF).
    static let atomicByteCount = 4096
    /// How long ``drain()`` waits, in milliseconds.
    private static let drainTime = 200

    private let original: Int32
    /// What is written to, and how; nil before the first write.
    private var target: (fileDescriptor: Int32, kind: Kind)?
    private var isDrainOver = false

    /// An output at a descriptor, which stays the caller's.
    public init(_ fileDescriptor: Int32) { original = fileDescriptor }

    /// What is ready for writing when there is room.
    var fileDescriptor: Int32 { target?.fileDescriptor ?? original }

    private func open() -> (fileDescriptor: Int32, kind: Kind) {
        var relay = output_relay()
        if isatty(original) == 1, unsafe output_relay_start(original, &relay) == 0 {
            return (relay.input, .relayed(unread: relay.unread))
        }
        var status = stat()
        guard unsafe fstat(original, &status) == 0 else { return (original, .other) }
        switch status.st_mode & S_IFMT {
        case S_IFIFO: return (original, .pipe)
        case S_IFSOCK: return (original, .socket)
        default: return (original, .other)
        }
    }

    /// Writes at most ``atomicByteCount`` bytes.
    /// - Returns: how many; -1 with `errno`, which is EAGAIN where there is no room.
    public func write(_ bytes: ArraySlice<UInt8>) -> Int {
        let target = target ?? open()
        self.target = target
        let count = min(bytes.count, NonblockingOutput.atomicByteCount)
        return unsafe bytes.withUnsafeBytes { bytes in
            switch target.kind {
            case .socket, .relayed: return unsafe local_socket_send(target.fileDescriptor, bytes.baseAddress, count)
            case .pipe:
                var query = pollfd(fd: target.fileDescriptor, events: Int16(POLLOUT), revents: 0)
                guard unsafe poll(&query, 1, 0) > 0 else {
                    errno = EAGAIN
                    return -1
                }
                fallthrough
            case .other: return unsafe Glibc.write(target.fileDescriptor, bytes.baseAddress, count)
            }
        }
    }

    /// Bytes that were written and not read, as far as that can be known.
    var unreadByteCount: Int {
        switch target?.kind {
        case .pipe: Int(unread_byte_count(fileDescriptor))
        case .relayed(let unread): Int(unread_byte_count(unread))
        case .socket, .other, nil: 0
        }
    }

    /// Bytes that wait for a terminal: they go with the process.
    var undeliveredByteCount: Int { if case .relayed = target?.kind { unreadByteCount } else { 0 } }

    /// Bytes that nobody will read if the process ends now: those in a pipe whose reader is gone, or that a terminal does not take.
    var lostByteCount: Int {
        guard case .pipe = target?.kind else {
            drain()
            return undeliveredByteCount
        }
        var query = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&query, 1, 0) > 0 && query.revents & Int16(POLLERR) != 0 ? unreadByteCount : 0
    }

    /// Gives a terminal a moment for the last bytes, once.
    public func drain() {
        for _ in 0..<NonblockingOutput.drainTime where undeliveredByteCount > 0 && !isDrainOver { usleep(1000) }
        isDrainOver = undeliveredByteCount > 0
    }
}
