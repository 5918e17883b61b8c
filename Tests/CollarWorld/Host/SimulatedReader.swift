import CollarARQ
import CollarFirmware
import CollarFormats
import CollarHost
import CollarJournal
import CollarReaders
import CollarSimulator
import CollarWire

/// A named reader of a machine's journals, in a process of its own, and its consumer.
///
/// The consumer confirms entries late and in order. It keeps what it has confirmed; what it has not confirmed is lost when the
/// process ends. The process stores its position at random times, and is killed at any point.
final class SimulatedReader {
    /// The process, with everything that is lost when it ends.
    private final class Process {
        let follower: JournalFollower
        let lock: ReaderLock
        /// Nil for a reader without alerts.
        var alerts: AlertBook?
        /// What was handed out and not confirmed yet.
        var unconfirmed: [Item] = []
        /// The generation of the disk when the process looked for changes.
        var generation = -1
        /// The names in the state directory when the process looked for collars.
        var names: [String]?

        init(_ follower: JournalFollower, lock: ReaderLock, alerts: AlertBook?) {
            self.follower = follower
            self.lock = lock
            self.alerts = alerts
        }
    }

    private enum Item {
        case entry(EmittedEntry)
        case alert
    }

    let name: ReaderName
    let isOrdered: Bool
    /// The alerts that were handed out in all lives of the process; nil for a reader without alerts.
    private(set) var alerts: HandedOutAlerts?
    /// Called with a text for each event, for a trace.
    var trace: ((String) -> Void)?
    /// What the consumer has confirmed in all lives of the process, by log and sequence.
    private(set) var confirmed: [LogKey: [UInt32: LogEntry]] = [:]
    /// The oldest segment of each collar when the reader stored its first position: the machine owes it everything from there on.
    private(set) var firstOwedSegments: [DeviceID: UInt32] = [:]
    private let configuration: FollowConfiguration
    private let plan: WorldPlan
    private let oracle: Oracle
    private let disk: SimulatedDisk
    private let files: ReaderFiles
    private let text: String
    private var random: SeededRandom
    private var process: Process?
    /// Whether the state directory was replaced by another one while the process ran.
    private var isStateReplaced = false
    /// What the consumer had confirmed when a position was stored last.
    private var stored: [LogKey: [UInt32: LogEntry]] = [:]
    private var lifeCount = 0
    private var repeatCount = 0

    init(index: Int, ofHost host: Int, disk: SimulatedDisk, plan: WorldPlan, oracle: Oracle) {
        guard let name = ReaderName("reader-\(index)") else { preconditionFailure("the name has the form of a name") }
        self.name = name
        self.plan = plan
        self.oracle = oracle
        text = "reader \(index) of host \(host)"
        random = SeededRandom(seed: plan.seed &+ 0x4EAD &+ UInt64(8 * host + index))
        self.disk = SimulatedDisk(sharing: disk, seed: random.next())
        files = ReaderFiles(stateDirectory: SimulatedMachine.stateDirectory, fileSystem: self.disk)
        var configuration = FollowConfiguration(stateDirectory: SimulatedMachine.stateDirectory)
        configuration.selection.hasMessages = plan.faults.contains(.messages)
        configuration.selection.hasGaps = random.chance(0.2)
        configuration.selection.isSorted = random.chance(0.2)
        isOrdered = configuration.selection.isSorted
        if isOrdered, !configuration.selection.hasGaps {
            configuration.selection.announcesHeldFixes = true
            alerts = HandedOutAlerts()
        }
        self.configuration = configuration
    }

    /// Whether an entry that was confirmed is before the position at once.
    private var isPlain: Bool { !configuration.selection.hasGaps && !configuration.selection.isSorted }

    /// Adds what has happened to the statistics of a run.
    func add(to statistics: inout WorldStatistics) {
        statistics.readerLives += lifeCount
        statistics.readerRepeats += repeatCount
        statistics.readerEntries += confirmed.values.reduce(0) { $0 + $1.count }
    }

    /// The process ends at once.
    func kill() {
        disk.endProcess()
        process = nil
        alerts?.dropUnconfirmed()
        isStateReplaced = false
        disk.faults = DiskFaults()
    }

