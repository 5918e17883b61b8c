import CollarARQ
import SerialDevices

/// What other programs do with an open port: they open it, or read from it.
struct PortOpenings {
    /// Time after an opening until it is looked at: some programs close the port again at once. Microseconds.
    private static let patience: Int64 = 300_000
    /// Time between two looks, in microseconds.
    private static let interval: Int64 = 1_000_000

    let watcher: OpeningWatcher
    /// When to look which program has the port open; nil if nothing has happened since the last look.
    private(set) var dueAt: Instant?
    /// Whether a program that this user cannot see was reported.
    var isUnseenReported = false
    private var lookedAt: Instant?

    init(_ watcher: OpeningWatcher) { self.watcher = watcher }

    /// A program has opened the port, or one that had it open before has begun to read.
    mutating func noteNews(at now: Instant) {
        let earliest = now.advanced(byMicroseconds: PortOpenings.patience)
        dueAt = dueAt ?? lookedAt.map { max(earliest, $0.advanced(byMicroseconds: PortOpenings.interval)) } ?? earliest
    }

    /// The processes are looked at now.
    mutating func noteLook(at now: Instant) {
        lookedAt = now
        dueAt = nil
    }
}
