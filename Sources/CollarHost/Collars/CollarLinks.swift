import CollarARQ
import CollarWire

/// The links on which a collar is heard, and whether it hears the answers there.
struct CollarLinks {
    /// An answer waits for other links if several have heard the collar within this time, in microseconds. A host with many
    /// radios, of which one hears the collar, answers at once.
    private static let sharedTime: Int64 = 600_000_000
    /// A link that heard the collar within this time, in microseconds, can answer a poll that it did not hear.
    private static let hearingTime: Int64 = 60_000_000
    /// The most unheard answers of a link that are counted. If all links fail, each is tried in turn.
    private static let unheardLimit = 8

    private struct Hearing {
        var lastHeard: Instant
        /// Answers in a row at this link that the collar did not hear.
        var unheardCount = 0
    }

    /// The link on which the collar was heard last; nil before it was heard.
    private(set) var last: LinkID?
    /// When a frame came in on another link than the one before it; nil if that has not happened.
    private var lastChange: Instant?
    /// The links on which the collar was heard, by the index of the link.
    private var hearings: [Hearing?] = []
    /// The link of the newest answer, until a poll shows whether the collar heard it.
    private var answered: LinkID?

    private func hearing(on link: LinkID) -> Hearing? { link.index < hearings.count ? hearings[link.index] : nil }

    /// A frame of the collar came in, or a copy of one.
    mutating func noteFrame(on link: LinkID, at now: Instant) {
        while hearings.count <= link.index { hearings.append(nil) }
        hearings[link.index] = Hearing(lastHeard: now, unheardCount: hearings[link.index]?.unheardCount ?? 0)
        guard last != link else { return }
        if last != nil { lastChange = now }
        last = link
    }

    func areSeveral(at now: Instant) -> Bool { lastChange.map { now.microseconds(since: $0) < CollarLinks.sharedTime } ?? false }

    /// The collar has polled again.
    /// - Parameter hasHeard: whether the poll shows that the collar heard the newest answer.
    mutating func noteNextPoll(hasHeard: Bool) {
        guard let link = answered, let count = hearing(on: link)?.unheardCount else { return }
        hearings[link.index]?.unheardCount = hasHeard ? 0 : min(count + 1, CollarLinks.unheardLimit)
        answered = nil
    }

    /// Chooses the link for an answer: the one with the fewest unheard answers, of these one that heard the poll, of these the one
    /// with the strongest signal of the poll. The first that heard the poll wins a tie.
    func link(for answer: PendingAnswer, at now: Instant) -> LinkID? {
        var best = answer.hearers.first?.link
        var bestRank = (unheard: Int.max, missed: 1, weakness: Int.max)
        for hearer in answer.hearers {
            let rank = (hearing(on: hearer.link)?.unheardCount ?? 0, 0, hearer.strengthDBm.map { -Int($0) } ?? Int(Int16.max))
            if rank < bestRank { (best, bestRank) = (hearer.link, rank) }
        }
        guard bestRank.unheard > 0 else { return best }
        for (index, hearing) in hearings.enumerated() {
            guard let hearing, now.microseconds(since: hearing.lastHeard) < CollarLinks.hearingTime else { continue }
            // A poll that a radio did not hear counts as an unheard answer.
            let rank = (hearing.unheardCount + 1, 1, 0)
            if rank < bestRank { (best, bestRank) = (LinkID(index: index), rank) }
        }
        return best
    }

    mutating func noteAnswer(on link: LinkID) { answered = link }

    mutating func close(_ closed: LinkID) {
        if closed.index < hearings.count { hearings[closed.index] = nil }
        if answered == closed { answered = nil }
    }
}