    /// The state directory is replaced by another one. Whoever does that stops the process before or soon afterwards.
    func stateIsReplaced() { if random.chance(0.5) { kill() } else { isStateReplaced = true } }

    /// No file operation fails any more.
    func calm() { disk.faults = DiskFaults() }

    /// Another process is about to do an operation that may change something: this process may run first. What the other process
    /// has written and not made durable is worth reading.
    func runs(before operation: FileOperation, at time: HostTime, _ records: MachineRecords) {
        guard random.chance(operation == .synchronize ? 0.4 : 0.02) else { return }
        guard process != nil, operation == .synchronize, random.chance(0.7) else { return turn(at: time, records) }
        read(.max, at: time)
        confirm(.max)
        _ = store(at: time)
        if disk.isStopped { kill() }
    }

    /// The process runs for a moment.
    func turn(at time: HostTime, _ records: MachineRecords) {
        if process == nil {
            if random.chance(0.7) { start(at: time, records) }
        } else if random.chance(isStateReplaced ? 0.5 : 0.05) {
            trace?("is killed")
            return kill()
        } else {
            addFault()
            if random.chance(0.8) { read(random.chance(0.3) ? .max : 1 + random.below(40), at: time) }
            if random.chance(0.7) { confirm(random.below((process?.unconfirmed.count ?? 0) + 1)) }
            if random.chance(0.5) { _ = store(at: time) }
        }
        if disk.isStopped {
            trace?("is killed amid a file operation")
            kill()
        }
        let operationsUntilStop = disk.faults.operationsUntilStop
        disk.faults = DiskFaults()
        disk.faults.operationsUntilStop = operationsUntilStop
    }

    private func addFault() {
        switch random.below(20) {
        case 0, 1, 2: disk.faults.operationsUntilStop = random.below(30)
        case 3 where plan.faults.contains(.syncFailures): disk.faults.isNextSyncFailing = true
        case 4, 5:
            guard plan.faults.contains(.diskErrors) else { return }
            disk.faults.operationsUntilFailure = random.below(15)
        case 6 where plan.faults.contains(.fullDisk): disk.faults.room = random.below(200)
        default: break
        }
    }

    private func start(at time: HostTime, _ records: MachineRecords) {
        do throws(JournalError) {
            try files.makeDirectory()
            let lock = try files.lock(name)
            let former = try files.state(of: name)
            if former == nil {
                firstOwedSegments = records.oldestSegments
                try files.store(ReaderState(seenUnixMilliseconds: time.unixMilliseconds), of: name, holding: lock)
            }
            let book = alerts.map { _ in AlertBook(HandedOutAlerts.watch, former: former?.alerts ?? ReaderAlerts(sinceUnixMilliseconds: 0)) }
            process = Process(JournalFollower(configuration, former: former, fileSystem: disk), lock: lock, alerts: book)
            lifeCount += 1
            trace?("starts, position \(former.map { "\($0.positions)" } ?? "none")")
        } catch {
            switch error {
            case .unreadableReader, .readerInUse: oracle.report(.readersGoOn, "\(text) cannot start: \(error)")
            default: trace?("cannot start: \(error)")
            }
            disk.endProcess()
        }
    }

    /// The process looks for changes and hands out some entries.
    private func read(_ limit: Int, at time: HostTime) {
        guard let process else { return }
        if process.generation != disk.generation {
            process.generation = disk.generation
            let names = disk.listing(of: SimulatedMachine.stateDirectory)
            if names != process.names {
                process.names = names
                do throws(JournalError) { try process.follower.lookForCollars(at: time.instant) { _ in } } catch {
                    trace?("cannot look for collars: \(error)")
                    return kill()
                }
            }
            // The kernel tells of a change in any directory, also in that of a collar that an attacker has invented.
            for name in names {
                if let deviceID = DeviceID(hexadecimal: name) { process.follower.noteChange(of: deviceID) }
            }
        }
        process.follower.deadlineReached(at: time.instant)
        var count = 0
        while count < limit, let entry = process.follower.nextEntry(at: time) {
            let raised = process.alerts?.take(entry, at: time) ?? []
            handOut(raised, of: process, isLast: entry.isHeld)
            if entry.isHeld {
                process.follower.confirm(entry.receipt)
                continue
            }
            trace?("is handed \(entry.text)")
            oracle.handedOut(entry, to: text)
            alerts?.note(entry)
            process.alerts?.handOut(entry.deviceID, isLast: true)
            process.unconfirmed.append(.entry(entry))
            count += 1
        }
        while count < limit, let alert = process.alerts?.due(at: time) {
            alerts?.noteAhead(alert)
            handOut([alert], of: process, isLast: true)
        }
        for notice in process.follower.takeNotices() { trace?("says \(notice)") }
    }

