/// When the radio of a half-duplex link must receive: from a poll until its answer comes or cannot come any more.
struct ReceiveWindow: Equatable, Sendable {
    private var start: Instant?
    private(set) var end: Instant?
    private var closedMicroseconds: Int64 = 0

    /// Opens the window.
    mutating func open(from start: Instant, to end: Instant) {
        close(at: start)
        self.start = start
        self.end = end
    }

    /// Moves the end, because another answer can come later.
    mutating func extend(to end: Instant) {
        if let present = self.end { self.end = max(present, end) }
    }

    /// Closes the window, if it is open.
    mutating func close(at now: Instant) {
        closedMicroseconds = microseconds(until: now)
        start = nil
        end = nil
    }

    /// The total of all windows, in microseconds.
    func microseconds(until now: Instant) -> Int64 {
        guard let start, let end else { return closedMicroseconds }
        return closedMicroseconds &+ max(0, min(now, end).microseconds(since: start))
    }
}
