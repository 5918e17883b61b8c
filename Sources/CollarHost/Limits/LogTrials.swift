import CollarARQ

/// The logs with which one frame is tried. The first is free. Each further one takes a part of the link's budget, which a frame that
/// fits gives back: so a station whose frames fit nothing cannot make the host try them with all logs.
struct LogTrials {
    let now: Instant
    private let link: Link
    private var count = 0

    init(of link: Link, at now: Instant) {
        self.link = link
        self.now = now
    }

    /// Whether the frame is tried with another log.
    mutating func mayTry() -> Bool {
        guard count == 0 || link.furtherLogs.take(at: now) else { return false }
        count += 1
        return true
    }

    /// The frame fits the log that was tried last.
    func succeeded() { link.furtherLogs.earn(max(0, count - 1)) }
}
