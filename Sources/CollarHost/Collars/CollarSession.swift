import CollarARQ
import CollarJournal
import CollarWire

/// One collar as the host knows it. It stores what the collar sends, answers it and emits the entries.
final class CollarSession {
    let id: SessionID
    let storage: CollarStorage
    let feed: EntryFeed
    let requests: RequestOutbox
    /// The key of the collar; nil if the host has none. Then only frames in clear are accepted, else only sealed ones.
    var keyed: KeyedCollar? {
        didSet {
            guard oldValue !== keyed else { return }
            // A poll is answered only with the key with which it came.
            answer = nil
            for log in logs.all { log.sealedPoll = nil }
        }
    }
    /// Whether the journal knows of sealed frames, and the key is gone although no person has removed it. Then frames in clear are
    /// not accepted: a state directory that was restored without its keys must not let others pass for the collar.
    var isKeyLost = false
    /// What sealed frames said that is handed out once their numbers are durable: after a restart they would be accepted again.
    private var waiting: [(message: Message, log: LogSession)] = []
    let configuration: HostConfiguration
    let output: HostOutput
    var logs: CollarLogs
    var health: HealthMonitor
    var condition: ConditionMonitor
    private(set) var schedule: KnownSchedule
    /// The collar's last identity.
    private(set) var identity: Identity?
    /// The address that the collar used last; nil before it was heard.
    private(set) var address: UInt8?
    var links = CollarLinks()
    /// The answer to the open poll; nil if no poll is open.
    var answer: PendingAnswer?
    /// The frame with the newest poll; nil before the first.
    private var pollFrame: PollFrame?
    /// When the last answer was sent; nil before the first.
    private var answeredAt: Instant?
    private var isReportedAsElsewhere = false
    /// Answers since the last identity.
    private var answersSinceIdentity: UInt32 = 0
    /// Limits the answers while the collar sends nothing new.
    private var answers = HostLimits.idleAnswers
    /// Limits the losses that are reported one by one.
    private var reportedLosses = HostLimits.reportedLosses
    /// Whether a frame came in, or something was appended, since the last commit. It is true at first: the first commit
    /// writes what an opening on a full disk left pending, and removes old segments.
    var isCommitDue = true { didSet { if isCommitDue, !oldValue { commits.add(id) } } }
    private let commits: CommitQueue
    private(set) var fixCount = 0
    private(set) var messageCount = 0
    private(set) var duplicateCount = 0
    /// The last status in this run; nil before the first.
    private(set) var status: Status?
    /// The last power report in this run; nil before the first.
    private(set) var powerReport: PowerReport?

    var journal: Journal { storage.journal }
    var deviceID: DeviceID { journal.deviceID }

    init(
        id: SessionID, journal: Journal, configuration: HostConfiguration, requests: RequestOutbox, commits: CommitQueue,
        output: HostOutput
    ) throws(JournalError) {
        self.id = id
        self.configuration = configuration
        self.output = output
        self.requests = requests
        self.commits = commits
        storage = CollarStorage(journal, output: output)
        feed = try EntryFeed(
            journal, configuration.selection, start: configuration.emissionStart, stoppedAt: journal.emissionCursor)
        logs = CollarLogs(journal)
        health = HealthMonitor(journal)
        condition = ConditionMonitor(journal)
        schedule = KnownSchedule(journal)
        commits.add(id)
    }

    var currentLog: LogSession? { logs.current }

    /// Whether the collar says that it belongs to another receiver.
    var isPairedElsewhere: Bool {
        guard let paired = identity?.pairedReceiverID else { return false }
        return paired != 0 && paired != journal.receiverID
    }

    /// Whether requests other than the command *pair* may go to the collar. They may if its identity names this receiver. If
    /// the identity names no receiver or was not heard in this run, they may after an answer was sent to the collar: a collar
    /// without a receiver accepts the receiver that answers it as its own.
    private var isKnownAsOwn: Bool {
        switch identity?.pairedReceiverID {
        case journal.receiverID: true
        case nil, 0: answersSinceIdentity > 0
        default: false
        }
    }

    // MARK: Receiving

