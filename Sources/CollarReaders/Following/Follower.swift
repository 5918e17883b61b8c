import CollarARQ
import CollarFormats
import CollarJournal
import Glibc
import LinuxSystem

/// Writes the stored entries of a state directory, then those that another process adds, like `tail -f`: does what a
/// ``FollowMachine`` decides. It sleeps while nothing changes.
package final class Follower {
    /// The most rounds of filling and writing the output before signals and changes are handled.
    private static let emissionRounds = 64

    private let configuration: FollowerConfiguration
    private let report: (FollowerNotice) -> Void
    private let events: ReaderEvents
    private let signals: SignalDescriptor
    private let entries: StoredEntries
    private let output: LineOutput
    private var formatter: EntryFormatter
    private var machine: FollowMachine

    /// Prepares a follower: opens the state directory and takes the reader's name.
    ///
    /// `report` is called with each notice, on the thread that runs the loop.
    /// - Parameter owner: says where the owner is; nil if the owner does not move.
    package init(
        _ configuration: FollowerConfiguration, owner: (any OwnerReceiver)? = nil, report: @escaping (FollowerNotice) -> Void
    ) throws(ReaderError) {
        self.configuration = configuration
        self.report = report
        do throws(SystemError) {
            events = try ReaderEvents(urgent: .signals)
            signals = try SignalDescriptor(SignalDescriptor.ofEnd)
        } catch { throw .system(error) }
        entries = try StoredEntries(configuration.reading, owner: owner, report: report)
        output = LineOutput(fileDescriptor: configuration.output, lineLimit: configuration.lineLimit)
        formatter = EntryFormatter(configuration.reading.format)
        machine = FollowMachine(
            isNamed: entries.isNamed, isAcknowledged: configuration.isAcknowledged,
            endsAt: configuration.durationMicroseconds.map { HostTime.now.instant.advanced(byMicroseconds: $0) })
        events.watch(signals.fileDescriptor, as: .signals)
        events.watch(entries.fileDescriptor, as: .journals)
        if configuration.isAcknowledged, !events.watch(configuration.input, as: .input) {
            throw errno == EPERM ? .input : .system(SystemError(operation: "epoll_ctl", errno: errno))
        }
    }

    package var lineCount: Int { output.lines.writtenLineCount }

    package func run() throws(ReaderError) {
        output.lines.append { formatter.begin(into: &$0) }
        while true {
            machine.turn()
            try obey()
            if machine.isFinished { return }
            let time = HostTime.now
            let due = Instant.earliest(machine.nextDeadline, entries.nextDeadline(at: time))
            let timeout = machine.hasMoreLines ? 0 : due?.microseconds(since: time.instant)
            entries.watchOwner(with: events)
            for event in events.wait(timeoutMicroseconds: timeout) { try handle(event) }
            let now = HostTime.now
            entries.deadlineReached(at: now.instant)
            try entries.lookForOwner(at: now)
            machine.deadlineReached(at: now.instant)
            try obey()
        }
    }

    private func handle(_ event: ReaderEvents.Event) throws(ReaderError) {
        switch event.source {
        case .signals: if signals.next() != nil { machine.end() }
        case .journals: try entries.handleChanges()
        case .owner: break
        case .output: machine.outputHasRoom()
        case .input:
            guard let bytes = SystemFiles.read(from: configuration.input) else {
                if errno != EAGAIN { machine.inputEnded() }
                return
            }
            if bytes.isEmpty { machine.inputEnded() } else { confirm(machine.inputCame(bytes, at: HostTime.now.instant)) }
        }
    }

    /// Does what the machine says.
    private func obey() throws(ReaderError) {
        while let order = machine.nextOutput() {
            switch order {
            case .writeLines:
                let progress = output.pump(rounds: Follower.emissionRounds) { queueLines() }
                if output.lines.isReadingUnclear { findRead() }
                machine.wrote(progress, at: HostTime.now.instant)
            case .findRead(let isLast): findRead(isLast: isLast)
            case .watchOutput: events.watch(output.fileDescriptor, as: .output, forReading: false, forWriting: true)
            case .forgetOutput: events.forget(output.fileDescriptor)
            case .forgetInput: events.forget(configuration.input)
            case .endDocument:
                output.lines.append { formatter.end(into: &$0) }
                machine.documentEnded(output.flush())
            case .reportLeftOut: if let omission = formatter.omissions.total { report(.fixesLeftOut(omission)) }
            case .storePosition(let isSeen):
                if entries.isNamed { output.synchronize() }
                let time = HostTime.now
                let isStored = try entries.storePosition(at: time, isSeen: isSeen)
                machine.stored(isStored, hasUnread: output.lines.hasUnread, at: time.instant)
            case .notice(let notice): report(notice)
            case .fail(let error): throw error
            }
        }
    }

    /// Queues lines while there is room.
    /// - Returns: whether no further line waits.
    private func queueLines() -> Bool {
        let time = HostTime.now
        if output.lines.isReadingUnclear { findRead() }
        while output.lines.hasRoom, machine.hasRoom {
            guard let item = entries.next(at: time) else { return true }
            if let annotations = entries.changedAnnotations(at: time.instant) { formatter.annotations = annotations }
            switch item {
            case .entry(let entry, let isWanted):
                output.lines.queue { if isWanted { formatter.append(entry.content, deviceID: entry.deviceID, to: &$0) } }
                if let omission = formatter.omissions.takeFirst() { report(.fixesLeftOut(omission)) }
            case .event(let line, let isWanted): output.lines.queue { if isWanted { formatter.append(event: line.bytes, to: &$0) } }
            case .alert(let alert): output.lines.queue { formatter.append(alert, to: &$0) }
            case .owner(let owner, let line):
                formatter.owner = owner
                output.lines.queue { $0 += line ?? [] }
            }
            confirm(machine.queued(item, at: time.instant))
        }
        return !machine.hasRoom
    }

    private func findRead(isLast: Bool = false) { confirm(machine.read(output.takeRead(isLast: isLast))) }

    private func confirm(_ receipts: [StoredReceipt]) { for receipt in receipts { entries.confirm(receipt) } }
}
