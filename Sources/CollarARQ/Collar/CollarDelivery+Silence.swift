import CollarWire

// Time-outs, and the frames after an unanswered poll.
extension CollarDelivery {
    /// The longest time from the end of a poll to the end of its answer.
    var answerMicroseconds: Int64 {
        mutating get {
            let modem = configuration.modem
            return modem.turnaroundMicroseconds
                + modem.airtimeMicroseconds(frameByteCount: CollarDelivery.answerByteCount)
        }
    }

    /// How long a poll waits for its answer, which follows `attempt` unanswered polls.
    mutating func timeoutMicroseconds(attempt: Int) -> Int64 {
        var timeout = answerMicroseconds
        // If three frames in ten are lost, half of the polls are not answered. If every unanswered poll doubled the time-out, each
        // further poll would add as much to the mean silence as the one before. So only every third one doubles it.
        var doublings = attempt / 3
        while doublings > 0, timeout < configuration.maximumTimeoutMicroseconds {
            timeout *= 2
            doublings -= 1
        }
        return min(timeout, configuration.maximumTimeoutMicroseconds)
    }

    /// The most fixes in a frame after an unanswered poll.
    private static let newestFixesLimit = 3
    /// If more fixes than this are missing, only the newest one is sent. The bursts after the next answer deliver the others;
    /// while no receiver is in reach, more than the newest fix would be a waste of airtime.
    private static let missingLimit: UInt32 = 16

    mutating func outOfContactTransmission(attempt: Int) -> Transmission {
        let poll = openPoll(attempt: attempt)
        // A receiver that does not know the collar cannot verify its fixes, so the identity follows every fourth unanswered poll.
        if dueIdentity != .none || attempt % 4 == 0 {
            dueIdentity = .none
            return Transmission(content: .identity, poll: poll)
        }
        guard let newest = newestUndelivered else { return Transmission(content: .probe, poll: poll) }
        let first = firstOfNewest(behind: newest)
        guard first < newest else {
            sentNewest(from: newest, through: newest)
            return Transmission(content: .logEntry(newest), poll: poll)
        }
        let limit = Frame.minimumLimitByteCount
        return Transmission(content: .newestFixes(first: first, last: newest, frameByteLimit: limit), poll: poll)
    }

    /// The oldest fix in the frame that carries the newest fixes. If fixes are made faster than answers arrive, the older fixes
    /// of the frame arrive together with the newest one, for little airtime.
    private mutating func firstOfNewest(behind newest: UInt32) -> UInt32 {
        var first = newest
        guard configuration.batchFrameByteLimit != nil,
            delivered.missingCount(below: nextSequence) <= CollarDelivery.missingLimit
        else { return first }
        var count = 1
        while count < CollarDelivery.newestFixesLimit, let older = delivered.lastMissing(below: first),
            older >= oldestSequence
        {
            first = older
            count += 1
        }
        return first
    }

    /// Notes that the frame of ``Transmission/Content/newestFixes(first:last:frameByteLimit:)`` holds the fixes from `first`
    /// to `newest`.
    public mutating func sentNewest(from first: UInt32, through newest: UInt32) {
        if let highestSent { countIfRepeated(first <= highestSent) }
        highestSent = max(highestSent ?? 0, newest)
        pace.sent(newest, now: access.newsStart ?? frameInstant)
    }
}
