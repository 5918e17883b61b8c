import Glibc

/// The result of one read from a terminal.
package enum ReadResult: Equatable, Sendable {
    /// This many bytes, at least 1, were stored at the start of the buffer.
    case bytes(Int)
    case wouldBlock
    /// The other end is gone, and the descriptor will never give bytes again (but see ``PseudoTerminal/read(into:)``).
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

/// Reads and writes of a non-blocking descriptor of a terminal or a connection.
package enum StreamTransfer {
    /// Reads the waiting bytes into the start of the buffer, which must not be empty.
    package static func read(_ descriptor: Int32, into buffer: inout [UInt8]) -> ReadResult {
        // A read into an empty buffer returns 0, as a hang-up does.
        precondition(!buffer.isEmpty, "reading into an empty buffer")
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
            }
            if count > 0 { return .bytes(count) }
            if count == 0 { return .disconnected }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            // An unplugged adapter gives EIO, ENODEV or ENXIO. After any other error of a terminal, too, the port can
            // only be closed; opening it again reports the cause.
            default: return .disconnected
            }
        }
    }

    /// Writes as many bytes as the output queue takes now. The result is `.written(0)` only if `bytes` is empty.
    package static func write(_ bytes: Span<UInt8>, to descriptor: Int32) -> WriteResult {
        if bytes.isEmpty { return .written(0) }
        while true {
            let count = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count > 0 { return .written(count) }
            if count == 0 { return .wouldBlock }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: return .disconnected
            }
        }
    }
}
