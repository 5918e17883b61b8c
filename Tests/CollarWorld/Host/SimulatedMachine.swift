import CollarARQ
import CollarHost
import CollarJournal
import CollarSimulator
import CollarWire

/// A machine of a ``World``: the disk, the radios in its ports, the consumer of its lines, and a process that runs ``Host`` and
/// is stopped and started again.
final class SimulatedMachine {
    /// The process, with everything that is lost when it ends.
    final class Process {
        let host: Host
        let links: [LinkID]
        /// Bytes that came in while the process waits for its disk, by radio; nil while it does not wait.
        var unread: [[UInt8]]?
        /// The bytes of a frame that is not complete yet, by link.
        var partial: [[UInt8]]
        /// Links that were opened or closed while the process waits for its disk.
        var linkChanges: [(radio: Int, isOpened: Bool)] = []
        /// Whether each link is open, as far as the process knows.
        var isOpen: [Bool]
        var discipline = AnswerDiscipline()
        /// The sealed frames that it has accepted.
        var acceptedFrames: Set<[UInt8]> = []

        init(_ host: Host, radioCount: Int) {
            self.host = host
            links = (0..<radioCount).map { host.addLink(named: "radio \($0)") }
            partial = Array(repeating: [], count: radioCount)
            isOpen = Array(repeating: false, count: radioCount)
        }
    }

    /// The most bytes that a tty keeps for a process that does not read.
    private static let unreadLimit = 4096
    static let stateDirectory = "/var/state"

    let index: Int
    let disk: SimulatedDisk
    let consumer: LineConsumer
    let records: MachineRecords
    let radioCount: Int
    let oracle: Oracle
    /// The named readers of its journals.
    let readers: [SimulatedReader]
    private let configuration: HostConfiguration
    private var random: SeededRandom
    /// Whether reads end in the middle of frames. A frame that comes in with one read may take a shorter path through the code.
    private let cutsReads: Bool
    private let isSealed: Bool
    /// The collars whose keys users give to this machine.
    private let keyedCollars: [DeviceID]
    private(set) var process: Process?
    /// The id of the receiver; nil before the first start, and after the state directory was removed or replaced.
    private(set) var receiverID: UInt32?
    /// Called with a text for each event, for a trace.
    var trace: ((String) -> Void)?
    /// Number of processes that have ended. An event that was scheduled for an earlier process is ignored.
    private(set) var life = 0
    /// How far the clock of the machine is wrong, in milliseconds.
    var clockErrorMilliseconds: Int64 = 0
    /// Whether the whole machine loses power when the disk's fault stops a file operation; if not, only the process ends.
    var losesPowerAtStop = false
    /// Whether the consumer's next turn is scheduled.
    var isConsumerDue = false
    /// The copy of the state directory that may be restored later.
    var savedState: World.SavedState?
    /// Whether the state directory was removed while this process runs.
    var isStateRemoved = false
    /// Whether the machine has no power, and nobody starts it.
    var isSwitchedOff = false
    /// Whether this process cannot recover, so that it must be restarted.
    private(set) var needsRestart = false
    /// Frames to send, by radio.
    private var frames: [(radio: Int, bytes: [UInt8])] = []
    /// Commands that were accepted and have not been reported as ended.
    var takenCommands: [(deviceID: DeviceID, requestID: UInt16)] = []
    /// The sealed frames that were accepted before an answer went out to their collar: no later process accepts them again,
    /// unless the storage lost something.
    private var durablyAccepted: [DeviceID: Set<[UInt8]>] = [:]
    /// How many fixes and messages it has reported as removed before a reader had them; nil for its own consumer.
    var unreadRemovals: [ReaderName?: Int] = [:]
    /// Collars whose requests this process cannot read.
    private var unreadCommands: Set<DeviceID> = []

