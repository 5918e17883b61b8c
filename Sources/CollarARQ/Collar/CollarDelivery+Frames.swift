import CollarWire

// The frames of a burst.
extension CollarDelivery {
    var newestUndelivered: UInt32? {
        mutating get {
            guard nextSequence > oldestSequence, !delivered.contains(nextSequence - 1) else { return nil }
            return nextSequence - 1
        }
    }

    mutating func burstTransmission(_ started: Burst, now: Instant) -> Transmission? {
        let isLastOfBurst = started.frameCount + 1 >= configuration.burstFrameCount
        if dueIdentity == .next || dueIdentity == .afterReplies && (waitingReplyCount == 0 || isLastOfBurst) {
            dueIdentity = .none
            // It may have come due while the channel was sensed.
            access.newsEnded()
            return Transmission(content: .identity, poll: openPoll(attempt: 0))
        }
        var burst = started
        guard let content = takeNext(of: &burst) else {
            // A tombstone may have covered all that was left for the burst; then a probe carries the poll.
            guard burst.frameCount > 0 || now >= heartbeatDeadline else { return nil }
            return Transmission(content: .probe, poll: openPoll(attempt: 0))
        }
        phase = .sending(burst)
        // Whether a batch is the last frame of its burst is known only when its fixes are counted.
        if case .batch = content { return Transmission(content: content, poll: nil) }
        return Transmission(content: content, poll: count(into: burst))
    }

    /// Counts one more frame of the burst. The last frame gets a poll, unless it is a new fix that goes without one: what its burst
    /// sent is not searched again until an answer has come.
    private mutating func count(into started: Burst) -> PollNumber? {
        var burst = started
        burst.frameCount += 1
        guard burst.frameCount < configuration.burstFrameCount, !isLong(burst), hasMore(for: burst) else {
            guard burst.frameCount == 1, access.omitsPoll() else { return openPoll(attempt: 0) }
            unpolledEnd = nextSequence
            phase = .sending(Burst(cursor: nextSequence))
            return nil
        }
        phase = .sending(burst)
        return nil
    }

    private mutating func isLong(_ burst: Burst) -> Bool {
        let modem = configuration.modem
        let answer = modem.airtimeMicroseconds(frameByteCount: CollarDelivery.answerByteCount)
        return modem.isHalfDuplex && burst.airtimeMicroseconds >= CollarDelivery.burstAnswerMultiple * answer
    }

    /// The content of the next frame: replies, then the newest fix, then the backlog, oldest first.
    private mutating func takeNext(of burst: inout Burst) -> Transmission.Content? {
        if waitingReplyCount > 0 {
            waitingReplyCount -= 1
            shares.isLive = false
            // It may have come while the channel was sensed.
            access.newsEnded()
            return .reply
        }
        if let newest = newestDue(in: burst) {
            burst.newestSent = newest
            let isNew = highestSent.map { newest > $0 } ?? true
            highestSent = max(highestSent ?? 0, newest)
            shares.isLive = true
            pace.sent(newest, now: access.newsStart ?? frameInstant)
            guard isNew, configuration.sendsLiveFixes, let anchor,
                newest - anchor <= LiveFix.maximumLead
            else { return .logEntry(newest) }
            return .liveFix(newest, anchor: anchor)
        }
        shares.isLive = false
        guard let sequence = nextOfBacklog(of: burst) else { return nil }
        if sequence < backlogEnd { retransmissionCount &+= 1 }
        if configuration.batchFrameByteLimit != nil, undelivered(from: sequence + 1, except: burst.newestSent) != nil {
            return .batch(first: sequence, frameByteLimit: batchSize.frameByteLimit)
        }
        burst.cursor = sequence + 1
        noteBacklogSent(through: sequence)
        return .logEntry(sequence)
    }

    /// The newest fix, if it is due now. It is the first fix of a burst. A fix logged during the burst follows at
    /// once, but within a quarter of the airtime while there is a backlog. Before the live interval has passed, the newest fix is
    /// sent only as a part of the backlog.
    private mutating func newestDue(in burst: Burst) -> UInt32? {
        guard let newest = newestUndelivered, newest != burst.newestSent, newest >= unpolledEnd,
            !pace.isWaiting(now: frameInstant)
        else { return nil }
        return burst.newestSent == nil || nextOfBacklog(of: burst) == nil || shares.allowsLive ? newest : nil
    }

