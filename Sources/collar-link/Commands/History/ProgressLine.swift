import CollarJournal
import CollarReceiver
import Glibc
import LinuxSystem

/// Shows on a terminal how much of the journals is read, while stdout goes elsewhere.
struct ProgressLine {
    /// The shortest time between two changes of the line, in microseconds.
    private static let interval: Int64 = 100_000

    /// The sizes of the journals; empty where nothing is to be shown.
    private var extents: [UInt64: JournalExtent] = [:]
    /// Bytes of all journals, and of those that are read.
    private var totalByteCount = 0
    private var finishedByteCount = 0
    private var current: JournalExtent?
    private var shownMicroseconds: Int64 = 0

    /// - Parameter readers: a reader of each journal that will be read. It is called only if there is a terminal to be served.
    init(_ readers: () -> [JournalReader]) {
        guard isatty(STDOUT_FILENO) == 0, isatty(STDERR_FILENO) == 1 else { return }
        for reader in readers() {
            // A journal that cannot be read is reported when it is its turn.
            do throws(JournalError) { extents[reader.deviceID] = try reader.extent() } catch { continue }
        }
        totalByteCount = extents.values.reduce(0) { $0 + $1.byteCount }
        shownMicroseconds = MonotonicClock.microseconds
    }

    /// Tells that a journal will be read now.
    mutating func begin(_ reader: JournalReader) {
        finishedByteCount += current?.byteCount ?? 0
        current = extents[reader.deviceID]
    }

    /// Shows how far the current journal is read, at most ten times a second.
    mutating func show(_ position: JournalPosition) {
        guard let current else { return }
        let now = MonotonicClock.microseconds
        guard now - shownMicroseconds >= ProgressLine.interval else { return }
        shownMicroseconds = now
        let byteCount = finishedByteCount + current.byteCount(before: position)
        StandardError.show("\(byteCount * 100 / max(totalByteCount, 1)) %")
    }
}
