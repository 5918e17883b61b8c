import CollarARQ
import CollarFirmware
import CollarHost
import CollarJournal
import CollarWire

extension Oracle {
    /// A collar hands out a frame for the air.
    func handsOut(_ sealedFrame: [UInt8], _ collar: SimulatedCollar) {
        guard let record = current[collar.index] else { return }
        if plan.isSealed, let wrong = sealed.handsOut(sealedFrame, record, newest: collar.nextSequence &- 1) {
            report(.sealIsKept, "collar \(collar.index): \(wrong)")
        }
        let frame = clearForm(of: sealedFrame)
        if sealedFrame.count > plan.maximumFrameByteCount {
            report(.frameFits, "\(sealedFrame.count) bytes from collar \(collar.index)")
        }
        let isOutOfContact = disciplines[collar.index].isOutOfContact
        let poll = frame.count > 1 ? frame[1] & 7 : 0
        if let wrong = disciplines[collar.index].handsOut(poll: poll == 0 ? nil : poll, now: now) {
            report(.retransmissionDiscipline, "collar \(collar.index): \(wrong)")
        }
        let newest = collar.nextSequence &- 1
        do throws(DecodeError) {
            if frame[0] & 0x1F == MessageType.liveFix.rawValue {
                try checkLive(frame, collar, record, isOutOfContact: isOutOfContact)
                return
            }
            let message = try Message.decode(frame.span, log: record.log, reference: newest)
            switch message {
            case .batch(let batch):
                batch.forEach { fix in
                    if !record.permits(fix) { report(.logBeforeAir, "fix \(fix.sequence) is sent as it was not logged") }
                }
                if isOutOfContact { checkNewest(batch, byteCount: sealedFrame.count, collar, record) }
            case .fix(let fix): checkSingle(.fix(fix), fix.sequence, newest: newest, record, isOutOfContact: isOutOfContact)
            case .collarMessage(let message):
                checkSingle(.message(message.content), message.sequence, newest: newest, record, isOutOfContact: isOutOfContact)
            case .tombstone(let tombstone):
                let flags = FrameFlags(rawValue: frame[1])
                check(tombstone, isDeliveredElsewhere: flags.isDeliveredElsewhere, collar, record)
            case .commandResult(let result): check(result, collar, record)
            case .settings(let settings): check(settings, collar, record)
            case .status(let status):
                // No block that holds settings decays in a world.
                if status.lastError == .settingsLost {
                    report(.resultIsTrue, "collar \(collar.index) says that it lost its settings")
                }
            case .identity(let identity):
                if identity.log != record.log || identity.nextSequence != collar.nextSequence {
                    report(.logBeforeAir, "the identity is not the collar's")
                }
                checkElsewhere(identity, record)
            default: break
            }
        } catch { report(.logBeforeAir, "collar \(collar.index) sends a frame that does not decode: \(error)") }
    }

    /// Checks an entry in a frame of its own.
    private func checkSingle(
        _ entry: LogEntry, _ sequence: UInt32, newest: UInt32, _ record: LogRecord, isOutOfContact: Bool
    ) {
        if !record.permits(entry, at: sequence) { report(.logBeforeAir, "\(sequence) is sent as it was not logged") }
        if isOutOfContact, sequence != newest {
            report(.retransmissionDiscipline, "out of contact \(sequence) is sent, the newest is \(newest)")
        }
    }

    /// After an unanswered poll, if at most 16 fixes are missing, a small batch may hold the two or three newest of these.
    private func checkNewest(_ batch: Batch, byteCount: Int, _ collar: SimulatedCollar, _ record: LogRecord) {
        var sequences: Set<UInt32> = []
        batch.forEach { sequences.insert($0.sequence) }
        let next = collar.nextSequence
        let untold = record.seen(0..<next).filter { !record.wasTold($0, by: collar.pairedReceiverID) }
        guard let first = sequences.min(), (2...3).contains(sequences.count), sequences.contains(next &- 1),
            byteCount <= Frame.minimumLimitByteCount, untold.count <= 16,
            untold.allSatisfy({ $0 < first || sequences.contains($0) })
        else {
            return report(
                .retransmissionDiscipline,
                "out of contact a batch of \(sequences.sorted()) in \(byteCount) bytes is sent, missing is \(untold)")
        }
    }

