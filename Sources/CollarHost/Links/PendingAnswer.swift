import CollarARQ

/// The answer that a collar waits for.
struct PendingAnswer {
    /// The link on which the answer goes out: the one with the strongest signal of those that heard the poll.
    private(set) var link: LinkID
    /// The other open links that heard the poll.
    private var others: [LinkID] = []
    /// When the poll was received.
    let askedAt: Instant
    /// The answer waits for other radios until this time; nil once it may go out.
    var holdUntil: Instant?

    init(link: LinkID, askedAt: Instant, holdUntil: Instant?) {
        self.link = link
        self.askedAt = askedAt
        self.holdUntil = holdUntil
    }

    /// Another link has heard the poll, too.
    mutating func offer(_ other: LinkID, _ strengths: [LinkID: Int16]) {
        guard other != link, !others.contains(other) else { return }
        others.append(other)
        if strengths[other] ?? .min > strengths[link] ?? .min { swapLink(to: other) }
    }

    /// A link was closed. If the answer was to go out there, it goes out at the strongest of the others.
    /// - Returns: false if no link is left.
    mutating func close(_ closed: LinkID, _ strengths: [LinkID: Int16]) -> Bool {
        if closed == link {
            guard let next = others.max(by: { strengths[$0] ?? .min < strengths[$1] ?? .min }) else { return false }
            swapLink(to: next)
        }
        others.removeAll { $0 == closed }
        return true
    }

    private mutating func swapLink(to other: LinkID) {
        others.removeAll { $0 == other }
        others.append(link)
        link = other
    }
}
