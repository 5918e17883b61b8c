import CollarARQ
import CollarJournal
import CollarWire

/// One collar as the host knows it: what it sent is stored, answered and emitted from here.
final class CollarSession {
    let id: SessionID
    let storage: CollarStorage
    let feed: EntryFeed
    let commands: CommandOutbox
    private let configuration: HostConfiguration
    private let output: HostOutput
    private var logs: CollarLogs
    private var health: HealthMonitor
    /// The collar's last word about itself.
    private var identity: Identity?
    /// Address the collar used last; nil before it was heard.
    private var address: UInt8?
    /// The link heard last; nil before the collar was heard.
    private var link: LinkID?
    /// The answer that the open ask waits for; nil where none does.
    private var answer: PendingAnswer?
    /// How strongly each link received the collar last, in dBm, where the radio tells it.
    private var strengths: [LinkID: Int16] = [:]
    private var isReportedAsElsewhere = false
    /// Answers since the last identity.
    private var answersSinceIdentity: UInt32 = 0
    /// Limits the answers.
    private var answers = HostLimits.idleAnswers
    /// Limits the losses that are reported one by one.
    private var reportedLosses = HostLimits.reportedLosses
    /// Whether a frame came in, or something was appended, since the last commit. The first commit brings in what an opening on a
    /// full disk left, and removes old segments.
    private(set) var isCommitDue = true
    /// Whether something was appended since the last commit.
    private(set) var hasNewRecords = false
    private var fixCount = 0
    private var duplicateCount = 0

    var journal: Journal { storage.journal }
    var deviceID: UInt64 { journal.deviceID }

    init(
        id: SessionID, journal: Journal, configuration: HostConfiguration, commands: CommandOutbox, output: HostOutput
    ) throws(JournalError) {
        self.id = id
        self.configuration = configuration
        self.output = output
        self.commands = commands
        storage = CollarStorage(journal, output: output)
        feed = try EntryFeed(journal, configuration)
        logs = CollarLogs(journal)
        health = HealthMonitor(deviceID: journal.deviceID)
    }

    // MARK: Whose frame

    func sender(of frame: Span<UInt8>, at now: Instant) -> (log: LogSession, reference: UInt32)? {
        logs.sender(of: frame, at: now)
    }

    func liveFix(of frame: Span<UInt8>, header: FrameHeader, at now: Instant) -> (fix: Fix, log: LogSession)? {
        logs.liveFix(of: frame, header: header, at: now)
    }

    func log(tag: UInt32) -> LogSession? { logs.log(tag: tag) }

    var currentLog: LogSession? { logs.current }

    /// Logs kept at hand.
    var logCount: Int { logs.all.count }

    /// Whether the collar says that it belongs to another receiver.
    var isPairedElsewhere: Bool {
        guard let paired = identity?.pairedReceiverID else { return false }
        return paired != 0 && paired != journal.receiverID
    }

    /// Whether commands but *pair* may go to the collar: its identity names this receiver; or names none or has not been heard
    /// on this run, and the collar has had an answer, upon which a collar without a receiver takes this one.
    private var isKnownAsOwn: Bool {
        switch identity?.pairedReceiverID {
        case journal.receiverID: true
        case nil, 0: answersSinceIdentity > 0
        default: false
        }
    }

    // MARK: Receiving

    /// Notes a valid frame: where the collar is, and whether it wants an answer.
    /// - Parameter ask: what the frame's ask is to this host.
    func heard(
        _ log: LogSession, header: FrameHeader, ask: HeardAsk, signal: RadioSignal?, on link: Link, at time: HostTime
    ) {
        output.statistics.frames += 1
        isCommitDue = true
        let isFirst = address == nil
        address = header.address
        self.link = link.id
        health.heard(at: time.instant, output)
        log.lastHeard = time.instant
        if let strength = signal?.strengthDBm { strengths[link.id] = strength }
        switch ask {
        case .none: break
        case .copy: answer?.offer(link.id, strengths)
        case .new(let wait):
            log.delivery.received(flags: header.flags)
            answer = PendingAnswer(link: link.id, holdUntil: wait.map(time.instant.advanced(byMicroseconds:)))
        }
        if isFirst { output.report(.collar(deviceID: deviceID, logID: log.log.logID, link: link.name)) }
    }

    /// The collar said who it is. ``heard(_:header:on:at:)`` follows for the log that is returned, and then
    /// ``learned(from:at:)``; nil where nothing more of the log is stored.
    func introduced(_ identity: Identity, at time: HostTime) -> LogSession? {
        guard !journal.isClosed(logID: identity.log.logID) else {
            storage.report(.tooManyGaps, at: time)
            return nil
        }
        let added = logs.add(identity.log)
        if added.isOtherDropped { storage.report(.tooManyLogs, at: time) }
        self.identity = identity
        feed.setCurrentLog(identity.log.logID)
        health.setHeartbeat(seconds: identity.heartbeatSeconds)
        if isPairedElsewhere, !isReportedAsElsewhere {
            isReportedAsElsewhere = true
            output.report(.pairedElsewhere(deviceID: deviceID, receiverID: identity.pairedReceiverID))
        }
        return added.session
    }

