import CollarHost
import Glibc

/// Lines on their way to a consumer. It never blocks: what a consumer does not take stays in the journal.
final class LineOutput {
    /// What became of the lines.
    enum Progress: Equatable {
        /// All are written.
        case drained
        /// The consumer does not read now.
        case blocked
        /// The consumer is gone.
        case closed
        /// Writing failed.
        case failed(errorNumber: Int32)
    }

    /// Where a line ends in all that is ever written, and the entry it tells.
    private struct Mark {
        /// Nil for a line that is in no journal.
        var receipt: EmissionReceipt?
        var end: Int
    }

    /// Lines are queued while fewer bytes than this wait.
    private static let queueByteLimit = 65_536
    /// Room beyond that, also beyond the entries that are read back at once, for lines that are in no journal: a consumer
    /// that is behind shall learn it.
    private static let reservedByteCount = 65_536
    /// Lines that may be written and not known to be read: so many come again after a crash.
    private static let unreadLineLimit = 256

    private let output: NonblockingOutput
    /// Lines and the start of unwritten ones; appended to by a line writer.
    private(set) var bytes: [UInt8] = []
    private var writtenCount = 0
    /// Bytes that were in ``bytes`` before.
    private var removedCount = 0
    private var marks: [Mark] = []
    private var firstUnwritten = 0
    private var firstUnread = 0
    /// Lines queued since the start.
    private(set) var queuedLineCount = 0
    /// Lines written since the start.
    private(set) var writtenLineCount = 0

    init(fileDescriptor: Int32) { output = NonblockingOutput(fileDescriptor) }

    /// What is ready for writing when the consumer reads.
    var fileDescriptor: Int32 { output.fileDescriptor }
    var hasRoom: Bool { bytes.count - writtenCount < LineOutput.queueByteLimit }
    var isEmpty: Bool { writtenCount == bytes.count }
    /// Whether it is time for ``takeRead(isLast:_:)``.
    var isReadingUnclear: Bool { firstUnwritten - firstUnread >= LineOutput.unreadLineLimit }
    /// Whether a terminal has not taken all that is written.
    var isHeldUp: Bool { output.undeliveredByteCount > 0 }

    /// Adds the line of an entry, written by `write`.
    func queue(_ receipt: EmissionReceipt, write: (inout [UInt8]) -> Void) {
        write(&bytes)
        markEnd(of: receipt)
    }

    /// Adds one whole line that is in no journal. A consumer that is too slow misses it.
    func queue(_ line: [UInt8]) {
        guard bytes.count - writtenCount < LineOutput.queueByteLimit + LineOutput.reservedByteCount else { return }
        bytes += line
        markEnd(of: nil)
    }

    private func markEnd(of receipt: EmissionReceipt?) {
        marks.append(Mark(receipt: receipt, end: removedCount + bytes.count))
        queuedLineCount += 1
    }

    /// Writes whole lines as long as the consumer takes them.
    func flush() -> Progress {
        defer { compact() }
        while writtenCount < bytes.count {
            if let stop = writeSomeLines() { return stop }
        }
        return .drained
    }

    /// Writes a chunk that ends with a line.
    /// - Returns: why no more can be written; nil where it can.
    private func writeSomeLines() -> Progress? {
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
        while firstUnwritten < marks.count, marks[firstUnwritten].end <= removedCount + writtenCount {
            firstUnwritten += 1
            writtenLineCount += 1
        }
        return nil
    }

    /// Hands out the entries of lines that were read, oldest first. What is written to a pipe and not read when its reader goes
    /// away never is.
    /// - Parameter isLast: nothing more will be written: what waits for a reader that is there counts as read.
    func takeRead(isLast: Bool, _ isRead: (EmissionReceipt) -> Void) {
        guard firstUnread < firstUnwritten else { return }
        let end = removedCount + writtenCount - (isLast ? output.lostByteCount : output.unreadByteCount)
        while firstUnread < firstUnwritten, marks[firstUnread].end <= end {
            if let receipt = marks[firstUnread].receipt { isRead(receipt) }
            firstUnread += 1
        }
    }

    private func compact() {
        if firstUnread == marks.count || firstUnread > LineOutput.unreadLineLimit {
            marks.removeFirst(firstUnread)
            firstUnwritten -= firstUnread
            firstUnread = 0
        }
        guard writtenCount == bytes.count || writtenCount > LineOutput.queueByteLimit else { return }
        bytes.removeFirst(writtenCount)
        removedCount += writtenCount
        writtenCount = 0
    }
}
