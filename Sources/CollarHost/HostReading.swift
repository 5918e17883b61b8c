import CollarJournal
import CollarWire

/// How far the consumer of the entries lags behind the journal.
package struct EmissionLag: Equatable, Sendable {
    /// Bytes of records that were not handed over yet.
    package var byteCount = 0
    /// Time since the reception of the oldest fix that was not handed over, in milliseconds; 0 if there is none.
    package var milliseconds: Int64 = 0
}

package struct HostReading: Equatable, Sendable {
    package var statistics: HostStatistics
    /// Size of all journals in bytes; nil if they cannot be read.
    package var journalByteCount: Int?
    /// The consumer's lag in all journals together; nil if no fixes are emitted, or a journal cannot be read.
    package var lag: EmissionLag?
    /// Whether a journal cannot store, so that its collar gets no acknowledgements.
    package var isStorageFailing: Bool
    package var collars: [CollarReading]
    package var latencies = HostLatencies()
}

extension HostReading {
    /// Adds up the figures of all collars.
    init(statistics: HostStatistics, emitsFixes: Bool, isStorageFailing: Bool, collars: [CollarReading], latencies: HostLatencies) {
        self.init(
            statistics: statistics, journalByteCount: 0, lag: emitsFixes ? EmissionLag() : nil, isStorageFailing: isStorageFailing,
            collars: collars, latencies: latencies)
        for collar in collars {
            journalByteCount = journalByteCount.flatMap { sum in collar.journalByteCount.map { sum + $0 } }
            lag = lag.flatMap { all in
                collar.lag.map { EmissionLag(byteCount: all.byteCount + $0.byteCount, milliseconds: max(all.milliseconds, $0.milliseconds)) }
            }
        }
    }
}

package struct CollarReading: Equatable, Sendable {
    package var deviceID: DeviceID
    /// The collar's current log; nil before there is one.
    package var logID: LogID?
    /// Fixes stored since the start.
    package var fixCount: Int
    package var messageCount: Int
    /// Fixes and messages received again since the start.
    package var duplicateCount: Int
    /// The highest known sequence of the current log; nil before a sequence is known.
    package var highestSequence: UInt32?
    /// The number of missing sequences up to ``highestSequence``: their fixes are not stored, but may still come.
    package var missingCount: UInt64
    /// Size of the collar's journal in bytes; nil if the journal cannot be read.
    package var journalByteCount: Int?
    /// The consumer's lag; nil if no fixes are emitted, or the journal cannot be read.
    package var lag: EmissionLag?
    /// The collar's last status since the start; nil before the first.
    package var status: Status?
    /// The collar's last power report since the start; nil before the first.
    package var powerReport: PowerReport?
    /// The interval between the fixes that the collar makes now, in milliseconds; nil if it is not known, or if its GNSS receiver is
    /// always on.
    package var fixIntervalMilliseconds: UInt32?
    /// The heartbeat in force, in seconds; nil if the collar has not told it.
    package var heartbeatSeconds: UInt16?
    /// The age at which the newest fix is stale by the schedule of the collar, in milliseconds; nil if it has none.
    package var staleAfterMilliseconds: Int64?
    /// Whether the collar is reachable; nil while that is not known.
    package var isReachable: Bool?
    /// Microseconds since the collar was heard last, or since its link was opened; nil while its link is closed.
    package var silentMicroseconds: Int64?
    package var isHeard = false
    /// The boot count in the collar's last identity since the start; nil before the first.
    package var bootCount: UInt32?
}

extension CollarSession {
    func reading(at time: HostTime) -> CollarReading {
        var reading = CollarReading(
            deviceID: deviceID, fixCount: fixCount, messageCount: messageCount, duplicateCount: duplicateCount, missingCount: 0,
            journalByteCount: try? journal.byteCount(from: .start), lag: lag(at: time), status: status, powerReport: powerReport,
            isReachable: health.isReachable,
            silentMicroseconds: health.silentMicroseconds(at: time.instant), isHeard: links.last != nil,
            bootCount: identity?.bootCount)
        reading.fixIntervalMilliseconds = schedule.intervalMilliseconds
        reading.heartbeatSeconds = journal.memory.heartbeatSeconds > 0 ? journal.memory.heartbeatSeconds : nil
        let limits = schedule.limits(heartbeatMicroseconds: health.heartbeatMicroseconds)
        reading.staleAfterMilliseconds = limits.longestAge.map { $0 / 1000 }
        guard let delivery = currentLog?.delivery else { return reading }
        reading.logID = delivery.log.logID
        let durable = journal.durable(logID: delivery.log.logID)
        guard durable.count > 0 || delivery.highestSequence > 0 else { return reading }
        let highest = max(delivery.highestSequence, durable.highest ?? 0)
        reading.highestSequence = highest
        reading.missingCount = UInt64(highest) + 1 - durable.count
        return reading
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
