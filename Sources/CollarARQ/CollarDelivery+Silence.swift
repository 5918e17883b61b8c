import CollarWire

// What is sent after an unanswered ask.
extension CollarDelivery {
    /// The most fixes in a frame after an unanswered ask.
    private static let newestFixesLimit = 3
    /// Where more than so many are missing, the bursts that follow the answer bring them in, and out of reach more than
    /// the newest fix would be airtime for nothing.
    private static let missingLimit: UInt32 = 16

    mutating func outOfContactTransmission(attempt: Int) -> Transmission {
        let ask = openAsk(attempt: attempt)
        // Who does not know the collar cannot check its fixes: every fourth unanswered ask says who is asking.
        if dueIdentity != .none || attempt % 4 == 0 {
            dueIdentity = .none
            return Transmission(content: .identity, ask: ask)
        }
        guard let newest = newestUndelivered else { return Transmission(content: .probe, ask: ask) }
        let first = firstOfNewest(behind: newest)
        guard first < newest else {
            sentNewest(from: newest, through: newest)
            return Transmission(content: .logEntry(newest), ask: ask)
        }
        let limit = Frame.minimumLimitByteCount
        return Transmission(content: .newestFixes(first: first, last: newest, frameByteLimit: limit), ask: ask)
    }

    /// Where fixes are made faster than answers come, the older ones arrive as soon as the newest, for little airtime.
    private func firstOfNewest(behind newest: UInt32) -> UInt32 {
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

    /// The frame of ``Transmission/Content/newestFixes(first:last:frameByteLimit:)`` holds the fixes from `first` to
    /// `newest`.
    public mutating func sentNewest(from first: UInt32, through newest: UInt32) {
        if let highestSent { countIfRepeated(first <= highestSent) }
        highestSent = max(highestSent ?? 0, newest)
    }
}