    /// Checks that a live fix is the newest fix, and that the collar's receiver has acknowledged its anchor.
    private func checkLive(
        _ frame: [UInt8], _ collar: SimulatedCollar, _ record: LogRecord, isOutOfContact: Bool
    ) throws(DecodeError) {
        let newest = collar.nextSequence &- 1
        let named = LiveFix.sequences(of: frame.span, header: try FrameHeader(frame.span), reference: newest)
        guard let named, named.sequence == newest, let anchor = record.possibleFix(named.anchor) else {
            return report(.logBeforeAir, "a live fix names no anchor that was logged")
        }
        if !record.wasTold(named.anchor, by: collar.pairedReceiverID) {
            report(.logBeforeAir, "the anchor \(named.anchor) of a live fix was never acknowledged")
        }
        let fix = try LiveFix.decode(frame.span, sequence: named.sequence, anchor: anchor, log: record.log)
        if !record.permits(fix) { report(.logBeforeAir, "fix \(fix.sequence) is sent live as it was not logged") }
        if isOutOfContact { report(.retransmissionDiscipline, "out of contact a live fix is sent") }
    }

    /// Checks that some receiver acknowledged to the collar what its identity reports as delivered elsewhere.
    private func checkElsewhere(_ identity: Identity, _ record: LogRecord) {
        for sequence in record.seen(0..<min(identity.deliveredElsewhere, identity.oldestSequence))
        where !record.wasToldByAnybody(sequence) {
            return report(.lossHasACause, "an identity says that somebody has \(sequence)")
        }
    }

    private func check(
        _ tombstone: Tombstone, isDeliveredElsewhere: Bool, _ collar: SimulatedCollar, _ record: LogRecord
    ) {
        for range in tombstone.ranges.closedRanges {
            guard range.upperBound < collar.nextSequence else {
                return report(.lossHasACause, "a tombstone of \(range.upperBound), which was never given out")
            }
            let range = record.seen(Range(range))
            for sequence in range where !record.mayBeLost(sequence) {
                return report(.lossHasACause, "a tombstone of \(sequence), which collar \(collar.index) has")
            }
            guard isDeliveredElsewhere else { continue }
            for sequence in range where !record.wasToldByAnybody(sequence) {
                return report(.lossHasACause, "a tombstone says that somebody has \(sequence)")
            }
        }
    }

    /// A frame that was really sent reaches a collar.
    func reaches(_ sealedFrame: [UInt8], _ collar: SimulatedCollar) {
        let frame = clearForm(of: sealedFrame)
        guard collar.isRunning, let record = current[collar.index], frame.count > 3,
            frame[2] == collar.address || frame[2] == Frame.broadcastAddress
        else { return }
        do throws(DecodeError) {
            switch try Message.decode(frame.span, log: record.log, reference: 0) {
            case .acknowledgement(let acknowledgement): reaches(acknowledgement, collar, record)
            // A collar with a key keeps its poll open.
            case .identityRequest: if !plan.isSealed { disciplines[collar.index].giveUp() }
            default: break
            }
        } catch {
            // The frame is for another collar, or comes from one.
        }
    }

    private func reaches(_ answer: Acknowledgement, _ collar: SimulatedCollar, _ record: LogRecord) {
        guard collar.pairedReceiverID == 0 || collar.pairedReceiverID == answer.receiverID else { return }
        let next = collar.nextSequence
        guard answer.firstMissing <= next, answer.durable.count == 0 || answer.durable[0].last < next else { return }
        for sequence in record.seen(0..<answer.firstMissing) { record.tell(sequence, by: answer.receiverID) }
        for sequence in answer.durable.closedRanges.joined() { record.tell(sequence, by: answer.receiverID) }
        if let poll = answer.poll { disciplines[collar.index].answered(poll.rawValue) }
    }