    init(index: Int, plan: WorldPlan, oracle: Oracle, collars: [DeviceID]) {
        isSealed = plan.isSealed
        keyedCollars = plan.isSealed ? collars : []
        self.index = index
        self.oracle = oracle
        random = SeededRandom(seed: plan.seed &+ 31 &+ UInt64(index))
        disk = SimulatedDisk(seed: random.next())
        radioCount = plan.radioCount
        records = MachineRecords(disk: disk)
        var configuration = HostConfiguration(stateDirectory: SimulatedMachine.stateDirectory)
        configuration.segmentByteLimit = random.chance(0.5) ? 600 + random.below(1000) : 2048 + random.below(6144)
        configuration.selection.hasGaps = random.chance(0.4)
        configuration.selection.hasMessages = plan.faults.contains(.messages)
        configuration.selection.isSorted = random.chance(0.3)
        if plan.faults.contains(.retention) { configuration.retention = Retention(days: 30) }
        if plan.faults.contains(.removal) {
            configuration.retention = Retention(days: 0, unreadDays: plan.removesUnread ? 0 : nil)
        }
        if plan.faults.contains(.hostileSender), plan.forging == .logs {
            configuration.trackingLimits.promptLogCount = 14
            // A log without free ranges makes progress only if the collar also sends its oldest fixes. Bursts of one frame hold
            // only the newest.
            if plan.burstFrameCount > 1 {
                configuration.trackingLimits.rangesOfLog = 1
                configuration.trackingLimits.sharedRangeCount = 3
            }
        }
        cutsReads = random.chance(0.5)
        self.configuration = configuration
        consumer = LineConsumer(isOrdered: configuration.selection.isSorted, hasGaps: configuration.selection.hasGaps)
        let disk = disk
        readers = (0..<(plan.faults.contains(.readers) ? plan.readerCount : 0)).map {
            SimulatedReader(index: $0, ofHost: index, disk: disk, plan: plan, oracle: oracle)
        }
    }

    /// A machine with the parts and the settings of another, and an empty disk.
    init(index: Int, alike other: SimulatedMachine, plan: WorldPlan) {
        isSealed = other.isSealed
        keyedCollars = []
        self.index = index
        oracle = other.oracle
        random = SeededRandom(seed: plan.seed &+ 31 &+ UInt64(index))
        disk = SimulatedDisk(seed: random.next())
        radioCount = other.radioCount
        records = MachineRecords(disk: disk)
        configuration = other.configuration
        readers = []
        cutsReads = other.cutsReads
        consumer = LineConsumer(isOrdered: configuration.selection.isSorted, hasGaps: configuration.selection.hasGaps)
    }

    /// Makes the disk a copy of the disk of another machine.
    /// - Parameter withCache: whether the copy is as the running system of that machine sees the disk; otherwise it is as the disk is
    ///   without what only the page cache has.
    func copyDisk(of original: SimulatedMachine, withCache: Bool) {
        disk.restore(withCache ? original.disk.snapshot() : original.disk.durableSnapshot())
        receiverMoved()
        receiverID = original.receiverID
        durablyAccepted = original.durablyAccepted
    }

    /// The time on the machine's clocks.
    func time(_ now: Int64) -> HostTime {
        HostTime(instant: Instant(microseconds: now), unixMilliseconds: unixMilliseconds(now))
    }

    /// The Unix time that the machine's clock shows, in milliseconds.
    func unixMilliseconds(_ now: Int64) -> Int64 {
        max(0, oracle.plan.startUnixMilliseconds + now / 1000 + clockErrorMilliseconds)
    }

    var isRunning: Bool { process != nil }
    /// Whether the process waits for its disk.
    var isWaitingForDisk: Bool { process?.unread != nil }
    var isCommitDue: Bool { process?.host.isCommitDue ?? false }
    /// Whether the consumer has taken every entry; false if no process runs.
    var isEverythingTaken: Bool { process?.host.isEverythingEmitted ?? false }
    var logCount: Int { process?.host.logCount ?? 0 }

    /// When the process wants to be called; nil if it has no deadline, waits for its disk, or does not run.
    var nextDeadline: Int64? {
        guard let process, process.unread == nil else { return nil }
        return process.host.nextDeadline?.microseconds
    }

    /// Starts a process.
    /// - Returns: whether it runs; false if the state directory cannot be opened.
    func start(now: Int64) -> Bool {
        for deviceID in keyedCollars { keys?.give(deviceID) }
        do throws(HostError) {
            let own = SeededRandom(seed: random.next())
            let host = try Host(configuration, fileSystem: disk, random: own, at: time(now))
            if let former = receiverID, former != host.receiverID {
                oracle.report(.receiverStaysItself, "host \(index) is another receiver")
            }
            receiverID = host.receiverID
            process = Process(host, radioCount: radioCount)
        } catch {
            disk.endProcess()
            return false
        }
        needsRestart = false
        checkCursors()
        unreadCommands = []
        takeOutputs(now: now)
        checkCommands()
        return true
    }

    /// The keys in its state directory; nil while a process runs whose state directory was removed.
    var keys: MachineKeys? {
        isStateRemoved ? nil : MachineKeys(stateDirectory: SimulatedMachine.stateDirectory, disk: disk, oracle: oracle)
    }

    /// Checks that the host knows every accepted command after a restart. A command may have ended just before the restart.
    private func checkCommands() {
        guard let host = process?.host else { return }
        takenCommands.removeAll { command in
            do throws(RequestRefusal) {
                return try host.report(ofRequest: command.requestID, to: command.deviceID).state != .queued
            } catch {
                // A file that cannot be read now may be readable later.
                guard case .unknownRequest = error, !unreadCommands.contains(command.deviceID) else { return false }
                oracle.report(.takenCommandIsKept, "host \(index) does not know the command \(command.requestID) any more")
                return true
            }
        }
    }

