import CollarARQ
import CollarJournal
import CollarWire

extension Receiver {
    /// Time between two reports of the figures, in microseconds.
    private static let statisticsInterval: Int64 = 60_000_000

    /// Begins to report figures once a minute, where that is wanted.
    func beginStatistics() {
        startedAt = now
        if configuration.reportsStatistics { statisticsDeadline = now.advanced(byMicroseconds: Receiver.statisticsInterval) }
    }

    /// Reports the figures when they are due.
    func statisticsDeadlineReached(now: Instant) {
        guard let due = statisticsDeadline, now >= due else { return }
        statisticsDeadline = now.advanced(byMicroseconds: Receiver.statisticsInterval)
        reportStatistics()
    }

    /// Reports the figures now, where they are wanted.
    func reportStatistics() {
        guard configuration.reportsStatistics else { return }
        let readings = collars.map(reading)
        tell(.receiver(reading(withCollars: readings)))
        for reading in readings { tell(.collar(reading)) }
    }

    /// Tells the consumer, where it wants to know.
    func tell(_ telemetry: Telemetry) {
        guard !isLineLimitReached, let line = configuration.telemetryLine(telemetry) else { return }
        output.queue(line)
    }

    private func reading(withCollars collars: [CollarReading]) -> ReceiverReading {
        var reading = ReceiverReading(
            statistics: statistics, uptimeSeconds: now.microseconds(since: startedAt) / 1_000_000, journalByteCount: 0,
            lag: configuration.writesFixes ? OutputLag() : nil, isStorageFailing: isStorageFailing)
        reading.outputBlockedMilliseconds = outputBlockedSince.map { now.microseconds(since: $0) / 1000 }
        for collar in collars {
            reading.journalByteCount = sum(reading.journalByteCount, collar.journalByteCount)
            guard let all = reading.lag, let lag = collar.lag else {
                reading.lag = nil
                continue
            }
            reading.lag = OutputLag(
                byteCount: all.byteCount + lag.byteCount, milliseconds: max(all.milliseconds, lag.milliseconds))
        }
        return reading
    }

    private func sum(_ left: Int?, _ right: Int?) -> Int? {
        guard let left, let right else { return nil }
        return left + right
    }

    private func reading(of collar: CollarSession) -> CollarReading {
        var reading = CollarReading(
            deviceID: collar.deviceID, fixCount: collar.fixCount, duplicateCount: collar.duplicateCount, missingCount: 0,
            journalByteCount: byteCount(of: collar.journal, from: .start), lag: lag(of: collar))
        guard let delivery = collar.deliveries.first else { return reading }
        reading.logID = delivery.log.logID
        let durable = collar.journal.durable(logID: delivery.log.logID)
        guard durable.count > 0 || delivery.highestSequence > 0 else { return reading }
        let highest = max(delivery.highestSequence, durable.highest ?? 0)
        reading.highestSequence = highest
        reading.missingCount = UInt64(highest) + 1 - durable.count
        return reading
    }

    private func lag(of collar: CollarSession) -> OutputLag? {
        guard configuration.writesFixes else { return nil }
        // Behind the last line that is out there may be records that make none.
        if !collar.feed.isBehind, output.isEmpty { return OutputLag() }
        let cursor = collar.journal.emissionCursor
        do throws(JournalError) {
            guard let next = try collar.journal.entries(from: cursor, limit: 1).elements.first else { return OutputLag() }
            let received: Int64
            switch next.entry {
            case .fix(let fix): received = fix.receivedUnixMilliseconds
            case .loss(let loss): received = loss.receivedUnixMilliseconds
            }
            return OutputLag(
                byteCount: try collar.journal.byteCount(from: cursor),
                milliseconds: max(0, WallClock.unixMilliseconds - received))
        } catch { return nil }
    }

    private func byteCount(of journal: Journal, from position: JournalPosition) -> Int? {
        do throws(JournalError) { return try journal.byteCount(from: position) } catch { return nil }
    }
}