    private mutating func noteBacklogSent(through last: UInt32) {
        highestSent = max(highestSent ?? 0, last)
        backlogEnd = max(backlogEnd, last + 1)
        if last + 1 == nextSequence { pace.sent(last, now: access.newsStart ?? frameInstant) }
    }

    mutating func hasMore(for burst: Burst) -> Bool {
        if waitingReplyCount > 0 || dueIdentity != .none { return true }
        let isWaiting = pace.isWaiting(now: frameInstant)
        if !isWaiting, let newest = newestUndelivered, newest != burst.newestSent, newest >= unpolledEnd { return true }
        return nextOfBacklog(of: burst).map { !isWaiting || $0 < pace.waitingStart } ?? false
    }

    private mutating func nextOfBacklog(of burst: Burst) -> UInt32? { undelivered(from: burst.cursor, except: burst.newestSent) }

    private mutating func undelivered(from start: UInt32, except newestSent: UInt32?) -> UInt32? {
        var sequence = delivered.firstMissing(from: start)
        if sequence == newestSent { sequence = delivered.firstMissing(from: sequence + 1) }
        return sequence < nextSequence ? sequence : nil
    }

    /// The sequence that follows `sequence` in a batch; nil if `sequence` is the last one. In a burst the newest fix that
    /// already had a frame of its own is left out. After an unanswered poll the newest fix is the last of the batch.
    public mutating func undelivered(after sequence: UInt32) -> UInt32? {
        if case .sending(let burst) = phase { return undelivered(from: sequence + 1, except: burst.newestSent) }
        return undelivered(from: sequence + 1, except: nil)
    }

    /// Notes that the batch of ``Transmission/Content/batch(first:frameByteLimit:)`` was made and ends with `last`.
    /// - Returns: the poll that its frame carries, if any.
    public mutating func batched(through last: UInt32) -> PollNumber? {
        if case .sending = phase { batchSize.sent(last: last) }
        return sentAlone(last)
    }

    /// Notes that a frame with a single entry is sent in place of a batch, because the first entry of that batch cannot be in a
    /// batch.
    /// - Returns: the poll that its frame carries, if any.
    public mutating func sentAlone(_ sequence: UInt32) -> PollNumber? {
        guard case .sending(var burst) = phase else { return nil }
        burst.cursor = sequence + 1
        noteBacklogSent(through: sequence)
        return count(into: burst)
    }

    /// Notes that a tombstone is sent in place of a batch, because the log does not have the first entry of that batch. The
    /// range of the tombstone ends with `last`.
    /// - Returns: the poll that its frame carries, if any.
    public mutating func tombstoned(through last: UInt32) -> PollNumber? {
        guard case .sending(var burst) = phase else { return nil }
        burst.cursor = max(burst.cursor, last + 1)
        return count(into: burst)
    }

    /// Notes that a tombstone reported a range. The search for the backlog continues after that range, unless fixes older than
    /// the range are still to be sent.
    public mutating func skippedBacklog(from first: UInt32, through last: UInt32) {
        guard case .sending(var burst) = phase, first <= burst.cursor, last >= burst.cursor else { return }
        burst.cursor = last + 1
        phase = .sending(burst)
    }

    // MARK: Time-outs, and the frames after an unanswered poll

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
        let first = oldestOfNewest(upTo: newest)
        guard first < newest else {
            sentNewest(from: newest, through: newest)
            return Transmission(content: .logEntry(newest), poll: poll)
        }
        let limit = Frame.minimumLimitByteCount
        return Transmission(content: .newestFixes(first: first, last: newest, frameByteLimit: limit), poll: poll)
    }

    /// The oldest fix in the frame that carries the newest fixes. If fixes are made faster than answers arrive, the older fixes
    /// of the frame arrive together with the newest one, for little airtime.
    private mutating func oldestOfNewest(upTo newest: UInt32) -> UInt32 {
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
        if let highestSent, first <= highestSent { retransmissionCount &+= 1 }
        highestSent = max(highestSent ?? 0, newest)
        pace.sent(newest, now: access.newsStart ?? frameInstant)
    }
}
