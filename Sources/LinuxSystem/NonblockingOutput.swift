import CLinux
import Glibc

/// Writes to a descriptor without ever waiting for its reader. Other programs may have the descriptor open too, so its
/// blocking mode stays unchanged.
package final class NonblockingOutput {
    private enum Kind {
        /// A pipe. If poll reports room, there is room for ``atomicByteCount`` bytes.
        case pipe
        case socket
        /// A terminal. It reports room even if it takes only one byte, so a thread does the writes, which may block.
        case relayed(unread: Int32)
        /// A file, or a device that takes everything at once.
        case other
    }

    /// A write of at most this many bytes to a pipe is not mixed with other writes (PIPE_BUF).
    package static let atomicByteCount = 4096
    /// How long ``drain()`` waits at most, in milliseconds.
    private static let drainTime = 200
    /// The longest wait for the reader of a pipe to read or to end, in hundredths of a second.
    private static let readerTime = 30

    private let original: Int32
    /// The descriptor that is written to, and its kind; nil before the first write.
    private var target: (fileDescriptor: Int32, kind: Kind)?
    private var isDrainOver = false

    /// Creates an output for a descriptor, which the caller still owns.
    package init(_ fileDescriptor: Int32) { original = fileDescriptor }

    /// The descriptor that becomes writable when there is room.
    package var fileDescriptor: Int32 { target?.fileDescriptor ?? original }

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

    /// Writes at most `atomicByteCount` bytes.
    /// - Returns: the number of bytes written; -1 with `errno` on failure, EAGAIN where there is no room.
    package func write(_ bytes: ArraySlice<UInt8>) -> Int {
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

    /// Bytes that were written and not read yet, as far as that can be known.
    package var unreadByteCount: Int {
        switch target?.kind {
        case .pipe: Int(unread_byte_count(fileDescriptor))
        case .relayed(let unread): Int(unread_byte_count(unread))
        // How much of it was read is not known before all is.
        case .socket: has_unsent_bytes(fileDescriptor) ? .max : 0
        case .other, nil: 0
        }
    }

    /// Makes what was written to a file durable. Anything else has nothing to make durable.
    package func synchronize() { if case .other = target?.kind { _ = fdatasync(fileDescriptor) } }

    /// Bytes that a terminal has not taken yet; they are lost when the process ends.
    package var undeliveredByteCount: Int { if case .relayed = target?.kind { unreadByteCount } else { 0 } }

    /// Bytes that are lost if the process ends now: bytes in a pipe whose reader is gone, or bytes that a terminal has not
    /// taken after ``drain()``, which this property calls. The first call waits briefly while a pipe has a reader and bytes.
    package var lostByteCount: Int {
        guard case .pipe = target?.kind else {
            drain()
            return undeliveredByteCount
        }
        // A signal to a whole pipeline ends the reader a moment after this process, with bytes unread.
        var isReaderGone = false
        for _ in 0..<NonblockingOutput.readerTime where unreadByteCount > 0 && !isReaderGone && !isDrainOver {
            isReaderGone = hasNoReader(afterMilliseconds: 10)
        }
        isDrainOver = true
        return hasNoReader(afterMilliseconds: 0) ? unreadByteCount : 0
    }

    /// Whether a pipe has no reader. Waits until it has none, but not longer than the time.
    private func hasNoReader(afterMilliseconds time: Int32) -> Bool {
        var query = pollfd(fd: fileDescriptor, events: 0, revents: 0)
        return unsafe poll(&query, 1, time) > 0 && query.revents & Int16(POLLERR) != 0
    }

    /// Waits briefly until a terminal has taken all bytes. If bytes are left after that, further calls return without waiting
    /// until one of them finds that the terminal has taken all bytes.
    package func drain() {
        for _ in 0..<NonblockingOutput.drainTime where undeliveredByteCount > 0 && !isDrainOver { usleep(1000) }
        isDrainOver = undeliveredByteCount > 0
    }
}
