import CollarARQ
import CollarFormats
import CollarJournal
import Glibc
import LinuxSystem

package struct DeliveryConfiguration: Sendable {
    /// What is read; it has a name.
    package var reading: ReadingConfiguration
    package var command: DeliveryCommand
    package var batchCount = 1000
    /// The shortest time between the starts of two batches, in microseconds; a full one does not wait.
    package var intervalMicroseconds: Int64 = 0
    /// Whether to end when everything that was stored at the start is delivered, or an attempt has failed.
    package var isOnce = false

    package init(_ reading: ReadingConfiguration, _ command: DeliveryCommand) {
        self.reading = reading
        self.command = command
    }
}

/// Passes batches of stored entries to the stdin of a command, and moves the reader's position only when the command has succeeded: does
/// what a ``DeliveryMachine`` decides.
///
/// A batch that fails is tried again until it succeeds. So each entry reaches the command at least once, and a sink that ignores ids that it
/// has holds each exactly once.
package final class Deliverer {
    /// The most entries that are taken before signals are handled.
    private static let fillCount = 4096

    private let report: (FollowerNotice) -> Void
    private let events: ReaderEvents
    private let signals: SignalDescriptor
    private let entries: StoredEntries
    private var machine: DeliveryMachine
    private var random = SystemRandomNumberGenerator()
    /// The command that runs.
    private var child: ChildProcess?

    /// Prepares a deliverer: opens the state directory and takes the reader's name.
    ///
    /// `report` is called with each notice, on the thread that runs the loop.
    /// - Parameter owner: says where the owner is; nil if the owner does not move.
    package init(
        _ configuration: DeliveryConfiguration, owner: (any OwnerReceiver)? = nil, report: @escaping (FollowerNotice) -> Void
    ) throws(ReaderError) {
        self.report = report
        // If the signal were ignored, as a parent process may have left it, the end of a command would go unnoticed.
        signal(SIGCHLD, SIG_DFL)
        do throws(SystemError) {
            events = try ReaderEvents(urgent: .signals)
            signals = try SignalDescriptor(SignalDescriptor.ofEnd + [SIGCHLD])
        } catch { throw .system(error) }
        entries = try StoredEntries(configuration.reading, owner: owner) { notice in
            // Delivering once ends with this failure.
            if case .cannotStorePosition = notice, configuration.isOnce { return }
            report(notice)
        }
        machine = DeliveryMachine(configuration)
        events.watch(signals.fileDescriptor, as: .signals)
        // With `--once`, what is stored after the start is left: a command that is slower than the collars would never end.
        if !configuration.isOnce { events.watch(entries.fileDescriptor, as: .journals) }
    }

    /// Batches delivered since the start.
    package var batchCount: Int { machine.batchCount }
    /// Entries delivered since the start.
    package var entryCount: Int { machine.entryCount }

    /// Runs the loop until a signal ends it, or everything was delivered once.
    package func run() throws(ReaderError) {
        while true {
            takeEntries()
            try obey()
            if machine.isEnded { return }
            let time = HostTime.now
            let due = Instant.earliest(machine.nextDeadline, entries.nextDeadline(at: time))?.microseconds(since: time.instant)
            entries.watchOwner(with: events)
            for event in events.wait(timeoutMicroseconds: machine.isBehind ? 0 : due) {
                switch event.source {
                case .signals: try takeSignals()
                case .journals: try entries.handleChanges()
                default: break
                }
            }
            let now = HostTime.now
            entries.deadlineReached(at: now.instant)
            try entries.lookForOwner(at: now)
            machine.deadlineReached(at: now.instant)
            // The position moves before more is read.
            try obey()
        }
    }

    private func takeEntries() {
        let time = HostTime.now
        if machine.beginsBatch, let annotations = entries.changedAnnotations(at: time.instant) { machine.annotations = annotations }
        let limit = min(machine.room, Deliverer.fillCount)
        if limit == 0 { return }
        var items: [StoredItem] = []
        while items.count < limit, let item = entries.next(at: time) { items.append(item) }
        machine.take(items, isComplete: items.count < limit, at: HostTime.now.instant)
    }

    private func takeSignals() throws(ReaderError) {
        let now = HostTime.now.instant
        while let signal = signals.next() { if signal != SIGCHLD { machine.toldToEnd(at: now) } }
        // A command that has ended may have left programs in its group, which are told too.
        try obey()
        guard let end = child?.end(waits: false) else { return }
        child = nil
        machine.commandEnded(end, at: now, random: &random)
    }

    /// Does what the machine says.
    private func obey() throws(ReaderError) {
        while let output = machine.nextOutput() {
            switch output {
            case .start(let words, let input):
                do throws(SystemError) { child = try ChildProcess(words, input: input, hasGroup: true) } catch {
                    machine.notStarted(errorNumber: error.errno, at: HostTime.now.instant, random: &random)
                }
            case .terminate: child?.send(signal: SIGTERM)
            case .kill: child?.send(signal: SIGKILL)
            case .move(let receipts, let isStored):
                for receipt in receipts { entries.confirm(receipt) }
                if isStored { try entries.storePosition(at: .now) }
            case .report(let notice): report(notice)
            case .end(let needsPosition):
                try entries.storePosition(at: .now, isSeen: true)
                if needsPosition, let failure = entries.positionFailure { throw .positionNotStored(failure) }
            case .fail(let error): throw error
            }
        }
    }
}