    /// Notes a valid frame: the collar's link and address, and its poll.
    /// - Parameter poll: how this host treats the frame's poll.
    func note(_ heard: HeardFrame, of log: LogSession, poll: HeardPoll) {
        let (header, link, time) = (heard.header, heard.link, heard.time)
        output.statistics.frames += 1
        isCommitDue = true
        let isFirst = address == nil
        address = header.address
        journal.address = header.address
        noteHearing(on: link, at: time)
        health.noteFrame(at: time.instant, output)
        log.lastHeard = time.instant
        if header.type == .liveFix { log.hasLiveFixes = true }
        pollFrame?.isComplete = true
        switch poll {
        case .none: break
        case .copy: answer?.offer(link.id, signal: heard.signal)
        case .new(let wait):
            log.delivery.receive(flags: header.flags)
            log.sealedPoll = heard.number
            pollFrame = header.type.map { PollFrame(type: $0) }
            let wait = links.areSeveral(at: time.instant) ? wait : nil
            answer = PendingAnswer(
                link: link.id, signal: heard.signal, askedAt: time.instant, holdUntil: wait.map(time.instant.advanced(byMicroseconds:)))
        }
        guard isFirst else { return }
        output.report(.collar(deviceID, .heard(logID: log.log.logID, link: link.name, isSealed: heard.number != nil)))
    }

    /// Another radio has heard a frame that was received before: the answer to it may go out there.
    func offerAnswer(at link: Link, signal: RadioSignal?, time: HostTime) {
        noteHearing(on: link, at: time)
        answer?.offer(link.id, signal: signal)
    }

    private func noteHearing(on link: Link, at time: HostTime) {
        links.noteFrame(on: link.id, at: time.instant)
        output.company.noteFrame(of: id, on: link.id, at: time.instant, heartbeatMicroseconds: health.heartbeatMicroseconds)
    }

    /// Accepts an identity. The caller then calls ``note(_:of:poll:)`` and ``learn(from:log:at:)`` with
    /// the log that is returned.
    func accept(_ identity: Identity, at time: HostTime) -> LogSession {
        let isNewLog = logs.log(id: identity.log.logID) == nil
        let added = logs.add(identity.log)
        if added.isOtherDropped { storage.report(.tooManyLogs, at: time) }
        self.identity = identity
        feed.setCurrentLog(identity.log.logID)
        if isNewLog { schedule.forgetSettings() }
        health.setHeartbeat(seconds: identity.heartbeatSeconds)
        condition.accept(identity, isNewLog: isNewLog, at: time.instant, output)
        requests.learnReceiver(of: identity, isNewLog: isNewLog, at: time)
        if isPairedElsewhere, !isReportedAsElsewhere {
            isReportedAsElsewhere = true
            output.report(.collar(deviceID, .pairedElsewhere(receiverID: identity.pairedReceiverID)))
        }
        return added.session
    }

    /// Records the receiver, the sequences and the losses that an identity names.
    func learn(from identity: Identity, log: LogSession, at time: HostTime) {
        answersSinceIdentity = 0
        log.newestNamed = max(identity.nextSequence, 1) - 1
        if identity.nextSequence > 0 { learn(of: log.newestNamed, log: log, at: time) }
        recordLosses(namedBy: identity, log: log, at: time)
        log.doubtedLosses.learn(from: identity, lost: journal.known(logID: log.log.logID).lost)
        noteFrameWithoutFix(log, at: time)
    }

    func learn(from probe: Probe, log: LogSession, at time: HostTime) {
        if probe.nextSequence > 0 { learn(of: probe.nextSequence - 1, log: log, at: time) }
        noteFrameWithoutFix(log, at: time)
    }

    private func noteFrameWithoutFix(_ log: LogSession, at time: HostTime) {
        let limits = schedule.limits(heartbeatMicroseconds: health.heartbeatMicroseconds)
        condition.noteFrameWithoutFix(log, limits, at: time.instant, output)
    }

    /// Decodes the fixes in an intact frame of the collar.
    func decoding<Fixes>(at time: HostTime, _ decode: () throws(DecodeError) -> Fixes) throws(DecodeError) -> Fixes {
        do throws(DecodeError) { return try decode() } catch {
            condition.positions.noteUndecodable(at: time.instant, output)
            throw error
        }
    }

    /// A frame shows that a log has this sequence.
    func learn(of sequence: UInt32, log: LogSession, at time: HostTime) {
        let highest = log.delivery.highestSequence
        if sequence > highest, sequence - highest > HostLimits.sequenceJump,
            highest > 0 || journal.known(logID: log.log.logID).highest != nil
        {
            storage.report(.sequenceJump(from: highest, to: sequence), at: time)
        }
        log.delivery.learn(of: sequence)
    }

    /// Accepts a message that is neither a fix nor a loss.
    func accept(_ message: Message, log: LogSession, at time: HostTime) {
        if keyed == nil { handOut(message, log: log, at: time) } else { waiting.append((message, log)) }
        noteFrameWithoutFix(log, at: time)
    }

