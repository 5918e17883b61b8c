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

    /// Where a line ends, and the entry it tells.
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
    /// A write of at most this many bytes to a pipe is not mixed with others (PIPE_BUF).
    private static let atomicByteCount = 4096

    let fileDescriptor: Int32
    /// Lines and the start of unwritten ones; appended to by a line writer.
    private(set) var bytes: [UInt8] = []
    private var writtenCount = 0
    private var marks: [Mark] = []
    private var firstMark = 0
    /// Lines queued since the start.
    private(set) var queuedLineCount = 0

    init(fileDescriptor: Int32) { self.fileDescriptor = fileDescriptor }

    var hasRoom: Bool { bytes.count - writtenCount < LineOutput.queueByteLimit }
    var isEmpty: Bool { writtenCount == bytes.count }

    /// Adds the line of an entry, written by `write`.
    func queue(_ receipt: EmissionReceipt, write: (inout [UInt8]) -> Void) {
        write(&bytes)
        marks.append(Mark(receipt: receipt, end: bytes.count))
        queuedLineCount += 1
    }

    /// Adds one whole line that is in no journal. A consumer that is too slow misses it.
    func queue(_ line: [UInt8]) {
        guard bytes.count - writtenCount < LineOutput.queueByteLimit + LineOutput.reservedByteCount else { return }
        bytes += line
        marks.append(Mark(receipt: nil, end: bytes.count))
        queuedLineCount += 1
    }

    /// Writes whole lines as long as the consumer takes them.
    /// - Parameter isWritten: called for every line that is out, with its entry if it tells one.
    func flush(isWritten: (EmissionReceipt?) -> Void) -> Progress {
        defer { compact() }
        while writtenCount < bytes.count {
            if let stop = writeSomeLines() { return stop }
            while firstMark < marks.count, marks[firstMark].end <= writtenCount {
                isWritten(marks[firstMark].receipt)
                firstMark += 1
            }
        }
        return .drained
    }

    /// Writes a chunk that ends with a line, and never blocks: a pipe that is ready has room for one chunk.
    /// - Returns: why nothing more can be written now; nil where it can.
    private func writeSomeLines() -> Progress? {
        var end = writtenCount
        var mark = firstMark
        while mark < marks.count, marks[mark].end - writtenCount <= LineOutput.atomicByteCount {
            end = marks[mark].end
            mark += 1
        }
        if end == writtenCount { end = min(bytes.count, writtenCount + LineOutput.atomicByteCount) }
        var query = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&query, 1, 0) > 0 else { return .blocked }
        let count = unsafe bytes.withUnsafeBytes { all in
            unsafe write(fileDescriptor, all.baseAddress?.advanced(by: writtenCount), end - writtenCount)
        }
        if count >= 0 {
            writtenCount += count
            return nil
        }
        switch errno {
        case EINTR: return nil
        case EAGAIN: return .blocked
        case EPIPE: return .closed
        default: return .failed(errorNumber: errno)
        }
    }

    private func compact() {
        guard writtenCount == bytes.count || writtenCount > LineOutput.queueByteLimit else { return }
        let removed = writtenCount
        bytes.removeFirst(removed)
        marks.removeFirst(firstMark)
        for index in marks.indices { marks[index].end -= removed }
        firstMark = 0
        writtenCount = 0
    }
}
