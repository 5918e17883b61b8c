import Glibc

/// The result of writing lines.
package enum LineProgress: Equatable {
    /// All lines are written.
    case drained
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

/// The bounds of the queue of a ``LineOutput``.
private enum LineLimits {
    /// Entries are queued while fewer bytes than this wait.
    static let queueByteCount = 65_536
    /// Entries are queued while fewer than this wait, also those that make no line.
    static let queueLineCount = 4096
    /// Additional room, which entries do not use, for lines that are in no journal: a consumer that lags must still
    /// receive them.
    static let reservedByteCount = 65_536
    /// The number of written but unconfirmed lines at which ``LineOutput/takeRead(isLast:)`` is due. After a crash, unconfirmed
    /// lines are written again.
    static let unreadLineCount = 256
}

/// Queues lines for a consumer and writes them. It never blocks: entries for whose lines the queue has no room stay in the
/// journal. The owner keeps the receipts of its entries, and learns how many of them the consumer has.
package final class LineOutput {
    /// The end of a line.
    private struct Mark {
        /// In bytes since the start.
        var end: Int
        /// False for a line that is in no journal.
        var isEntry: Bool
        /// False for an entry that the format cannot express, and for the start or end of a document.
        var isLine: Bool
    }

    /// When to check again after ``LineProgress/heldUp``, in microseconds.
    package static let heldUpInterval: Int64 = 20_000

    private let output: NonblockingOutput
    private let lineLimit: Int?
    /// The bytes of the queued lines, of which the first `writtenCount` are written. Line writers append to them.
    private var bytes: [UInt8] = []
    private var writtenCount = 0
    /// Bytes that were removed from the front of ``bytes`` since the start.
    private var removedCount = 0
    private var marks: [Mark] = []
    private var firstUnwritten = 0
    private var firstUnread = 0
    private var queuedCount = 0
    /// Lines written since the start.
    package private(set) var writtenLineCount = 0

    /// - Parameter lineLimit: the number of lines after which no more are queued; nil for no limit.
    package init(fileDescriptor: Int32, lineLimit: Int? = nil) {
        output = NonblockingOutput(fileDescriptor)
        self.lineLimit = lineLimit
    }

    /// The descriptor that becomes writable when the consumer reads.
    package var fileDescriptor: Int32 { output.fileDescriptor }
    package var hasRoom: Bool {
        !isLimitReached && bytes.count - writtenCount < LineLimits.queueByteCount && marks.count - firstUnwritten < LineLimits.queueLineCount
    }
    package var isEmpty: Bool { writtenCount == bytes.count }
    /// Whether so many written lines are unconfirmed that ``takeRead(isLast:)`` is due.
    package var isReadingUnclear: Bool { firstUnwritten - firstUnread >= LineLimits.unreadLineCount }
    /// Whether lines are written that the consumer may not have read.
    package var hasUnread: Bool { firstUnread < firstUnwritten }

    package var isLimitReached: Bool { lineLimit.map { queuedCount >= $0 } ?? false }

    /// Queues the line of an entry, which `write` appends.
    package func queue(write: (inout [UInt8]) -> Void) {
        let count = bytes.count
        write(&bytes)
        markEnd(isEntry: true, isLine: bytes.count > count)
    }

    /// Appends bytes that belong to no line: the start or the end of a document.
    package func append(_ write: (inout [UInt8]) -> Void) {
        write(&bytes)
        markEnd(isEntry: false, isLine: false)
    }

    /// Queues a whole line that is in no journal. If the consumer is too slow and no room is left, the line is dropped.
    package func queue(_ line: [UInt8]) {
        guard !isLimitReached, bytes.count - writtenCount < LineLimits.queueByteCount + LineLimits.reservedByteCount else { return }
        bytes += line
        markEnd(isEntry: false)
    }

    private func markEnd(isEntry: Bool, isLine: Bool = true) {
        marks.append(Mark(end: removedCount + bytes.count, isEntry: isEntry, isLine: isLine))
        if isLine { queuedCount += 1 }
    }

    /// Fills the queue and writes it, as long as the consumer takes the lines, but not more often than `rounds`.
    /// - Parameter fill: queues lines while there is room, and returns whether no further one waits.
    package func pump(rounds: Int, fill: () -> Bool) -> LineProgress {
        for _ in 0..<rounds {
            let isComplete = fill()
            let progress = flush()
            if progress == .drained, isLimitReached { return output.undeliveredByteCount > 0 ? .heldUp : .drained }
            if progress != .drained || isComplete { return progress }
        }
        return .paused
    }

    /// Writes whole lines as long as the consumer takes them.
    package func flush() -> LineProgress {
        defer { compact() }
        while writtenCount < bytes.count {
            if let stop = writeSomeLines() { return stop }
        }
        noteWritten()
        return .drained
    }

    /// Writes as many whole lines as fit in one atomic write, or a part of a line that does not fit.
    /// - Returns: why no more can be written now; nil if the caller can continue.
    private func writeSomeLines() -> LineProgress? {
        var end = writtenCount
        for mark in marks[firstUnwritten...] {
            guard mark.end - removedCount - writtenCount <= NonblockingOutput.atomicByteCount else { break }
            end = mark.end - removedCount
        }
        let count = output.write(bytes[writtenCount..<(end > writtenCount ? end : bytes.count)])
        guard count >= 0 else {
            switch errno {
            case EINTR: return nil
            case EAGAIN: return .blocked
            case EPIPE, ECONNRESET: return .closed
            default: return .failed(errorNumber: errno)
            }
        }
        writtenCount += count
        noteWritten()
        return nil
    }

    private func noteWritten() {
        while firstUnwritten < marks.count, marks[firstUnwritten].end <= removedCount + writtenCount {
            if marks[firstUnwritten].isLine { writtenLineCount += 1 }
            firstUnwritten += 1
        }
    }

    /// Makes written lines durable if they went to a file.
    package func synchronize() { output.synchronize() }

    /// Takes the entries whose lines were read, oldest first. Bytes that are still in a pipe when its reader goes away do not count as
    /// read.
    /// - Parameter isLast: whether nothing more will be written. If so, bytes in a pipe count as read if the pipe has a reader.
    /// - Returns: the number of the entries.
    package func takeRead(isLast: Bool) -> Int {
        guard firstUnread < firstUnwritten else { return 0 }
        let unread = isLast ? output.lostByteCount : output.unreadByteCount
        let end = removedCount + writtenCount - min(unread, removedCount + writtenCount)
        var count = 0
        while firstUnread < firstUnwritten, marks[firstUnread].end <= end {
            if marks[firstUnread].isEntry { count += 1 }
            firstUnread += 1
        }
        return count
    }

    private func compact() {
        if firstUnread == marks.count || firstUnread > LineLimits.unreadLineCount {
            marks.removeFirst(firstUnread)
            firstUnwritten -= firstUnread
            firstUnread = 0
        }
        guard writtenCount == bytes.count || writtenCount > LineLimits.queueByteCount else { return }
        bytes.removeFirst(writtenCount)
        removedCount += writtenCount
        writtenCount = 0
    }
}