    private func handOut(_ message: Message, log: LogSession, at time: HostTime) {
        switch message {
        case .status(let status):
            self.status = status
            if schedule.accept(status) { health.follow(schedule) }
            output.report(.collar(deviceID, .status(logID: log.log.logID, status)))
            condition.accept(status, at: time.instant, output)
        case .powerReport(let report):
            powerReport = report
            if schedule.accept(report, at: time.instant) { health.follow(schedule) }
            output.report(.collar(deviceID, .power(logID: log.log.logID, report)))
        case .commandResult(let result): requests.accept(result, logID: log.log.logID, at: time)
        case .settings(let report) where report.direction == .report:
            if schedule.accept(report) { health.follow(schedule) }
            requests.accept(report, at: time)
        default: break
        }
    }

    // MARK: Storing

    /// Appends a fix, which is emitted as an entry.
    func store(_ fix: Fix, log: LogSession, signal: RadioSignal?, at time: HostTime) {
        let record = JournaledFix(logID: log.log.logID, receivedUnixMilliseconds: time.unixMilliseconds, signal: signal, fix: fix)
        switch storage.append(record, at: time) {
        case .refused: return
        case .duplicate:
            noteRepeated()
            let recent = log.recentFixes.fix(fix.sequence)
            if storage.isChanged(fix, logID: record.logID, recent: recent, at: time) {
                storage.report(.otherContent(sequence: fix.sequence), at: time)
            }
            return
        case .appended: break
        }
        if fix.sequence >= log.highestFix, log === logs.current {
            schedule.noteFix()
            condition.noteStored(fix, logID: record.logID, at: time.instant, output)
            output.latencies.noteNewest(fixMadeAt: fix.unixMilliseconds, at: time)
        } else {
            condition.positions.noteBacklog(at: time.instant)
        }
        output.statistics.fixes += 1
        fixCount += 1
        logs.keepAnchor(fix, of: log)
        noteAppended(fix.sequence, isFix: true, log: log, at: time)
        if feed.isDirect, configuration.selection.hasFixes,
            output.freshEntries.add(record, of: id, through: journal.end, at: time.instant)
        {
            feed.wentOut(upTo: journal.end)
        } else {
            feed.noteChange()
        }
    }

    /// Appends a message, which is emitted as an entry. Its sequence counts as that of a fix.
    func store(_ message: CollarMessage, log: LogSession, signal: RadioSignal?, at time: HostTime) {
        let record = JournaledMessage(
            logID: log.log.logID, receivedUnixMilliseconds: time.unixMilliseconds, signal: signal, message: message)
        switch storage.append(record, at: time) {
        case .refused: return
        case .duplicate: noteRepeated()
        case .appended:
            noteAppended(message.sequence, isFix: false, log: log, at: time)
            output.statistics.messages += 1
            messageCount += 1
            feed.noteChange()
            if log === logs.current { condition.positions.noteMessage() }
            if message.sequence < log.highestStored { condition.positions.noteBacklog(at: time.instant) }
        }
        noteFrameWithoutFix(log, at: time)
    }

    /// A fix or message came in that was stored before.
    private func noteRepeated() {
        output.statistics.duplicates += 1
        duplicateCount += 1
        pollFrame?.noteRepeated()
    }

    private func noteAppended(_ sequence: UInt32, isFix: Bool, log: LogSession, at time: HostTime) {
        noteAppended()
        log.noteStored(sequence, isFix: isFix)
        pollFrame?.noteNew(isNewest: sequence == log.highestFix)
        if !log.doubtedLosses.isEmpty { log.doubtedLosses.settle(SequenceRange(sequence)) }
        learn(of: sequence, log: log, at: time)
    }

    /// Stores the part of a lost range that is not above the highest sequence that the collar has shown. A stored loss above
    /// that sequence would acknowledge fixes that the collar has not made yet.
    /// - Returns: false if part of the range lies above that sequence.
    @discardableResult
    func recordLoss(of range: SequenceRange, reason: LossReason, log: LogSession, at time: HostTime) -> Bool {
        let highest = log.delivery.highestSequence
        guard let shown = SequenceRange(range.first, min(range.last, highest)) else { return false }
        let loss = JournaledLoss(
            logID: log.log.logID, range: shown, reason: reason, receivedUnixMilliseconds: time.unixMilliseconds)
        if storage.append(loss, at: time) == .appended {
            noteAppended()
            feed.noteChange()
            reportLoss(of: shown, reason: reason, at: time)
        }
        log.doubtedLosses.settle(shown)
        return shown == range
    }

