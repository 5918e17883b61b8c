/// The lines of a consumer: which of them wait, which are written, and which the consumer has.
///
/// It does no I/O: the owner writes ``unwritten`` and calls ``wrote(_:)``. Entries for whose lines there is no room stay in
/// the journal. The owner keeps the receipts of its entries, and learns how many of them the consumer has.
package struct LineQueue {
    /// The end of a line.
    private struct Mark {
        /// In bytes since the start.
        var end: Int
        /// False for a line that is in no journal.
        var isEntry: Bool
        /// False for an entry that the format cannot express, and for the start or end of a document.
        var isLine: Bool
    }

    /// Entries are queued while fewer bytes than this wait.
    package static let byteLimit = 65_536
    /// Entries are queued while fewer than this wait, also those that make no line.
    package static let entryLimit = 4096
    /// Additional room, which entries do not use, for lines that are in no journal: a consumer that lags must still
    /// receive them.
    package static let reservedByteCount = 65_536
    /// The number of written but unconfirmed lines at which ``takeRead(unreadByteCount:)`` is due. After a crash, unconfirmed
    /// lines are written again.
    package static let unreadLimit = 256

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
    package init(lineLimit: Int? = nil) { self.lineLimit = lineLimit }

    package var hasRoom: Bool {
        !isLimitReached && bytes.count - writtenCount < LineQueue.byteLimit && marks.count - firstUnwritten < LineQueue.entryLimit
    }
    package var isEmpty: Bool { writtenCount == bytes.count }
    /// Whether ``unreadLimit`` written lines are unconfirmed, so that ``takeRead(unreadByteCount:)`` is due.
    package var isReadingUnclear: Bool { firstUnwritten - firstUnread >= LineQueue.unreadLimit }
    /// Whether lines are written that the consumer may not have read.
    package var hasUnread: Bool { firstUnread < firstUnwritten }

    package var isLimitReached: Bool { lineLimit.map { queuedCount >= $0 } ?? false }

    /// Queues the line of an entry, which `write` appends.
    package mutating func queue(write: (inout [UInt8]) -> Void) {
        let count = bytes.count
        write(&bytes)
        markEnd(isEntry: true, isLine: bytes.count > count)
    }

    /// Appends bytes that belong to no line: the start or the end of a document.
    package mutating func append(_ write: (inout [UInt8]) -> Void) {
        write(&bytes)
        markEnd(isEntry: false, isLine: false)
    }

    /// Queues a whole line that is in no journal. If the consumer is too slow and no room is left, the line is dropped.
    package mutating func queue(_ line: [UInt8]) {
        guard !isLimitReached, bytes.count - writtenCount < LineQueue.byteLimit + LineQueue.reservedByteCount else { return }
        bytes += line
        markEnd(isEntry: false)
    }

    private mutating func markEnd(isEntry: Bool, isLine: Bool = true) {
        marks.append(Mark(end: removedCount + bytes.count, isEntry: isEntry, isLine: isLine))
        if isLine { queuedCount += 1 }
    }

    /// The bytes to write next: as many whole lines as fit in one atomic write, or a line that does not fit and what follows it.
    package var unwritten: ArraySlice<UInt8> {
        var end = writtenCount
        for mark in marks[firstUnwritten...] {
            guard mark.end - removedCount - writtenCount <= NonblockingOutput.atomicByteCount else { break }
            end = mark.end - removedCount
        }
        return bytes[writtenCount..<(end > writtenCount ? end : bytes.count)]
    }

    /// Notes that bytes of ``unwritten`` were written; 0 for entries that make no line.
    package mutating func wrote(_ count: Int) {
        writtenCount += count
        while firstUnwritten < marks.count, marks[firstUnwritten].end <= removedCount + writtenCount {
            if marks[firstUnwritten].isLine { writtenLineCount += 1 }
            firstUnwritten += 1
        }
        compact()
    }

    /// Takes the entries whose lines were read, oldest first.
    /// - Parameter unread: written bytes that the consumer does not have.
    /// - Returns: the number of the entries.
    package mutating func takeRead(unreadByteCount unread: Int) -> Int {
        let end = removedCount + writtenCount - min(unread, removedCount + writtenCount)
        var count = 0
        while firstUnread < firstUnwritten, marks[firstUnread].end <= end {
            if marks[firstUnread].isEntry { count += 1 }
            firstUnread += 1
        }
        return count
    }

    private mutating func compact() {
        if firstUnread == marks.count || firstUnread > LineQueue.unreadLimit {
            marks.removeFirst(firstUnread)
            firstUnwritten -= firstUnread
            firstUnread = 0
        }
        guard writtenCount == bytes.count || writtenCount > LineQueue.byteLimit else { return }
        bytes.removeFirst(writtenCount)
        removedCount += writtenCount
        writtenCount = 0
    }
}
