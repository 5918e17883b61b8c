import CollarARQ

/// The answer that a collar waits for.
struct PendingAnswer {
    /// The link on which the answer goes out: the one with the strongest signal of those that heard the poll.
    private(set) var link: LinkID
    /// The answer waits for other radios until this time; nil once it may go out.
    var holdUntil: Instant?

    init(link: LinkID, holdUntil: Instant?) {
        self.link = link
        self.holdUntil = holdUntil
    }

    /// Another link has heard the poll, too.
    mutating func offer(_ other: LinkID, _ strengths: [LinkID: Int16]) {
        if strengths[other] ?? .min > strengths[link] ?? .min { link = other }
    }
}
