import CollarARQ

/// The logs whose CRC is compared with that of one frame. The first one is free. Each further one costs a token of the link; if the
/// frame fits a log, the tokens are returned. So a station whose frames fit no log cannot make the host try all logs with each.
struct LogTrials {
    let now: Instant
    private let link: Link
    private var count = 0

    init(of link: Link, at now: Instant) {
        self.link = link
        self.now = now
    }

    /// Whether the frame may be tried with another log. If so, the trial counts.
    mutating func mayTry() -> Bool {
        guard count == 0 || link.furtherLogs.take(at: now) else { return false }
        count += 1
        return true
    }

    /// The frame fits the log that was tried last.
    func succeeded() { link.furtherLogs.earn(max(0, count - 1)) }
}
