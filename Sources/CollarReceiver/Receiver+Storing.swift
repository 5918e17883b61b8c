import CollarARQ
import CollarJournal
import CollarWire

extension Receiver {
    /// Appends a fix to its journal and queues its line.
    func store(_ fix: Fix, collar index: Int, log: Int, signal: JournaledSignal?) {
        let collar = collars[index]
        let record = JournaledFix(
            logID: collar.deliveries[log].log.logID, receivedUnixMilliseconds: WallClock.unixMilliseconds,
            signal: signal, fix: fix)
        guard let isNew = append(to: collar, { () throws(JournalError) in try collar.journal.append(record) }) else {
            return
        }
        guard isNew else {
            receivedAgain(fix, collar: collar, logID: record.logID)
            return
        }
        statistics.fixes += 1
        collar.fixCount += 1
        collar.keepAnchor(fix, logID: record.logID)
        learned(of: fix.sequence, collar: collar, log: log)
        guard collar.feed.isDirect, configuration.writesFixes, output.hasRoom, !isOutputBlocked, !isLineLimitReached
        else {
            collar.feed.isBehind = true
            return
        }
        queue(record, ofCollar: index, through: collar.journal.end)
        collar.feed.wentOut()
    }

    /// Stores that what is missing below a collar's oldest sequence will never come: a former receiver of the collar has
    /// acknowledged the first part, the rest is lost.
    func recordLosses(namedBy identity: Identity, collar index: Int, log: Int) {
        let first = collars[index].journal.firstMissing(logID: identity.log.logID)
        let end = identity.oldestSequence
        let endElsewhere = min(max(first, identity.deliveredElsewhere), end)
        if first < endElsewhere, let elsewhere = SequenceRange(first, endElsewhere - 1) {
            recordLoss(of: elsewhere, reason: .deliveredElsewhere, collar: index, log: log)
        }
        let firstLost = max(first, endElsewhere)
        if firstLost < end, let lost = SequenceRange(firstLost, end - 1) {
            recordLoss(of: lost, reason: .overwritten, collar: index, log: log)
        }
    }

    /// Stores that a range will never come.
    func recordLoss(of range: SequenceRange, reason: LossReason, collar index: Int, log: Int) {
        let collar = collars[index]
        learned(of: range.last, collar: collar, log: log)
        let loss = JournaledLoss(
            logID: collar.deliveries[log].log.logID, range: range, reason: reason,
            receivedUnixMilliseconds: WallClock.unixMilliseconds)
        if append(to: collar, { () throws(JournalError) in try collar.journal.append(loss) }) == true {
            collar.feed.isBehind = true
            reportLoss(of: range, reason: reason, collar: collar)
        }
    }

    /// Appends a record.
    /// - Returns: whether it was new; nil where it could not be stored.
    private func append(to collar: CollarSession, _ body: () throws(JournalError) -> Bool) -> Bool? {
        do throws(JournalError) {
            let isNew: Bool
            do throws(JournalError) { isNew = try body() } catch {
                // Small frames may hold many fixes: more than wait in memory may arrive at once.
                guard error == .pendingLimitReached else { throw error }
                try collar.journal.commit()
                isNew = try body()
            }
            if isNew {
                collar.answers.earn(ReceiverLimits.answersPerRecord)
                collar.hasNewRecords = true
            }
            return isNew
        } catch {
            if error == .trackingLimitReached { report(.tooManyGaps, of: collar) } else { reportFailing(error, of: collar) }
            return nil
        }
    }

    /// Whether the journal of some collar does not store.
    var isStorageFailing: Bool { collars.contains(where: \.isStorageFailing) }

    /// Says that a collar's journal does not store, unless that is known.
    func reportFailing(_ error: JournalError, of collar: CollarSession) {
        guard !collar.isStorageFailing else { return }
        collar.isStorageFailing = true
        // What has failed for good wants a restart, whatever the system said.
        if case .failed(let failure) = collar.journal.state {
            report(.storageFailing(deviceID: collar.deviceID, .stopped(after: failure)))
        } else {
            report(.storageFailing(deviceID: collar.deviceID, error))
        }
    }

    /// Says that a collar's journal stores again, where it did not.
    func noteStored(_ collar: CollarSession) {
        guard collar.isStorageFailing else { return }
        collar.isStorageFailing = false
        report(.storageRecovered(deviceID: collar.deviceID))
    }

    /// Answers the collar's open asks with what is durable now.
    func answer(_ collar: CollarSession) {
        guard let port = collar.answerPort, let address = collar.address else { return }
        collar.answerPort = nil
        // Two receivers that answer would talk at the same time; the collar listens to its own alone.
        let isListening = collar.isPairedElsewhere(than: receiverID)
        for index in collar.deliveries.indices {
            let log = collar.deliveries[index].log
            let durable = collar.journal.durable(logID: log.logID)
            guard let answer = collar.deliveries[index].takeAnswer(from: durable), isSpokenTo(collar) else {
                continue
            }
            // An ask that is not answered is asked again: no sound collar is harmed.
            guard collar.answers.take(at: now) else {
                report(.tooManyAsks, of: collar)
                continue
            }
            sendRequests(to: collar, log: log, address: address, onPort: port)
            guard !isListening else { continue }
            collar.answersSinceIdentity &+= 1
            send(onPort: port) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try answer.encode(address: address, log: log, into: &output)
            }
        }
    }
}