    /// A host hands out a frame.
    /// - Returns: the collar that the frame answers; nil if it is no acknowledgement, or that of an invented collar.
    @discardableResult
    func handsOut(_ sealedFrame: [UInt8], _ host: SimulatedMachine, _ discipline: inout AnswerDiscipline) -> DeviceID? {
        if plan.isSealed, let wrong = sealed.handsOut(sealedFrame, receiverID: host.receiverID ?? 0, by: host.index) {
            report(.sealIsKept, "host \(host.index): \(wrong)")
        }
        let frame = clearForm(of: sealedFrame)
        if sealedFrame.count > plan.maximumFrameByteCount {
            report(.frameFits, "\(sealedFrame.count) bytes from host \(host.index)")
        }
        let record = record(checking: frame)
        if let record, let wrong = discipline.handsOut(frame, to: record.log, receiverID: host.receiverID ?? 0) {
            report(.answerDiscipline, "host \(host.index) \(wrong)")
        }
        if let record { noteRequest(in: frame, record, host) }
        guard frame.count > 3, frame[0] & 0x1F == MessageType.acknowledgement.rawValue else { return nil }
        guard let record else {
            if !inventedLogs.contains(where: { BitwiseCRC.isValid(frame, log: $0) }) {
                report(.acknowledgedIsDurable, "an acknowledgement of no known log")
            }
            return nil
        }
        checkAnswer(frame, host, record)
        return record.log.deviceID
    }

    private func noteRequest(in frame: [UInt8], _ record: LogRecord, _ host: SimulatedMachine) {
        do throws(DecodeError) {
            switch try Message.decode(frame.span, log: record.log, reference: 0) {
            case .command(let command):
                record.requests.handedOut(command.requestID, for: .command(ExecutedCommand(command)), by: host.index)
            case .hostMessage(let message):
                record.requests.handedOut(message.requestID, for: .command(ExecutedCommand(message)), by: host.index)
            case .settings(let update):
                record.requests.handedOut(update.requestID, for: .settings(update.version), by: host.index)
            default: break
            }
        } catch {
            // The discipline of answers judges frames that do not decode.
        }
    }

    private func checkAnswer(_ frame: [UInt8], _ host: SimulatedMachine, _ record: LogRecord) {
        do throws(DecodeError) {
            let answer = try Acknowledgement(decoding: frame.span, header: FrameHeader(frame.span))
            guard answer.firstMissing <= record.log.plausibleEnd(record), answer.receiverID == host.receiverID else {
                return report(.acknowledgedIsDurable, "host \(host.index) acknowledges below \(answer.firstMissing)")
            }
            // If not all lost ranges fit, older ones come first. An older one can also be a loss that is in doubt.
            if let lost = record.firstLostPromise(of: host),
                !answer.resend.closedRanges.contains(where: { $0.lowerBound <= lost })
            {
                report(.acknowledgedIsDurable, "host \(host.index) has lost \(lost), and does not ask for it again")
            }
            record.hosts[host.index].below = max(record.hosts[host.index].below, answer.firstMissing)
            for sequence in record.seen(0..<answer.firstMissing) { promised(sequence, host, record) }
            for sequence in answer.durable.closedRanges.joined() { promised(sequence, host, record) }
        } catch { report(.acknowledgedIsDurable, "an acknowledgement that does not decode: \(error)") }
    }

    private func promised(_ sequence: UInt32, _ host: SimulatedMachine, _ record: LogRecord) {
        let isDamaged = record.hosts[host.index].unnoticed.contains(sequence)
        switch host.records.kept(sequence, of: record.log) {
        case .nothing where isDamaged: return
        // The fix had come after its loss. Once the host notices the damage, it requests the fix again.
        case .loss where isDamaged: return
        case .nothing:
            report(.acknowledgedIsDurable, "host \(host.index) acknowledges \(sequence), which is not on its disk")
        case .entry, .loss: break
        }
        record.hosts[host.index].promised.insert(sequence)
    }

