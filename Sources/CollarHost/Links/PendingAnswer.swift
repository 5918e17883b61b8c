import CollarARQ
import CollarWire

/// The answer that a collar waits for.
struct PendingAnswer {
    /// The open links that heard the poll, in their order, and the strength of the poll there in dBm, if the radio reports it.
    private(set) var hearers: [(link: LinkID, strengthDBm: Int16?)]
    /// When the poll was received.
    let askedAt: Instant
    /// The answer waits for other radios until this time; nil once it may go out.
    var holdUntil: Instant?

    init(link: LinkID, signal: RadioSignal?, askedAt: Instant, holdUntil: Instant?) {
        hearers = [(link, signal?.plausibleStrengthDBm)]
        self.askedAt = askedAt
        self.holdUntil = holdUntil
    }

    /// Another link has heard the poll, too.
    mutating func offer(_ other: LinkID, signal: RadioSignal?) {
        if !hearers.contains(where: { $0.link == other }) { hearers.append((other, signal?.plausibleStrengthDBm)) }
    }

    /// A link was closed.
    /// - Returns: false if no link is left.
    mutating func close(_ closed: LinkID) -> Bool {
        hearers.removeAll { $0.link == closed }
        return !hearers.isEmpty
    }
}

extension RadioSignal {
    /// The strength, if a radio can measure it: receivers do not report less than −160 dBm or more than 20 dBm.
    fileprivate var plausibleStrengthDBm: Int16? { (-160...20).contains(strengthDBm) ? strengthDBm : nil }
}
