import CollarARQ
import CollarHost
import CollarJournal
import CollarSimulator
import CollarWire

/// A machine of a ``World``: the disk, the radios in its ports, the consumer of its lines, and the process that runs ``Host``,
/// which comes and goes.
final class SimulatedMachine {
    /// The process. Its memory is gone with it.
    private final class Process {
        let host: Host
        let links: [LinkID]
        /// Bytes that came in while it waits for its disk, by radio; nil while it does not wait.
        var unread: [[UInt8]]?
        /// What each link has of a frame that is not whole.
        var partial: [[UInt8]]
        /// Links that were opened or closed while it waits for its disk.
        var linkChanges: [(radio: Int, isOpened: Bool)] = []
        /// Whether each link is open, as far as it knows.
        var isOpen: [Bool]
        var discipline = AnswerDiscipline()

        init(_ host: Host, radioCount: Int) {
            self.host = host
            links = (0..<radioCount).map { host.addLink(named: "radio \($0)") }
            partial = Array(repeating: [], count: radioCount)
            isOpen = Array(repeating: false, count: radioCount)
        }
    }

    /// Bytes a tty keeps for a process that does not read.
    private static let unreadLimit = 4096
    static let stateDirectory = "/var/state"
    /// The time of day when a world begins, in milliseconds since 1970.
    private static let startUnixMilliseconds: Int64 = 1_700_000_000_000

    let index: Int
    let disk: SimulatedDisk
    let consumer: LineConsumer
    let records: MachineRecords
    let radioCount: Int
    private let oracle: Oracle
    private let configuration: HostConfiguration
    private var random: SeededRandom
    /// Whether reads end amid frames: a frame that comes in at once may take a shorter way.
    private let cutsReads: Bool
    private var process: Process?
    /// The receiver in whose name it answers; nil before it ever ran, or after its state was lost.
    private(set) var receiverID: UInt32?
    /// Hears what happens, for a trace.
    var trace: ((String) -> Void)?
    /// Counts processes: an event of an earlier one is void.
    private(set) var life = 0
    /// How far the clock of the machine is wrong, in milliseconds.
    var clockErrorMilliseconds: Int64 = 0
    /// Whether the power goes too when its file operations stop.
    var losesPowerAtStop = false
    /// Whether its consumer is about to look for lines.
    var isConsumerDue = false
    /// The state directory that somebody has copied.
    var savedState: World.SavedState?
    /// Whether somebody removed the state directory of this process.
    var isStateRemoved = false
    /// Whether only another process can go on.
    private(set) var needsRestart = false
    /// Frames to send, by radio.
    private var frames: [(radio: Int, bytes: [UInt8])] = []
    /// Commands that were taken and whose end was not told.
    private var takenCommands: [(deviceID: UInt64, requestID: UInt16)] = []
    /// Collars whose commands the process could not read.
    private var unreadCommands: Set<UInt64> = []

    init(index: Int, plan: WorldPlan, oracle: Oracle) {
        self.index = index
        self.oracle = oracle
        random = SeededRandom(seed: plan.seed &+ 31 &+ UInt64(index))
        disk = SimulatedDisk(seed: random.next())
        radioCount = plan.radioCount
        records = MachineRecords(disk: disk)
        var configuration = HostConfiguration(stateDirectory: SimulatedMachine.stateDirectory)
        configuration.segmentByteLimit = random.chance(0.5) ? 600 + random.below(1000) : 2048 + random.below(6144)
        configuration.emitsGaps = random.chance(0.4)
        configuration.ordersBySequence = random.chance(0.3)
        if plan.faults.contains(.retention) { configuration.keepsDays = 30 }
        if plan.faults.contains(.hostileSender), plan.forging == .logs {
            configuration.trackingLimits.logCount = 14
            configuration.trackingLimits.youngLogCount = 8
            // A log without ranges goes on where its collar sends the oldest fixes, too: not in bursts of the newest alone.
            if plan.burstFrameCount > 1 {
                configuration.trackingLimits.rangesOfLog = 2
                configuration.trackingLimits.sharedRangeCount = 6
            }
        }
        cutsReads = random.chance(0.5)
        self.configuration = configuration
        consumer = LineConsumer(isOrdered: configuration.ordersBySequence, hasGaps: configuration.emitsGaps)
    }