    /// Judges what a host has stored since the last call.
    func stored(_ host: SimulatedMachine) {
        for collar in Set(records.map(\.log.deviceID)).sorted() {
            let found = host.records.of(collar).takeNew()
            for (logID, sequence, entry) in found.entries {
                guard let record = record(of: LogIdentity(deviceID: collar, logID: logID)) else {
                    if !inventedLogs.contains(where: { $0.deviceID == collar && $0.logID == logID }) {
                        report(.storedIsLogged, "host \(host.index) stores an entry of an unknown log")
                    }
                    continue
                }
                if !record.permits(entry, at: sequence) {
                    report(.storedIsLogged, "host \(host.index) stores \(sequence) as it was not logged")
                }
            }
            for (logID, range) in found.losses {
                counts(asLost: range, log: LogIdentity(deviceID: collar, logID: logID), host)
            }
        }
    }

    private func counts(asLost range: SequenceRange, log: LogIdentity, _ host: SimulatedMachine) {
        guard !inventedLogs.contains(log) else { return }
        guard let record = record(of: log), range.last < record.log.plausibleEnd(record) else {
            return report(.lossHasACause, "host \(host.index) counts \(range.last) as lost, which is not there")
        }
        let elsewhere = record.hosts[host.index].forgotten
        for sequence in record.seen(range.first..<range.last + 1)
        where !record.mayBeCalledLost(sequence) && !elsewhere.contains(sequence) {
            if case .entry = host.records.kept(sequence, of: log) { continue }
            return report(.lossHasACause, "host \(host.index) counts \(sequence) as lost")
        }
    }

    /// The consumer of a host takes a fix, a message or a gap line.
    func emitted(_ entry: EmittedEntry, _ host: SimulatedMachine) {
        switch entry.content {
        case .fix(let fix): emitted(.fix(fix.fix), fix.fix.sequence, deviceID: entry.deviceID, logID: fix.logID, host)
        case .message(let record):
            emitted(.message(record.message.content), record.message.sequence, deviceID: entry.deviceID, logID: record.logID, host)
        case .gap(let change):
            let log = LogIdentity(deviceID: entry.deviceID, logID: change.logID)
            guard record(of: log) != nil else { return }
            host.consumer.accounts[LogKey(log), default: LogAccount()].note(change)
        }
    }

    private func emitted(
        _ entry: LogEntry, _ sequence: UInt32, deviceID: DeviceID, logID: LogID, _ host: SimulatedMachine
    ) {
        let log = LogIdentity(deviceID: deviceID, logID: logID)
        guard let record = record(of: log) else { return }
        if !record.permits(entry, at: sequence) {
            report(.oneContentPerID, "host \(host.index) hands over \(sequence) as it was not logged")
        }
        // A damaged fix may come again after later fixes were taken. Without gap lines, nothing tells the consumer what was
        // given up of a log that is gone.
        let hasOtherLog = (records.map(\.log) + inventedLogs).contains { $0.deviceID == deviceID && $0 != log }
        let mayBeLate = plan.faults.contains(.storageDamage) || hasOtherLog && !host.consumer.hasGaps
        // A fix that was reported as lost before it came may come late.
        let isOrdered = host.consumer.isOrdered && !mayBeLate && !record.mayBeCalledLost(sequence)
        let wrong = host.consumer.accounts[LogKey(log), default: LogAccount()].note(entry, sequence, isOrdered: isOrdered)
        if let wrong { report(wrong.invariant, "host \(host.index): \(wrong.text)") }
    }

