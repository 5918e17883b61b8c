import Glibc

/// What one read from a terminal gave.
public enum ReadResult: Equatable, Sendable {
    /// This many bytes, at least 1, were put at the start of the buffer.
    case bytes(Int)
    /// Nothing is waiting now.
    case wouldBlock
    /// The other end is gone; the descriptor will never give anything again (``PseudoTerminal`` says when it will).
    case disconnected
}

/// What one write to a terminal did.
public enum WriteResult: Equatable, Sendable {
    /// This many bytes from the start, at least 1 and perhaps fewer than were offered, were taken.
    case written(Int)
    /// The output queue is full: nothing was taken.
    case wouldBlock
    /// The other end is gone; nothing was taken.
    case disconnected
}

/// Reads and writes of a non-blocking terminal descriptor.
enum TerminalTransfer {
    /// Reads what is waiting over the start of the buffer, which must not be empty.
    static func read(_ descriptor: Int32, into buffer: inout [UInt8]) -> ReadResult {
        // A read of no bytes also returns zero, which would be taken for a hang-up.
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
            // EIO, ENODEV and ENXIO are what an unplugged adapter gives. Whatever else a read of a terminal fails
            // with leaves nothing to do but to close it, and opening it again reports the cause.
            default: return .disconnected
            }
        }
    }

    /// Writes as much as the output queue takes. Nothing to write is `.written(0)`.
    static func write(_ bytes: Span<UInt8>, to descriptor: Int32) -> WriteResult {
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