    /// Checks that emission continues where it stopped: not before the cursor on the disk, and not after what the consumer
    /// took.
    private func checkCursors() {
        for journal in process?.host.journals ?? [] {
            let cursor = journal.emissionCursor
            let least = records.of(journal.deviceID).cursor
            let most = consumer.handedOver(of: journal.deviceID)
            if cursor < least {
                oracle.report(.emissionGoesOn, "host \(index): emission goes on at \(cursor), although a commit kept \(least)")
            }
            if cursor > most {
                oracle.report(
                    .emissionGoesOn, "host \(index): emission goes on at \(cursor), although lines were taken up to \(most) only")
            }
            consumer.restarted(journal.deviceID, at: cursor)
        }
    }

    /// The process ends, or the whole machine loses power.
    func stop(losesPower: Bool) {
        if losesPower {
            for reader in readers { reader.kill() }
            disk.losePower()
            for reader in readers { reader.checkAfterPowerCut(records) }
        } else {
            disk.endProcess()
        }
        process = nil
        consumer.hostStopped()
        life += 1
        frames = []
        guard isStateRemoved else { return }
        isStateRemoved = false
        stateWasReplaced()
    }

    /// The state directory was removed or replaced by an earlier one: the machine may be another receiver now.
    func stateWasReplaced() {
        receiverID = nil
        receiverMoved()
    }

    /// The receiver continues on another disk.
    func receiverMoved() {
        durablyAccepted = [:]
        takenCommands = []
        consumer.forgetPositions()
    }

    /// The disk has lost records.
    func recordsWereDamaged() { durablyAccepted = [:] }

    // MARK: Links

    func linkOpened(_ radio: Int, now: Int64) {
        guard let process else { return }
        guard process.unread == nil else { return process.linkChanges.append((radio, true)) }
        process.partial[radio] = []
        process.isOpen[radio] = true
        process.host.linkOpened(process.links[radio], at: time(now))
        takeOutputs(now: now)
    }

    func linkClosed(_ radio: Int, now: Int64) {
        guard let process else { return }
        guard process.unread == nil else {
            // Bytes that came in before may be lost with the port, or be read before the process sees the closing.
            if random.chance(0.5) { process.unread?[radio] = [] }
            process.linkChanges.append((radio, false))
            return
        }
        let rest = process.partial[radio]
        process.host.receive(rest.span, on: process.links[radio], at: time(now))
        process.isOpen[radio] = false
        process.discipline.linkClosed()
        process.host.linkClosed(process.links[radio], at: time(now))
        takeOutputs(now: now)
    }