    /// Checks a host whose consumer has taken everything, after everything has arrived.
    /// - Parameter receivers: the receiver of each collar.
    func checkEmission(of host: SimulatedMachine, receivers: [UInt32]) {
        var lostCount = 0
        for record in records {
            let kept = host.records.of(record.log.deviceID)
            if let repeated = kept.repeated, repeated.logID == record.log.logID {
                report(.storedOnce, "host \(host.index) has stored \(repeated.sequence) more than once")
            }
            let account = host.consumer.accounts[LogKey(record.log)]
            let entries = kept.logs[record.log.logID]?.entries ?? [:]
            // A fix that waits for earlier fixes is not emitted yet.
            let end = host.consumer.isOrdered ? kept.firstMissing(logID: record.log.logID) : .max
            for sequence in entries.keys.sorted() where sequence < end && account?.entries[sequence] == nil {
                if let segment = kept.logs[record.log.logID]?.segments[sequence], segment < kept.oldestSegment {
                    lostCount += 1
                    continue
                }
                return report(
                    .acknowledgedIsEmitted, "host \(host.index) has \(sequence), of which its consumer never heard")
            }
            // A loss can have been removed unread, too. The host reports the number of the removed entries, and not what they say.
            guard host.consumer.hasGaps, lostCount == 0, host.unreadRemovals[nil] == nil, let account, let highest = entries.keys.max() else { continue }
            // A new process may find less in the journal than the process before had reported, and not report a gap as filled.
            if host.life == 0, let sequence = account.missing.filter({ account.entries[$0] != nil }).min() {
                report(.completenessIsProvable, "host \(host.index) never says that \(sequence) is not missing any more")
            }
            // Only its receiver requests missing fixes from a collar, and only those of its present log.
            let collar = current.firstIndex { $0 === record }
            let isAskedFor = collar.map { receivers[$0] == host.receiverID } ?? false
            if let sequence = account.firstUnexplained(below: min(highest, end), mayBeMissing: !isAskedFor),
                !record.hosts[host.index].forgotten.contains(sequence)
            {
                report(.completenessIsProvable, "host \(host.index) does not tell its consumer what became of \(sequence) of log \(record.log.logID)")
            }
        }
        let toldCount = host.unreadRemovals[nil] ?? 0
        if lostCount > toldCount {
            report(
                .unreadIsKept,
                "host \(host.index) removed \(lostCount) entries before its consumer had them, and reported \(toldCount)")
        }
    }

    /// A new process of a host has opened the storage.
    func reopened(_ host: SimulatedMachine) {
        for record in records {
            let promised = record.hosts[host.index].promised
            for sequence in 0..<promised.end where promised.contains(sequence) {
                switch host.records.kept(sequence, of: record.log) {
                case .nothing:
                    let lost = "\(sequence) of log \(record.log.logID)"
                    report(.acknowledgedIsDurable, "\(lost) was acknowledged and is gone after a crash of host \(host.index)")
                case .entry(let entry):
                    if !record.permits(entry, at: sequence) {
                        report(.storedIsLogged, "\(sequence) has another content after a crash")
                    }
                case .loss: break
                }
            }
        }
    }

    /// The sequences of each log that a host has acknowledged until now.
    func promises(of host: Int) -> [LogPromises] { records.map { ($0.log, $0.hosts[host].promised) } }

    /// The disk of a host was copied to a clone, which owes from then on what the host owes.
    func cloned(_ host: SimulatedMachine, as clone: SimulatedMachine) {
        for record in records { record.hosts[clone.index] = record.hosts[host.index] }
    }

    /// How many sequences a machine has acknowledged of which another has no record.
    func acknowledged(by machine: SimulatedMachine, butNotOnDiskOf other: SimulatedMachine) -> Int {
        records.reduce(0) { sum, record in
            let promised = record.hosts[machine.index].promised
            return sum
                + (0..<promised.end).count { promised.contains($0) && other.records.kept($0, of: record.log) == .nothing }
        }
    }

    /// A host's receiver has moved, without its stored records.
    func moved(_ host: SimulatedMachine) {
        for record in records {
            let unnoticed = record.hosts[host.index].unnoticed
            for sequence in record.base..<record.end
            where unnoticed.contains(sequence) || host.records.kept(sequence, of: record.log) != .nothing {
                record.hosts[host.index].forgotten.insert(sequence)
            }
            // The transfer does not name what damage removed: the host does not request it, and the collar reports it or sends
            // it.
            record.hosts[host.index].below = 0
            record.hosts[host.index].lost = []
            record.requests.idsMayRepeat()
        }
    }

    /// A host's state directory was replaced by an earlier one.
    /// - Parameter promises: what the host had acknowledged by then; nil for nothing.
    func forgot(_ host: SimulatedMachine, promisesBefore promises: [LogPromises]?) {
        for record in records {
            let flags = promises?.first { $0.log == record.log }?.flags
            record.replacePromises(of: host.index, by: flags ?? Flags())
            record.requests.idsMayRepeat()
        }
    }
}

extension LogIdentity {
    /// Higher than every sequence that the collar can have given out, even if records were torn or decay skipped a block.
    func plausibleEnd(_ record: LogRecord) -> UInt32 { record.end + 128 }
}
