import CollarWire

// What a burst is made of.
extension CollarDelivery {
    var newestUndelivered: UInt32? {
        guard nextSequence > oldestSequence, !delivered.contains(nextSequence - 1) else { return nil }
        return nextSequence - 1
    }

    mutating func burstTransmission(burstCount: Int, now: Instant) -> Transmission? {
        let isLastOfBurst = burstCount + 1 >= configuration.burstFrameCount
        if isIdentityDue, !isIdentityLast || waitingReplyCount == 0 || isLastOfBurst {
            isIdentityDue = false
            isIdentityLast = false
            return Transmission(content: .identity, ask: openAsk(attempt: 0))
        }
        guard let content = takeNextOfBurst() else {
            // A tombstone may have taken what the burst had left: then a probe asks.
            guard burstCount > 0 || now >= heartbeatDeadline else { return nil }
            return Transmission(content: .probe, ask: openAsk(attempt: 0))
        }
        // Whether it is the last of its burst shows when its fixes are counted.
        if case .batch = content { return Transmission(content: content, ask: nil) }
        return Transmission(content: content, ask: countIntoBurst(burstCount))
    }

    /// One more frame of the burst; the last one asks.
    mutating func countIntoBurst(_ burstCount: Int) -> AskNumber? {
        guard burstCount + 1 < configuration.burstFrameCount, !isBurstLong, hasMoreForBurst else {
            return openAsk(attempt: 0)
        }
        phase = .sending(burstCount: burstCount + 1)
        return nil
    }

    private var isBurstLong: Bool {
        let modem = configuration.modem
        let answer = modem.airtimeMicroseconds(frameByteCount: CollarDelivery.answerByteCount)
        return modem.isHalfDuplex && burstMicroseconds >= CollarDelivery.burstAnswerMultiple * answer
    }

    /// Answers to requests, the newest fix, then the backlog, oldest first.
    private mutating func takeNextOfBurst() -> Transmission.Content? {
        if waitingReplyCount > 0 {
            waitingReplyCount -= 1
            shares.isLive = false
            return .reply
        }
        if let newest = newestDue {
            newestSent = newest
            let isNew = highestSent.map { newest > $0 } ?? true
            highestSent = max(highestSent ?? 0, newest)
            shares.isLive = true
            guard isNew, configuration.sendsLiveFixes, let anchor,
                newest - anchor <= LiveFix.maximumLead
            else { return .logEntry(newest) }
            return .liveFix(newest, anchor: anchor)
        }
        shares.isLive = false
        guard let sequence = nextOfBacklog else { return nil }
        countIfRepeated(sequence < backlogEnd)
        if configuration.batchFrameByteLimit != nil, undelivered(after: sequence) != nil {
            return .batch(first: sequence, frameByteLimit: batchSize.frameByteLimit)
        }
        cursor = sequence + 1
        noteBacklogSent(through: sequence)
        return .logEntry(sequence)
    }

    /// The newest fix, where its turn has come: it opens a burst, and further ones get a quarter of the airtime.
    private var newestDue: UInt32? {
        guard let newest = newestUndelivered, newest != newestSent else { return nil }
        return newestSent == nil || nextOfBacklog == nil || shares.allowsLive ? newest : nil
    }

    private mutating func noteBacklogSent(through last: UInt32) {
        highestSent = max(highestSent ?? 0, last)
        backlogEnd = max(backlogEnd, last + 1)
    }

    mutating func countIfRepeated(_ isRepeated: Bool) {
        if isRepeated { retransmissionCount &+= 1 }
    }

    var hasMoreForBurst: Bool {
        if waitingReplyCount > 0 || isIdentityDue { return true }
        if let newest = newestUndelivered, newest != newestSent { return true }
        return nextOfBacklog != nil
    }

    private var nextOfBacklog: UInt32? { undelivered(from: cursor) }

    private var isSending: Bool { if case .sending = phase { true } else { false } }

    private func undelivered(from start: UInt32) -> UInt32? {
        var sequence = delivered.firstMissing(from: start)
        if sequence == newestSent, isSending { sequence = delivered.firstMissing(from: sequence + 1) }
        return sequence < nextSequence ? sequence : nil
    }

    /// The sequence that follows `sequence` in a batch; nil where it is the last. In a burst the newest fix, which has a
    /// frame of its own, is left out; after an unanswered ask it is the last.
    public func undelivered(after sequence: UInt32) -> UInt32? { undelivered(from: sequence + 1) }

    /// A batch that begins where ``Transmission/Content/batch(first:frameByteLimit:)`` said was made of the backlog up
    /// to `last`.
    /// - Returns: the ask its frame carries.
    public mutating func batched(through last: UInt32) -> AskNumber? {
        guard case .sending(let burstCount) = phase else { return nil }
        cursor = last + 1
        noteBacklogSent(through: last)
        batchSize.sent(last: last)
        return countIntoBurst(burstCount)
    }

    /// Where a batch should begin, the log has nothing from `first` to `last`: a tombstone goes instead.
    /// - Returns: the ask its frame carries.
    public mutating func tombstoned(from first: UInt32, through last: UInt32) -> AskNumber? {
        guard case .sending(let burstCount) = phase else { return nil }
        skippedBacklog(from: first, through: last)
        return countIntoBurst(burstCount)
    }

    /// A range was reported as a tombstone instead of fix by fix: the search goes on behind it, unless older fixes wait.
    public mutating func skippedBacklog(from first: UInt32, through last: UInt32) {
        if first <= cursor, last >= cursor { cursor = last + 1 }
    }
}
