import Glibc

/// The result of writing lines.
package enum LineProgress: Equatable, Sendable {
    /// All lines are written.
    case drained
    /// All lines up to the limit are written.
    case limitReached
    /// All queued lines are written, and more wait.
    case paused
    /// All lines up to the limit are written, and a terminal has not taken the last of them.
    case heldUp
    /// The consumer does not read now.
    case blocked
    /// The consumer is gone.
    case closed
    case failed(errorNumber: Int32)
}

/// Writes the lines of a ``LineQueue`` to a descriptor. It never blocks.
package final class LineOutput {
    /// When to check again after ``LineProgress/heldUp``, in microseconds.
    package static let heldUpInterval: Int64 = 20_000

    private let output: NonblockingOutput
    package var lines: LineQueue

    /// - Parameter lineLimit: the number of lines after which no more are queued; nil for no limit.
    package init(fileDescriptor: Int32, lineLimit: Int? = nil) {
        output = NonblockingOutput(fileDescriptor)
        lines = LineQueue(lineLimit: lineLimit)
    }

    /// The descriptor that becomes writable when the consumer reads.
    package var fileDescriptor: Int32 { output.fileDescriptor }

    /// Fills the queue and writes it, as long as the consumer takes the lines, but not more often than `rounds`.
    /// - Parameter fill: queues lines while there is room, and returns whether no further one waits.
    package func pump(rounds: Int, fill: () -> Bool) -> LineProgress {
        for _ in 0..<rounds {
            let isComplete = fill()
            let progress = flush()
            if progress == .drained, lines.isLimitReached { return output.undeliveredByteCount > 0 ? .heldUp : .limitReached }
            if progress != .drained || isComplete { return progress }
        }
        return .paused
    }

    /// Writes whole lines as long as the consumer takes them.
    package func flush() -> LineProgress {
        while !lines.isEmpty {
            let count = output.write(lines.unwritten)
            guard count < 0 else {
                lines.wrote(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .blocked
            case EPIPE, ECONNRESET: return .closed
            default: return .failed(errorNumber: errno)
            }
        }
        lines.wrote(0)
        return .drained
    }

    /// Makes written lines durable if they went to a file.
    package func synchronize() { output.synchronize() }

    /// Takes the entries whose lines were read, oldest first. Bytes that are still in a pipe when its reader goes away do not count as
    /// read.
    /// - Parameter isLast: whether nothing more will be written. If so, bytes in a pipe count as read if the pipe has a reader.
    /// - Returns: the number of the entries.
    package func takeRead(isLast: Bool) -> Int {
        guard lines.hasUnread else { return 0 }
        return lines.takeRead(unreadByteCount: isLast ? output.lostByteCount : output.unreadByteCount)
    }
}