    /// Receives serial bytes from a radio.
    func receive(_ bytes: [UInt8], on radio: Int, now: Int64) {
        guard let process else { return }
        if let waiting = process.unread?[radio] {
            // If a port is plugged in during the wait, the process opens it after the wait. Until then the port's bytes are lost.
            guard !process.linkChanges.contains(where: { $0.radio == radio }) else { return }
            if waiting.count + bytes.count <= SimulatedMachine.unreadLimit { process.unread?[radio] += bytes }
            return
        }
        // The bytes are handed over frame by frame, so that the oracle can judge each frame.
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0) {
            process.partial[radio] += rest[...end]
            rest = rest[(end + 1)...]
            let piece = process.partial[radio]
            process.partial[radio] = []
            receive(piece: piece, on: radio, now: now)
        }
        process.partial[radio] += rest
        // This many bytes without a delimiter are no frame: they are dropped.
        if process.partial[radio].count > 2 * Frame.maximumByteCount { process.partial[radio].removeAll() }
        takeOutputs(now: now)
    }

    /// Receives the bytes up to a delimiter.
    private func receive(piece: [UInt8], on radio: Int, now: Int64) {
        var stream = StreamDecoder()
        let frame = stream.frames(in: piece).last ?? []
        give(frame, on: radio, now: now) { host, link in
            let cut = cutsReads && piece.count > 1 ? random.below(piece.count) : 0
            for part in [piece[..<cut], piece[cut...]] {
                let bytes = Array(part)
                host.receive(bytes.span, on: link, at: time(now))
            }
        }
    }

    /// Receives a packet of a stick's modem.
    func receive(packet: [UInt8], signal: RadioSignal?, on radio: Int, now: Int64) {
        give(packet, on: radio, now: now) { host, link in
            host.receive(packet: packet.span, signal: signal, on: link, at: time(now))
        }
        takeOutputs(now: now)
    }

    /// The timing of the radio became known.
    func setTiming(_ timing: ModemProfile, of radio: Int) {
        guard let process else { return }
        process.host.setTiming(timing, of: process.links[radio])
    }

    /// Gives a frame to the host, and judges whether the host may accept it.
    private func give(_ frame: [UInt8], on radio: Int, now: Int64, to receive: (Host, LinkID) -> Void) {
        guard let process, let isGenuine = oracle.isGenuine(frame) else { return }
        let before = process.host.statistics.frames
        receive(process.host, process.links[radio])
        guard process.host.statistics.frames > before else { return }
        process.discipline.accepts(frame, clear: oracle.clearForm(of: frame), on: radio, now: now)
        if isSealed, frame[1] & 0x80 != 0 {
            let isKnown = durablyAccepted.values.contains { $0.contains(frame) }
            if !process.acceptedFrames.insert(frame).inserted || isKnown {
                oracle.report(.sealIsKept, "host \(index) accepts a frame twice")
            }
            if isGenuine, oracle.sender(of: frame) == nil { oracle.report(.sealIsKept, "host \(index) accepts a frame of no collar") }
        }
        if !isGenuine { oracle.report(.damageIsRejected, "host \(index) accepts \(FrameText(frame, nil))") }
    }

    func deadlineReached(now: Int64) {
        guard let process else { return }
        process.host.deadlineReached(at: time(now))
        if let next = process.host.nextDeadline, next.microseconds <= now {
            oracle.report(.deadlineIsUseful, "host \(index) reached a deadline and keeps it")
        }
        takeOutputs(now: now)
    }

    // MARK: Committing

    /// The process begins to wait for its disk.
    func beginCommit() { process?.unread = Array(repeating: [], count: radioCount) }

    /// The disk has stored the journal of one collar, or failed to.
    func endCommit(now: Int64) {
        guard let process else { return }
        _ = process.host.commitNext(at: time(now))
        oracle.stored(self)
        takeOutputs(now: now)
        let unread = process.unread ?? []
        process.unread = nil
        let changes = process.linkChanges
        process.linkChanges = []
        for (radio, bytes) in unread.enumerated() where !bytes.isEmpty { receive(bytes, on: radio, now: now) }
        for change in changes {
            if change.isOpened { linkOpened(change.radio, now: now) } else { linkClosed(change.radio, now: now) }
        }
    }

    // MARK: Outputs

    /// Takes the outgoing frames and the ``HostNotice`` values of the process.
    func takeOutputs(now: Int64) {
        guard let process else { return }
        while let (link, frame) = process.host.nextFrame() {
            if let collar = oracle.handsOut(frame, self, &process.discipline), isSealed {
                durablyAccepted[collar, default: []].formUnion(process.acceptedFrames.filter { oracle.sender(of: $0) == collar })
            }
            guard let radio = process.links.firstIndex(of: link) else { continue }
            if !process.isOpen[radio] { oracle.report(.answerDiscipline, "host \(index) sends on a closed link") }
            frames.append((radio, frame))
        }
        var notices: [HostNotice] = []
        process.host.moveNotices(to: &notices)
        for notice in notices {
            trace?("  host \(index) says \(notice)")
            switch notice {
            case .collar(_, .storageFailing(.stopped)): needsRestart = true
            // Only a journal of a collar of the world can recover by a restart. Any other id is the name of a foreign file, which
            // stays.
            case .collar(let deviceID, .journalUnavailable(_)): if oracle.records.contains(where: { $0.log.deviceID == deviceID }) { needsRestart = true }
            case .requestEnded(let report):
                takenCommands.removeAll { $0.deviceID == report.deviceID && $0.requestID == report.requestID }
                oracle.ended(report, host: index)
            case .collar(let deviceID, .requestsFailing(_)): unreadCommands.insert(deviceID)
            case .collar(let deviceID, .removedUnread(let removed)): oracle.removedUnread(removed, of: deviceID, self)
            default: break
            }
        }
    }

    /// The frames to send, each with its radio.
    func takeFrames() -> [(radio: Int, bytes: [UInt8])] {
        defer { frames = [] }
        return frames
    }

    /// Hands over the lines that the consumer takes now.
    func emitLines(now: Int64) {
        guard let process else { return }
        let time = time(now)
        while consumer.hasRoom {
            guard let entry = process.host.nextEntry(at: time) else { break }
            consumer.queue(entry)
        }
        consumer.take(at: now) { entry in
            process.host.emitted(entry.receipt)
            trace?("  host \(index)'s consumer takes \(entry.text)")
            oracle.emitted(entry, self)
        }
        takeOutputs(now: now)
    }
}