    /// Stores that the missing fixes below a log's oldest sequence will never come. A former receiver of the collar
    /// acknowledged those below ``Identity/deliveredElsewhere``; the rest is lost.
    private func recordLosses(namedBy identity: Identity, log: LogSession, at time: HostTime) {
        let first = journal.firstMissing(logID: identity.log.logID)
        let end = identity.oldestSequence
        let endElsewhere = min(max(first, identity.deliveredElsewhere), end)
        if first < endElsewhere, let elsewhere = SequenceRange(first, endElsewhere - 1) {
            recordLoss(of: elsewhere, reason: .deliveredElsewhere, log: log, at: time)
        }
        let firstLost = max(first, endElsewhere)
        if firstLost < end, let lost = SequenceRange(firstLost, end - 1) {
            recordLoss(of: lost, reason: .overwritten, log: log, at: time)
        }
    }

    private func noteAppended() {
        answers.earn(HostLimits.answersPerRecord)
        isCommitDue = true
    }

    /// Reports that fixes will never come, unless the collar has named too many losses.
    private func reportLoss(of range: SequenceRange, reason: LossReason, at time: HostTime) {
        guard reportedLosses.take(at: time.instant) else { return storage.report(.tooManyLosses, at: time) }
        if reason.isElsewhere {
            output.report(.collar(deviceID, .deliveredElsewhere(first: range.first, last: range.last)))
        } else {
            output.report(.collar(deviceID, .lost(first: range.first, last: range.last)))
        }
    }

    // MARK: Committing and answering

    /// The emission cursor moved: the next commit writes it.
    func noteEmitted(through position: JournalPosition) {
        // An entry that is emitted again does not move the cursor.
        if storage.noteEmitted(through: position) { isCommitDue = true }
    }

    /// Reading entries back met damage.
    func note(_ damage: [DamageReport]) {
        guard !damage.isEmpty else { return }
        storage.note(damage)
        isCommitDue = true
    }

    /// Makes everything durable, then answers the open polls.
    func commit(at time: HostTime) {
        isCommitDue = false
        if let progress = keyed?.progress { journal.sealedProgress = progress }
        let isStored = storage.commit()
        if isStored {
            for (message, log) in waiting { handOut(message, log: log, at: time) }
            waiting = []
            sendAnswer(at: time)
            recordLossesBelowOldest(at: time)
        }
        guard isStored || journal.isAtByteLimit, let retention = configuration.retention else { return }
        storage.removeOldSegments(retention, hasCursor: configuration.hasConsumer, at: time)
    }

    /// Damage may have taken fixes that the collar does not have any more, as its last identity told: they will not come again. A
    /// collar of another receiver would never be asked for them.
    private func recordLossesBelowOldest(at time: HostTime) {
        guard let identity, let log = currentLog, log.log == identity.log,
            journal.firstMissing(logID: log.log.logID) < identity.oldestSequence
        else { return }
        recordLosses(namedBy: identity, log: log, at: time)
    }

    /// Answers the collar's open polls with what is durable now.
    private func sendAnswer(at time: HostTime) {
        guard let pending = answer, pending.holdUntil == nil, let address else { return }
        answer = nil
        let sendsLiveFixes = currentLog?.hasLiveFixes ?? false
        if let hasHeard = pollFrame?.showsAnswer(
            sentAt: answeredAt, heartbeat: health.heartbeatMicroseconds, sendsLiveFixes: sendsLiveFixes, at: time.instant)
        {
            links.noteNextPoll(hasHeard: hasHeard)
        }
        guard let link = links.link(for: pending, at: time.instant) else { return }
        // Two receivers that answer would send at the same time, and the collar listens only to its own receiver.
        let isListening = isPairedElsewhere
        for session in logs.all {
            let durable = journal.durable(logID: session.log.logID)
            guard var answer = takeAnswer(of: session, from: durable), !isListening || requests.isPairingWanted else { continue }
            // The collar repeats an unanswered poll, so no sound collar is harmed.
            guard answers.take(at: time.instant) else {
                storage.report(.tooManyPolls, at: time)
                continue
            }
            var seal: SealedAnswer?
            if let keyed {
                // A poll in clear, from before the key was added, is not answered.
                guard let poll = session.sealedPoll else { continue }
                seal = SealedAnswer(keys: keyed.keys, log: session.log, receiverID: journal.receiverID, poll: poll)
            }
            requests.sendWindow(
                on: link, address: address, log: session.log, isForeign: !isKnownAsOwn, sealing: seal,
                into: &output.frames)
            guard !isListening else { continue }
            answersSinceIdentity &+= 1
            answer.company = output.company.company(on: link, at: time.instant)
            output.latencies.noteAnswer(toPollAt: pending.askedAt)
            links.noteAnswer(on: link)
            answeredAt = time.instant
            output.frames.add(for: link, sealing: seal) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try answer.encode(address: address, log: session.log, into: &output)
            }
        }
    }
}