    private func handOut(_ raised: [RaisedAlert], of process: Process, isLast: Bool) {
        for (index, alert) in raised.enumerated() {
            trace?("is handed \(alert.alert.event) of \(alert.deviceID)")
            alerts?.note(alert)
            process.alerts?.handOut(alert.deviceID, isLast: isLast && index == raised.count - 1)
            process.unconfirmed.append(.alert)
        }
    }

    /// The consumer confirms the oldest of what it was handed.
    private func confirm(_ count: Int) {
        guard let process, !disk.isStopped else { return }
        for item in process.unconfirmed.prefix(count) {
            process.alerts?.confirm()
            guard case .entry(let entry) = item else {
                alerts?.confirmOldest()
                continue
            }
            process.follower.confirm(entry.receipt)
            guard let (key, sequence, content) = entry.logged else { continue }
            if confirmed[key, default: [:]].updateValue(content, forKey: sequence) != nil { repeatCount += 1 }
        }
        process.unconfirmed.removeFirst(min(count, process.unconfirmed.count))
    }

    /// The process stores its position.
    private func store(at time: HostTime) -> Bool {
        guard let process else { return false }
        do throws(JournalError) {
            var state = try process.follower.durableState()
            if let kept = process.alerts?.state() { state.alerts = kept }
            state.seenUnixMilliseconds = time.unixMilliseconds
            try files.store(state, of: name, holding: process.lock)
            stored = confirmed
            trace?("stores \(state.positions)")
            return true
        } catch {
            trace?("cannot store its position: \(error)")
            if case .readerReplaced = error { kill() }
            return false
        }
    }

    /// The machine has lost power: what was confirmed before a position was stored must be on the disk. What was confirmed later may
    /// be lost, and no later position is after it then.
    func checkAfterPowerCut(_ records: MachineRecords) {
        if isPlain, !disk.isDisturbed {
            for (key, entries) in stored {
                let log = records.of(key.deviceID).logs[key.logID]
                if let sequence = entries.keys.filter({ log?.entries[$0] == nil }).min() {
                    oracle.report(.readersGoOn, "\(text) has stored a position after \(sequence), which the disk has lost")
                }
            }
        }
        for key in confirmed.keys {
            let kept = records.of(key.deviceID).logs[key.logID]?.entries ?? [:]
            confirmed[key] = confirmed[key]?.filter { kept[$0.key] != nil || stored[key]?[$0.key] != nil }
        }
    }

    /// The consumer takes everything that is left, and the process stores its position. A process that then starts again has
    /// nothing to hand out.
    func finish(at time: HostTime, _ records: MachineRecords) {
        calm()
        if isStateReplaced { kill() }
        if process == nil { start(at: time, records) }
        // What cannot be read is tried again after a while.
        for round in 0..<3 as Range<Int64> { takeEverything(at: time.advanced(byMicroseconds: 60_000_000 * round)) }
        guard isPlain, oracle.violation == nil else { return }
        let repeatsBefore = repeatCount
        kill()
        start(at: time, records)
        takeEverything(at: time)
        if repeatCount > repeatsBefore {
            oracle.report(.readersGoOn, "\(text) starts again and is handed \(repeatCount - repeatsBefore) entries again")
        }
    }

    private func takeEverything(at time: HostTime) {
        read(.max, at: time)
        confirm(.max)
        // Each attempt may hear of one failure before the calm.
        if !(0..<8).contains(where: { _ in store(at: time) }) {
            oracle.report(.readersGoOn, "\(text) cannot store its position on a sound disk")
        }
    }
}

extension HostTime {
    fileprivate func advanced(byMicroseconds microseconds: Int64) -> HostTime {
        HostTime(
            instant: instant.advanced(byMicroseconds: microseconds), unixMilliseconds: unixMilliseconds + microseconds / 1000)
    }
}