    /// The time on the machine's clocks.
    private func time(_ now: Int64) -> HostTime {
        HostTime(instant: Instant(microseconds: now), unixMilliseconds: unixMilliseconds(now))
    }

    /// What the machine's clock shows.
    func unixMilliseconds(_ now: Int64) -> Int64 {
        max(0, SimulatedMachine.startUnixMilliseconds + now / 1000 + clockErrorMilliseconds)
    }

    var isRunning: Bool { process != nil }
    /// Whether the process waits for its disk.
    var isWaitingForDisk: Bool { process?.unread != nil }
    var isCommitDue: Bool { process?.host.isCommitDue ?? false }
    /// Whether the consumer has all there is.
    var isEverythingTaken: Bool { process?.host.isEverythingEmitted ?? false }
    var logCount: Int { process?.host.logCount ?? 0 }

    /// When the process wants to be called; nil where it does not, or cannot.
    var nextDeadline: Int64? {
        guard let process, process.unread == nil else { return nil }
        return process.host.nextDeadline?.microseconds
    }

    /// A process starts.
    /// - Returns: whether it runs: not where the state directory cannot be opened.
    func start(now: Int64) -> Bool {
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

    /// A command that was taken is known, or has ended while the process before this one ended.
    private func checkCommands() {
        guard let host = process?.host else { return }
        takenCommands.removeAll { command in
            do throws(CommandRefusal) {
                return try host.report(ofRequest: command.requestID, to: command.deviceID).state != .queued
            } catch {
                // What cannot be read now may be read later.
                guard case .unknownRequest = error, !unreadCommands.contains(command.deviceID) else { return false }
                oracle.report(.takenCommandIsKept, "host \(index) does not know the command \(command.requestID) any more")
                return true
            }
        }
    }

    /// Emission goes on where it stopped: not before what is on the disk, not after what was taken.
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

    /// The process is gone, or the whole machine.
    func stop(losesPower: Bool) {
        if losesPower { disk.losePower() } else { disk.endProcess() }
        process = nil
        consumer.hostStopped()
        life += 1
        frames = []
        guard isStateRemoved else { return }
        isStateRemoved = false
        stateWasReplaced()
    }

    /// The state directory is gone, or as it was: the machine may be another receiver.
    func stateWasReplaced() {
        receiverID = nil
        receiverMoved()
    }

    /// The same receiver goes on from another disk.
    func receiverMoved() {
        takenCommands = []
        consumer.forgetPositions()
    }

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
            // What came in before may be lost with the port, or be read before the end of it is seen.
            if random.chance(0.5) { process.unread?[radio] = [] }
            process.linkChanges.append((radio, false))
            return
        }
        let rest = process.partial[radio]
        process.host.received(rest.span, on: process.links[radio], at: time(now))
        process.isOpen[radio] = false
        process.discipline.linkClosed()
        process.host.linkClosed(process.links[radio], at: time(now))
        takeOutputs(now: now)
    }

    /// Serial bytes from a radio.
    func received(_ bytes: [UInt8], on radio: Int, now: Int64) {
        guard let process else { return }
        if let waiting = process.unread?[radio] {
            // It opens a port only once it goes on.
            guard !process.linkChanges.contains(where: { $0.radio == radio }) else { return }
            if waiting.count + bytes.count <= SimulatedMachine.unreadLimit { process.unread?[radio] += bytes }
            return
        }
        // Piece by piece, so that the oracle can judge each.
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0) {
            process.partial[radio] += rest[...end]
            rest = rest[(end + 1)...]
            let piece = process.partial[radio]
            process.partial[radio] = []
            received(piece: piece, on: radio, now: now)
        }
        process.partial[radio] += rest
        // What is not whole is no frame; a line keeps no more of it.
        if process.partial[radio].count > 2 * Frame.maximumByteCount { process.partial[radio].removeAll() }
        takeOutputs(now: now)
    }

    /// Bytes up to a delimiter.
    private func received(piece: [UInt8], on radio: Int, now: Int64) {
        guard let process else { return }
        var stream = StreamDecoder()
        let frame = stream.frames(in: piece).last ?? []
        guard let isGenuine = oracle.isGenuine(frame) else { return }
        let before = process.host.statistics.frames
        let cut = cutsReads && piece.count > 1 ? random.below(piece.count) : 0
        for part in [piece[..<cut], piece[cut...]] {
            let bytes = Array(part)
            process.host.received(bytes.span, on: process.links[radio], at: time(now))
        }
        guard process.host.statistics.frames > before else { return }
        process.discipline.accepts(frame, on: radio, now: now)
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

    /// The disk is done with the journal of one collar.
    func endCommit(now: Int64) {
        guard let process else { return }
        _ = process.host.commitNext(at: time(now))
        oracle.stored(self)
        takeOutputs(now: now)
        let unread = process.unread ?? []
        process.unread = nil
        let changes = process.linkChanges
        process.linkChanges = []
        for (radio, bytes) in unread.enumerated() where !bytes.isEmpty { received(bytes, on: radio, now: now) }
        for change in changes {
            if change.isOpened { linkOpened(change.radio, now: now) } else { linkClosed(change.radio, now: now) }
        }
    }

    // MARK: Outputs

    /// Takes what the process has to say.
    private func takeOutputs(now: Int64) {
        guard let process else { return }
        while let (link, frame) = process.host.nextFrame() {
            oracle.handsOut(frame, self, &process.discipline)
            guard let radio = process.links.firstIndex(of: link) else { continue }
            if !process.isOpen[radio] { oracle.report(.answerDiscipline, "host \(index) sends on a closed link") }
            frames.append((radio, frame))
        }
        var notices: [HostNotice] = []
        process.host.moveNotices(to: &notices)
        for notice in notices {
            trace?("  host \(index) says \(notice)")
            switch notice {
            case .storageFailing(_, .stopped): needsRestart = true
            // Of a file that has the name of a collar no restart makes a journal.
            case .journalUnavailable(let deviceID, _): if oracle.records.contains(where: { $0.log.deviceID == deviceID }) { needsRestart = true }
            case .commandEnded(let report):
                takenCommands.removeAll { $0.deviceID == report.deviceID && $0.requestID == report.requestID }
                oracle.ended(report, host: index)
            case .commandsFailing(let deviceID, _): unreadCommands.insert(deviceID)
            default: break
            }
        }
    }

    /// The frames that it sends, each with the radio.
    func takeFrames() -> [(radio: Int, bytes: [UInt8])] {
        defer { frames = [] }
        return frames
    }

    /// Hands over the lines that are taken now.
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

    // MARK: Commands

    /// Somebody gives a command.
    /// - Returns: its id; nil where it is not taken.
    func submit(_ request: HostRequest, to deviceID: UInt64, patience: CommandPatience, now: Int64) -> UInt16? {
        guard let process, process.unread == nil else { return nil }
        defer { takeOutputs(now: now) }
        do throws(CommandRefusal) {
            let id = try process.host.submit(request, to: deviceID, patience: patience, at: time(now)).requestID
            takenCommands.append((deviceID, id))
            return id
        } catch {
            if let reason = process.discipline.reasonAgainst(error, isRadioOpen: process.isOpen.contains(true), now: now) {
                oracle.report(.noRefusal, "host \(index) refuses a command although \(reason)")
            }
            return nil
        }
    }

    /// Commands to a collar that have not ended.
    func openCommandCount(of deviceID: UInt64) -> Int { process?.host.openCommandCount(of: deviceID) ?? 0 }

    /// The version of the settings that a collar reported last.
    func reportedSettingsVersion(of deviceID: UInt64) -> UInt64? { process?.host.reportedSettingsVersion(of: deviceID) }

    /// What may be acknowledged of a log.
    func durable(of log: LogIdentity) -> CoveredSequences {
        process?.host.durable(of: log) ?? CoveredSequences()
    }
}

extension EmittedEntry {
    fileprivate var text: String {
        let collar = String(deviceID, radix: 16)
        return switch content {
        case .fix(let record): "fix \(record.fix.sequence) of \(collar), log \(record.logID)"
        case .gap(let change): "\(change.event) \(change.range.first)…\(change.range.last) of \(collar), log \(change.logID)"
        }
    }
}
