import CollarWire

// What a burst is made of.
extension CollarDelivery {
    var newestUndelivered: UInt32? {
        guard nextSequence > oldestSequence, !delivered.contains(nextSequence - 1) else { return nil }
        return nextSequence - 1
    }

    mutating func burstTransmission(_ started: Burst, now: Instant) -> Transmission? {
        let isLastOfBurst = started.frameCount + 1 >= configuration.burstFrameCount
        if dueIdentity == .next || dueIdentity == .afterReplies && (waitingReplyCount == 0 || isLastOfBurst) {
            dueIdentity = .none
            return Transmission(content: .identity, ask: openAsk(attempt: 0))
        }
        var burst = started
        guard let content = takeNext(of: &burst) else {
            // A tombstone may have taken what the burst had left: then a probe asks.
            guard burst.frameCount > 0 || now >= heartbeatDeadline else { return nil }
            return Transmission(content: .probe, ask: openAsk(attempt: 0))
        }
        phase = .sending(burst)
        // Whether it is the last of its burst shows when its fixes are counted.
        if case .batch = content { return Transmission(content: content, ask: nil) }
        return Transmission(content: content, ask: count(into: burst))
    }

    /// One more frame of the burst; the last one asks.
    private mutating func count(into started: Burst) -> AskNumber? {
        var burst = started
        burst.frameCount += 1
        guard burst.frameCount < configuration.burstFrameCount, !isLong(burst), hasMore(for: burst) else {
            return openAsk(attempt: 0)
        }
        phase = .sending(burst)
        return nil
    }

    private func isLong(_ burst: Burst) -> Bool {
        let modem = configuration.modem
        let answer = modem.airtimeMicroseconds(frameByteCount: CollarDelivery.answerByteCount)
        return modem.isHalfDuplex && burst.airtimeMicroseconds >= CollarDelivery.burstAnswerMultiple * answer
    }

    /// Answers to requests, the newest fix, then the backlog, oldest first.
    private mutating func takeNext(of burst: inout Burst) -> Transmission.Content? {
        if waitingReplyCount > 0 {
            waitingReplyCount -= 1
            shares.isLive = false
            return .reply
        }
        if let newest = newestDue(in: burst) {
            burst.newestSent = newest
            let isNew = highestSent.map { newest > $0 } ?? true
            highestSent = max(highestSent ?? 0, newest)
            shares.isLive = true
            guard isNew, configuration.sendsLiveFixes, let anchor,
                newest - anchor <= LiveFix.maximumLead
            else { return .logEntry(newest) }
            return .liveFix(newest, anchor: anchor)
        }
        shares.isLive = false
        guard let sequence = nextOfBacklog(of: burst) else { return nil }
        countIfRepeated(sequence < backlogEnd)
        if configuration.batchFrameByteLimit != nil, undelivered(from: sequence + 1, except: burst.newestSent) != nil {
            return .batch(first: sequence, frameByteLimit: batchSize.frameByteLimit)
        }
        burst.cursor = sequence + 1
        noteBacklogSent(through: sequence)
        return .logEntry(sequence)
    }

    /// The newest fix, where its turn has come: it opens a burst, and further ones get a quarter of the airtime.
    private func newestDue(in burst: Burst) -> UInt32? {
        guard let newest = newestUndelivered, newest != burst.newestSent else { return nil }
        return burst.newestSent == nil || nextOfBacklog(of: burst) == nil || shares.allowsLive ? newest : nil
    }

    private mutating func noteBacklogSent(through last: UInt32) {
        highestSent = max(highestSent ?? 0, last)
        backlogEnd = max(backlogEnd, last + 1)
    }

    mutating func countIfRepeated(_ isRepeated: Bool) {
        if isRepeated { retransmissionCount &+= 1 }
    }

    func hasMore(for burst: Burst) -> Bool {
        if waitingReplyCount > 0 || dueIdentity != .none { return true }
        if let newest = newestUndelivered, newest != burst.newestSent { return true }
        return nextOfBacklog(of: burst) != nil
    }

    private func nextOfBacklog(of burst: Burst) -> UInt32? { undelivered(from: burst.cursor, except: burst.newestSent) }

    private func undelivered(from start: UInt32, except newestSent: UInt32?) -> UInt32? {
        var sequence = delivered.firstMissing(from: start)
        if sequence == newestSent { sequence = delivered.firstMissing(from: sequence + 1) }
        return sequence < nextSequence ? sequence : nil
    }

    /// The sequence that follows `sequence` in a batch; nil where it is the last. In a burst the newest fix, which has a
    /// frame of its own, is left out; after an unanswered ask it is the last.
    public func undelivered(after sequence: UInt32) -> UInt32? {
        if case .sending(let burst) = phase { return undelivered(from: sequence + 1, except: burst.newestSent) }
        return undelivered(from: sequence + 1, except: nil)
    }

    /// A batch that begins where ``Transmission/Content/batch(first:frameByteLimit:)`` said was made of the backlog up
    /// to `last`.
    /// - Returns: the ask its frame carries.
    public mutating func batched(through last: UInt32) -> AskNumber? {
        guard case .sending(var burst) = phase else { return nil }
        burst.cursor = last + 1
        noteBacklogSent(through: last)
        batchSize.sent(last: last)
        return count(into: burst)
    }

    /// Where a batch should begin, the log has nothing from `first` to `last`: a tombstone goes instead.
    /// - Returns: the ask its frame carries.
    public mutating func tombstoned(from first: UInt32, through last: UInt32) -> AskNumber? {
        skippedBacklog(from: first, through: last)
        guard case .sending(let burst) = phase else { return nil }
        return count(into: burst)
    }

    /// A range was reported as a tombstone instead of fix by fix: the search goes on behind it, unless older fixes wait.
    public mutating func skippedBacklog(from first: UInt32, through last: UInt32) {
        guard case .sending(var burst) = phase, first <= burst.cursor, last >= burst.cursor else { return }
        burst.cursor = last + 1
        phase = .sending(burst)
    }
}
