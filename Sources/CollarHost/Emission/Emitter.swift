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

    /// The next entry: what just came in, then what must be read back.
    func next(at time: HostTime) -> EmittedEntry? {
        guard configuration.emitsEntries else { return nil }
        if let fresh = output.freshEntries.next() {
            return EmittedEntry(
                content: .fix(fresh.record), deviceID: collars[fresh.receipt.session].deviceID, receipt: fresh.receipt)
        }
        while true {
            if let readBack, let item = readBack.items.first {
                self.readBack?.items.removeFirst()
                return EmittedEntry(
                    content: item.content, deviceID: readBack.session.deviceID,
                    receipt: EmissionReceipt(session: readBack.session.id, through: item.through))
            }
            readBack = nil
            guard let session = collars.sessions.first(where: \.feed.isReadable) else { return nil }
            readBack = (session, read(session, at: time)[...])
        }
    }

    private func read(_ session: CollarSession, at time: HostTime) -> [EntryFeed.Item] {
        do throws(JournalError) {
            let items = try session.feed.next(at: time)
            session.note(session.feed.takeDamage())
            return items
        } catch {
            // What comes in is stored and acknowledged all the same.
            if session.feed.failed(at: time.instant) {
                output.report(.journalUnreadable(deviceID: session.deviceID, error))
            }
            return []
        }
    }
}
