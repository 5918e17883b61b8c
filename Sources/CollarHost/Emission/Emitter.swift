import CollarJournal

/// Hands out the entries of all collars.
final class Emitter {
    private let configuration: HostConfiguration
    private let collars: CollarTable
    private let output: HostOutput
    /// Entries of one collar that were read back and not handed out yet.
    private var readBack: (session: CollarSession, items: ArraySlice<EntryFeed.Item>)?

    init(_ configuration: HostConfiguration, collars: CollarTable, output: HostOutput) {
        self.configuration = configuration
        self.collars = collars
        self.output = output
    }

    /// The next entry: first the rest of the entries read back, then fixes that just came in, then more entries to read back.
    ///
    /// A fix that just came in is handed out only if all earlier entries of its journal are out, so its receipt covers them too.
    func next(at time: HostTime) -> EmittedEntry? {
        guard !configuration.selection.isEmpty else { return nil }
        if let entry = nextReadBack() { return entry }
        if let fresh = output.freshEntries.next() {
            output.latencies.noteHandedOut(receivedAt: fresh.receivedAt, at: time)
            return EmittedEntry(
                content: .fix(fresh.record), deviceID: collars[fresh.receipt.session].deviceID, receipt: fresh.receipt)
        }
        while let session = collars.sessions.first(where: { $0.feed.isReadable }) {
            readBack = (session, read(session, at: time)[...])
            if let entry = nextReadBack() { return entry }
        }
        return nil
    }

    private func nextReadBack() -> EmittedEntry? {
        guard let session = readBack?.session, let item = readBack?.items.popFirst() else {
            readBack = nil
            return nil
        }
        return EmittedEntry(
            content: item.content, deviceID: session.deviceID,
            receipt: EmissionReceipt(session: session.id, through: item.through))
    }

    private func read(_ session: CollarSession, at time: HostTime) -> [EntryFeed.Item] {
        do throws(JournalError) {
            let items = try session.feed.next(at: time)
            session.note(session.feed.takeDamage())
            return items
        } catch {
            // New fixes are still stored and acknowledged.
            if session.feed.failed(at: time.instant) {
                output.report(.journalUnreadable(deviceID: session.deviceID, error))
            }
            return []
        }
    }
}
