import Glibc

/// The result of one read from a terminal.
package enum ReadResult: Equatable, Sendable {
    /// This many bytes, at least 1, were stored at the start of the buffer.
    case bytes(Int)
    case wouldBlock
    /// The other end is gone, and the descriptor will never give bytes again, unless a program opens the other end of a
    /// `PseudoTerminal` later.
    case disconnected
}

/// The result of one write to a terminal.
package enum WriteResult: Equatable, Sendable {
    /// This many bytes from the start were taken, perhaps fewer than were offered; 0 only if none were offered.
    case written(Int)
    /// The output queue is full: nothing was taken.
    case wouldBlock
    /// The other end is gone; nothing was taken.
    case disconnected
}

/// An end of a terminal or a connection. No call blocks.
package protocol StreamEnd: AnyObject {
    /// The descriptor, for epoll; −1 once it is closed.
    var fileDescriptor: Int32 { get }
}

extension StreamEnd {
    /// Whether the other end is gone; bytes that came before may still wait.
    package var isHungUp: Bool {
        var state = pollfd(fd: fileDescriptor, events: 0, revents: 0)
        guard fileDescriptor >= 0, unsafe poll(&state, 1, 0) >= 0 else { return true }
        return state.revents & Int16(POLLHUP) != 0
    }

    /// Reads the waiting bytes into the start of the array, which must not be empty and keeps its length.
    package func read(into buffer: inout [UInt8]) -> ReadResult {
        // A read into an empty buffer returns 0, as a hang-up does.
        precondition(!buffer.isEmpty, "reading into an empty buffer")
        let count = uninterrupted {
            unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(fileDescriptor, $0.baseAddress, $0.count) }
        }
        if count > 0 { return .bytes(count) }
        // An unplugged adapter gives EIO, ENODEV or ENXIO. After any other error of a terminal, too, the port can only be closed;
        // opening it again reports the cause.
        return count < 0 && errno == EAGAIN ? .wouldBlock : .disconnected
    }

    /// Writes as many bytes as the queue to the other end takes now. The result is `.written(0)` only if `bytes` is empty.
    package func write(_ bytes: Span<UInt8>) -> WriteResult {
        if bytes.isEmpty { return .written(0) }
        let count = uninterrupted {
            unsafe bytes.withUnsafeBufferPointer { unsafe Glibc.write(fileDescriptor, $0.baseAddress, $0.count) }
        }
        if count > 0 { return .written(count) }
        return count == 0 || errno == EAGAIN ? .wouldBlock : .disconnected
    }
}