    /// Takes in what an identity tells beside the collar's name.
    func learned(from identity: Identity, log: LogSession, at time: HostTime) {
        answersSinceIdentity = 0
        commands.learnedReceiver(identity.pairedReceiverID)
        log.newestNamed = max(identity.nextSequence, 1) - 1
        if identity.nextSequence > 0 { learned(of: log.newestNamed, log: log, at: time) }
        recordLosses(namedBy: identity, log: log, at: time)
        log.doubtedLosses.learned(from: identity, lost: journal.lost(logID: log.log.logID))
    }

    /// A frame tells that a log has this sequence.
    func learned(of sequence: UInt32, log: LogSession, at time: HostTime) {
        let highest = log.delivery.highestSequence
        if sequence > highest, sequence - highest > HostLimits.sequenceJump,
            highest > 0 || journal.highestSequence(logID: log.log.logID) != nil
        {
            storage.report(.sequenceJump(from: highest, to: sequence), at: time)
        }
        log.delivery.learned(of: sequence)
    }

    /// Takes in a message that is neither a fix nor a loss.
    func received(_ message: Message, log: LogSession) {
        switch message {
        case .status(let status): output.report(.status(deviceID: deviceID, logID: log.log.logID, status))
        case .commandResult(let result): commands.received(result)
        case .settings(let report) where report.direction == .report: commands.received(report)
        default: break
        }
    }

    // MARK: Storing

    /// Appends a fix, which goes out as an entry.
    func store(_ fix: Fix, log: LogSession, signal: RadioSignal?, at time: HostTime) {
        let record = JournaledFix(
            logID: log.log.logID, receivedUnixMilliseconds: time.unixMilliseconds, signal: signal, fix: fix)
        switch storage.append(record, at: time) {
        case .refused: return
        case .duplicate:
            output.statistics.duplicates += 1
            duplicateCount += 1
            let recent = logs.recentFix(fix.sequence, logID: record.logID)
            if storage.isChanged(fix, logID: record.logID, recent: recent, at: time) {
                storage.report(.otherContent(sequence: fix.sequence), at: time)
            }
            return
        case .appended: break
        }
        noteAppended()
        log.stored(fix.sequence)
        output.statistics.fixes += 1
        fixCount += 1
        logs.keepAnchor(fix, logID: record.logID)
        if !log.doubtedLosses.isEmpty { log.doubtedLosses.settle(SequenceRange(fix.sequence)) }
        learned(of: fix.sequence, log: log, at: time)
        if feed.isDirect, configuration.emitsFixes,
            output.freshEntries.add(record, of: id, through: journal.end)
        {
            feed.wentOut()
        } else {
            feed.isBehind = true
        }
    }

    /// Stores that a range will never come, as far as the collar has shown that it made fixes up to there: to cover what is
    /// still to be made would acknowledge it.
    /// - Returns: false if part of the range lies above that.
    @discardableResult
    func recordLoss(of range: SequenceRange, reason: LossReason, log: LogSession, at time: HostTime) -> Bool {
        let highest = log.delivery.highestSequence
        guard let shown = SequenceRange(range.first, min(range.last, highest)) else { return false }
        record(lossOf: shown, reason: reason, log: log, at: time)
        log.doubtedLosses.settle(shown)
        return shown == range
    }

    private func record(lossOf range: SequenceRange, reason: LossReason, log: LogSession, at time: HostTime) {
        let loss = JournaledLoss(
            logID: log.log.logID, range: range, reason: reason, receivedUnixMilliseconds: time.unixMilliseconds)
        guard storage.append(loss, at: time) == .appended else { return }
        noteAppended()
        feed.isBehind = true
        reportLoss(of: range, reason: reason, at: time)
    }

