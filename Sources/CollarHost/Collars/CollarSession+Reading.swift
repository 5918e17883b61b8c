import CollarJournal

extension CollarSession {
    /// The collar's figures now.
    func reading(at time: HostTime) -> CollarReading {
        var reading = CollarReading(
            deviceID: deviceID, fixCount: fixCount, messageCount: messageCount, duplicateCount: duplicateCount, missingCount: 0,
            journalByteCount: byteCount(from: .start), lag: lag(at: time), status: status, isReachable: health.isReachable,
            silentMicroseconds: health.silentMicroseconds(at: time.instant), isHeard: links.last != nil,
            bootCount: identity?.bootCount)
        guard let delivery = currentLog?.delivery else { return reading }
        reading.logID = delivery.log.logID
        let durable = journal.durable(logID: delivery.log.logID)
        guard durable.count > 0 || delivery.highestSequence > 0 else { return reading }
        let highest = max(delivery.highestSequence, durable.highest ?? 0)
        reading.highestSequence = highest
        reading.missingCount = UInt64(highest) + 1 - durable.count
        return reading
    }

    private func byteCount(from position: JournalPosition) -> Int? {
        do throws(JournalError) { return try journal.byteCount(from: position) } catch { return nil }
    }

    private func lag(at time: HostTime) -> EmissionLag? {
        guard configuration.selection.hasFixes else { return nil }
        // The records after the last emitted entry may be of kinds that make no entry.
        if feed.isEverythingEmitted { return EmissionLag() }
        let cursor = journal.emissionCursor
        do throws(JournalError) {
            let next = try journal.entries(from: cursor, limit: 1).elements.first
            guard let received = next?.entry.receivedUnixMilliseconds else { return EmissionLag() }
            return EmissionLag(
                byteCount: try journal.byteCount(from: cursor), milliseconds: max(0, time.unixMilliseconds - received))
        } catch { return nil }
    }
}
