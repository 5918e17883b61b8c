import CollarJournal

extension Receiver {
    /// Removes what is older than wanted, where a journal was opened or has begun a segment since the last time.
    func removeOldSegments(of collar: CollarSession) {
        guard let days = configuration.keepsDays, collar.retainedUpTo != collar.journal.end.segment else { return }
        collar.retainedUpTo = collar.journal.end.segment
        do throws(JournalError) {
            try collar.journal.removeSegments(
                receivedBefore: WallClock.unixMilliseconds - Int64(days) * 86_400_000)
        } catch { report(.cannotRemoveOld(deviceID: collar.deviceID, error)) }
    }
}