    /// Stores that what is missing below a collar's oldest sequence will never come: a former receiver of the collar has
    /// acknowledged the first part, the rest is lost.
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
        hasNewRecords = true
    }

    /// Reports that fixes will never come, while the collar does not tell of too many such losses.
    private func reportLoss(of range: SequenceRange, reason: LossReason, at time: HostTime) {
        guard reportedLosses.take(at: time.instant) else {
            storage.report(.tooManyLosses, at: time)
            return
        }
        if reason.isElsewhere {
            output.report(.deliveredElsewhere(deviceID: deviceID, first: range.first, last: range.last))
        } else {
            output.report(.lost(deviceID: deviceID, first: range.first, last: range.last))
        }
    }

    // MARK: Committing and answering

    /// The emission cursor moved: the next commit keeps it.
    func emitted(through position: JournalPosition) {
        // What is emitted again moves nothing.
        guard position > journal.emissionCursor else { return }
        journal.setEmissionCursor(position)
        isCommitDue = true
    }

    /// Reading entries back met damage.
    func note(_ damage: [DamageReport]) {
        guard !damage.isEmpty else { return }
        storage.note(damage)
        isCommitDue = true
    }

    /// Makes everything durable, then answers the open asks.
    func commit(at time: HostTime) {
        isCommitDue = false
        hasNewRecords = false
        let isStored = storage.commit()
        if isStored { sendAnswer(at: time) }
        guard isStored || journal.isAtByteLimit, let days = configuration.keepsDays else { return }
        storage.removeOldSegments(keepingDays: days, at: time)
    }

    /// Answers the collar's open asks with what is durable now.
    private func sendAnswer(at time: HostTime) {
        guard let link = answer?.link, answer?.holdUntil == nil, let address else { return }
        answer = nil
        // Two receivers that answer would talk at the same time; the collar listens to its own alone.
        let isListening = isPairedElsewhere
        for session in logs.all {
            guard !journal.isClosed(logID: session.log.logID) else { continue }
            let durable = journal.durable(logID: session.log.logID)
            guard let answer = takeAnswer(of: session, from: durable), !isListening || commands.isPairingWanted else { continue }
            // The collar repeats an ask that is not answered: no sound collar is harmed.
            guard answers.take(at: time.instant) else {
                storage.report(.tooManyAsks, at: time)
                continue
            }
            commands.sendWindow(
                on: link, address: address, log: session.log, isForeign: !isKnownAsOwn, into: &output.frames)
            guard !isListening else { continue }
            answersSinceIdentity &+= 1
            output.frames.add(for: link) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try answer.encode(address: address, log: session.log, into: &output)
            }
        }
    }

    private func takeAnswer(of session: LogSession, from durable: CoveredSequences) -> Acknowledgement? {
        // What damage took is asked for first: the collar may count it as delivered, and overwrite it.
        guard !session.doubtedLosses.isEmpty, session.delivery.isAnswerWanted, durable.oldestLostRange(from: 0) == nil else {
            return session.delivery.takeAnswer(from: durable)
        }
        return session.delivery.takeAnswer(from: session.doubtedLosses.takeCoverage(of: durable))
    }

    // MARK: Links and deadlines

    /// The link went away: a collar that was heard there last cannot be heard.
    func linkClosed(_ closed: LinkID) {
        if answer?.link == closed { answer = nil }
        strengths[closed] = nil
        if link == closed { health.suspend() }
    }

    /// A link is open again, and everybody there is asked who they are.
    func linkOpened(_ opened: LinkID, at now: Instant) {
        if link == opened { health.resume(at: now) }
    }

    /// Whether the collar was heard within its heartbeats on a link that is open.
    var isInContact: Bool { health.isInContact }

    /// When something is due: an answer, a missed heartbeat, the end of a command, another try to read the journal.
    var nextDeadline: Instant? {
        [answer?.holdUntil, health.nextDeadline, commands.nextDeadline, feed.nextDeadline].compactMap { $0 }.min()
    }

    /// Does what is due.
    func deadlineReached(at time: HostTime) {
        if let due = answer?.holdUntil, time.instant >= due {
            answer?.holdUntil = nil
            isCommitDue = true
        }
        health.advance(to: time.instant, output)
        commands.expire(at: time.instant)
        feed.deadlineReached(at: time.instant)
    }

    // MARK: Readings

    /// What is known of the collar now.
    func reading(at time: HostTime) -> CollarReading {
        var reading = CollarReading(
            deviceID: deviceID, fixCount: fixCount, duplicateCount: duplicateCount, missingCount: 0,
            journalByteCount: byteCount(from: .start), lag: lag(at: time))
        guard let delivery = currentLog?.delivery else { return reading }
        reading.logID = delivery.log.logID
        let durable = journal.durable(logID: delivery.log.logID)
        guard durable.count > 0 || delivery.highestSequence > 0 else { return reading }
        let highest = max(delivery.highestSequence, durable.highest ?? 0)
        reading.highestSequence = highest
        reading.missingCount = UInt64(highest) + 1 - durable.count
        return reading
    }

    private func byteCount(from position: JournalPosition) -> Int? {
        do throws(JournalError) { return try journal.byteCount(from: position) } catch { return nil }
    }

    private func lag(at time: HostTime) -> EmissionLag? {
        guard configuration.emitsFixes else { return nil }
        // After the last entry that was emitted there may be records that make none.
        if feed.isEverythingEmitted { return EmissionLag() }
        let cursor = journal.emissionCursor
        do throws(JournalError) {
            let next = try journal.entries(from: cursor, limit: 1).elements.first
            guard let received = next?.entry.receivedUnixMilliseconds else { return EmissionLag() }
            return EmissionLag(
                byteCount: try journal.byteCount(from: cursor), milliseconds: max(0, time.unixMilliseconds - received))
        } catch { return nil }
    }
}

extension JournalEntry {
    /// When the host received it, in milliseconds since 1970; nil for what was not received.
    fileprivate var receivedUnixMilliseconds: Int64? {
        switch self {
        case .fix(let fix): fix.receivedUnixMilliseconds
        case .loss(let loss): loss.receivedUnixMilliseconds
        case .uncovered: nil
        }
    }
}
