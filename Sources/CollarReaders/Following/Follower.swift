import CollarARQ
import CollarFormats
import CollarJournal
import CollarWire
import Glibc
import LinuxSystem

/// Writes the stored entries of a state directory, then those that another process adds, like `tail -f`. It sleeps while nothing
/// changes.
package final class Follower {
    private enum End {
        /// A signal came, a limit is reached, or the consumer acknowledges no more.
        case wanted
        /// The reader of the lines went away.
        case outputClosed
    }

    /// The most rounds of filling and writing the output before signals and changes are handled.
    private static let emissionRounds = 64
    /// Time between the writing of a line and the storing of the position, in microseconds.
    private static let storeInterval: Int64 = 1_000_000
    /// The longest wait for a consumer that does not read the last lines, in microseconds. After it, the position is stored with the
    /// next lines, or at the end.
    private static let longestStoreInterval: Int64 = 64_000_000

    private let configuration: FollowerConfiguration
    private let report: (FollowerNotice) -> Void
    private let events: ReaderEvents
    private let signals: SignalDescriptor
    private let entries: StoredEntries
    private let output: LineOutput
    /// The receipts of the entries and events that the consumer has not read, oldest first.
    private var receipts: [StoredReceipt] = []
    private var formatter: EntryFormatter
    private var confirmations = Confirmations()
    private var ids: AcknowledgedIDs
    private var isOutputBlocked = false
    private var hasMoreLines = false
    /// When the position is stored next; nil if nothing has changed.
    private var storeDeadline: Instant?
    private var storeInterval = Follower.storeInterval
    /// When to check again whether a terminal has taken the last lines; nil while no check is due.
    private var heldUpDeadline: Instant?
    private var endDeadline: Instant?
    private var end: End?

    /// Prepares a follower: opens the state directory and takes the reader's name.
    ///
    /// `report` is called with each notice, on the thread that runs the loop.
    package init(_ configuration: FollowerConfiguration, report: @escaping (FollowerNotice) -> Void) throws(ReaderError) {
        self.configuration = configuration
        self.report = report
        do throws(SystemError) {
            events = try ReaderEvents(urgent: .signals)
            signals = try SignalDescriptor(SignalDescriptor.ofEnd)
        } catch { throw .system(error) }
        entries = try StoredEntries(configuration.reading, report: report)
        output = LineOutput(fileDescriptor: configuration.output, lineLimit: configuration.lineLimit)
        formatter = EntryFormatter(configuration.reading.format)
        ids = AcknowledgedIDs(configuration.input)
        events.watch(signals.fileDescriptor, as: .signals)
        events.watch(entries.fileDescriptor, as: .journals)
        if configuration.isAcknowledged, !events.watch(configuration.input, as: .input) {
            throw errno == EPERM ? .input : .system(SystemError(operation: "epoll_ctl", errno: errno))
        }
        endDeadline = configuration.durationMicroseconds.map { HostTime.now.instant.advanced(byMicroseconds: $0) }
    }

    package var lineCount: Int { output.writtenLineCount }

    package func run() throws(ReaderError) {
        output.append { formatter.begin(into: &$0) }
        while true {
            try emitLines()
            if end != nil { return try finish() }
            let now = HostTime.now.instant
            let due = [storeDeadline, heldUpDeadline, endDeadline, entries.nextDeadline].compactMap { $0 }.min()
            for event in events.wait(timeoutMicroseconds: hasMoreLines ? 0 : due?.microseconds(since: now)) { try handle(event) }
            try handleDeadlines()
        }
    }

    private func handle(_ event: ReaderEvents.Event) throws(ReaderError) {
        switch event.source {
        case .signals: if signals.next() != nil { end = end ?? .wanted }
        case .journals: try entries.handleChanges()
        case .output:
            isOutputBlocked = false
            events.forget(output.fileDescriptor)
        case .input: takeIDs()
        }
    }

    private func handleDeadlines() throws(ReaderError) {
        let now = HostTime.now.instant
        if let endDeadline, now >= endDeadline { end = end ?? .wanted }
        entries.deadlineReached(at: now)
        if let due = storeDeadline, now >= due { try storePosition(at: .now) }
    }

    // MARK: Lines

    /// Writes lines until none is left, the consumer does not read, or ``emissionRounds`` rounds are done.
    private func emitLines() throws(ReaderError) {
        hasMoreLines = false
        heldUpDeadline = nil
        guard !isOutputBlocked, end == nil else { return }
        let progress = output.pump(rounds: Follower.emissionRounds) { queueLines() }
        if output.isReadingUnclear || output.isLimitReached { confirmRead(isLast: false) }
        switch progress {
        case .drained:
            if output.isLimitReached, !configuration.isAcknowledged || confirmations.count == 0 { end = end ?? .wanted }
        case .paused: hasMoreLines = true
        case .heldUp: heldUpDeadline = HostTime.now.instant.advanced(byMicroseconds: LineOutput.heldUpInterval)
        case .blocked:
            isOutputBlocked = true
            events.watch(output.fileDescriptor, as: .output, forReading: false, forWriting: true)
        case .closed: end = .outputClosed
        case .failed(let errorNumber): throw .output(errorNumber: errorNumber)
        }
    }

    /// Queues lines while there is room.
    /// - Returns: whether no further line waits.
    private func queueLines() -> Bool {
        let time = HostTime.now
        if output.isReadingUnclear { confirmRead(isLast: false) }
        while output.hasRoom, confirmations.hasRoom {
            guard let item = entries.next(at: time) else { return true }
            if let deployments = entries.changedDeployments(at: time.instant) { formatter.deployments = deployments }
            switch item {
            case .entry(let entry, let isWanted):
                receipts.append(.entry(entry.receipt, hasID: !isWanted || entry.id != nil))
                output.queue {
                    if isWanted { formatter.append(entry.content, deviceID: entry.deviceID, to: &$0) }
                }
                if let omission = formatter.omissions.takeFirst() { report(.fixesLeftOut(omission)) }
                guard configuration.isAcknowledged else { break }
                confirm(confirmations.add(entry.receipt, isWanted ? entry.id.map { .id($0) } ?? .withoutID : .unwritten))
            case .event(let line):
                receipts.append(.event(line.end))
                output.queue { $0 += line.bytes }
            }
            noteUnstored()
        }
        // With too many unacknowledged lines, the next acknowledgement continues.
        return !confirmations.hasRoom
    }

    // MARK: Position

    private func noteUnstored() {
        guard entries.isNamed else { return }
        storeInterval = Follower.storeInterval
        if storeDeadline == nil { storeDeadline = HostTime.now.instant.advanced(byMicroseconds: storeInterval) }
    }

    /// Confirms the lines that the consumer has read. A consumer that acknowledges confirms the lines of entries itself.
    private func confirmRead(isLast: Bool) {
        let count = output.takeRead(isLast: isLast)
        for receipt in receipts[..<count] {
            guard case .entry(let entry, let hasID) = receipt, configuration.isAcknowledged else {
                entries.confirm(receipt)
                continue
            }
            if !hasID { confirm(confirmations.noteRead(of: entry.session)) }
        }
        receipts.removeFirst(count)
    }

    private func confirm(_ receipts: [EmissionReceipt]) { for receipt in receipts { entries.confirm(.entry(receipt, hasID: true)) } }

    private func takeIDs() {
        guard let lines = ids.read() else {
            events.forget(configuration.input)
            end = end ?? .wanted
            return
        }
        for line in lines {
            switch line {
            case .id(let id):
                guard let receipts = confirmations.confirm(id) else {
                    report(.notAnID(id.text))
                    continue
                }
                confirm(receipts)
                noteUnstored()
            case .other(let text): report(.notAnID(text))
            }
        }
    }

    private func storePosition(at time: HostTime) throws(ReaderError) {
        confirmRead(isLast: false)
        if entries.isNamed { output.synchronize() }
        let isStored = try entries.storePosition(at: time)
        guard !isStored || output.hasUnread, storeInterval < Follower.longestStoreInterval else {
            storeDeadline = nil
            return
        }
        storeInterval *= 2
        storeDeadline = time.instant.advanced(byMicroseconds: storeInterval)
    }

    private func finish() throws(ReaderError) {
        if end == .wanted, !isOutputBlocked {
            output.append { formatter.end(into: &$0) }
            if case .failed(let errorNumber) = output.flush() { throw .output(errorNumber: errorNumber) }
        }
        if let omission = formatter.omissions.total { report(.fixesLeftOut(omission)) }
        confirmRead(isLast: true)
        if entries.isNamed { output.synchronize() }
        try entries.storePosition(at: .now, isSeen: true)
    }
}

extension EmittedEntry {
    /// The id in the line of the entry; nil for a change of a gap, which has none.
    package var id: FixIdentifier? {
        switch content {
        case .fix(let record): FixIdentifier(deviceID: deviceID, logID: record.logID, sequence: record.fix.sequence)
        case .message(let record):
            FixIdentifier(deviceID: deviceID, logID: record.logID, sequence: record.message.sequence)
        case .gap: nil
        }
    }
}
