import CollarARQ
import CollarJournal
import CollarWire

extension Receiver {
    /// Opens the journals of the collars that were heard before, so that their fixes can be checked at once.
    func openKnownJournals() throws(ReceiverError) {
        let known: [UInt64]
        do throws(JournalError) {
            known = try JournalDirectory.knownCollars(
                stateDirectory: configuration.stateDirectory, fileSystem: POSIXFileSystem())
        } catch { throw .journal(error) }
        for deviceID in known.filter(isWanted).prefix(ReceiverLimits.knownCollarCount) {
            do throws(JournalError) { try openJournal(of: deviceID) } catch { throw .journal(error) }
        }
        if case .behind(let fix) = configuration.emission,
            !collars.contains(where: { $0.deviceID == fix.deviceID && $0.journal.contains(fix.sequence, logID: fix.logID) })
        {
            throw .unknownFix(fix)
        }
    }

    private func isWanted(_ deviceID: UInt64) -> Bool {
        configuration.deviceID == nil || configuration.deviceID == deviceID
    }

    @discardableResult
    private func openJournal(of deviceID: UInt64) throws(JournalError) -> Int {
        let journal = try Journal.open(
            stateDirectory: configuration.stateDirectory, deviceID: deviceID, receiverID: receiverID,
            nowUnixMilliseconds: WallClock.unixMilliseconds)
        if let previous = journal.previousReceiverID {
            report(.copiedJournal(deviceID: deviceID, previousReceiverID: previous))
        }
        for damage in journal.damage { report(.journalDamage(deviceID: deviceID, damage)) }
        let feed = try LineFeed(journal, configuration)
        collars.append(CollarSession(deviceID: deviceID, journal: journal, feed: feed))
        openDesk(of: collars[collars.count - 1])
        return collars.count - 1
    }

    /// The session of a collar that said who it is; nil where it is not wanted, or is one
    /// too many, or its journal cannot be opened.
    private func session(for deviceID: UInt64, onPort port: Int) -> Int? {
        if let index = collars.firstIndex(where: { $0.deviceID == deviceID }) { return index }
        guard isWanted(deviceID), !unavailableCollars.contains(deviceID), mayTakeUp(deviceID, onPort: port) else {
            return nil
        }
        do throws(JournalError) { return try openJournal(of: deviceID) } catch {
            unavailableCollars.insert(deviceID)
            report(.journalUnavailable(deviceID: deviceID, error))
            return nil
        }
    }

    /// Takes in one bare frame, whose signal report is there if there is one.
    func received(_ frame: Span<UInt8>, at reception: Reception) {
        let header: FrameHeader
        do throws(DecodeError) { header = try FrameHeader(frame) } catch {
            countRejected(error, onPort: reception.port)
            return
        }
        guard let type = header.type else {
            statistics.unsupportedFrames += 1
            return
        }
        guard type.isBoundToLog else {
            receivedUnbound(frame, header: header, type: type, onPort: reception.port)
            return
        }
        // What other hosts say is none of this one's business.
        guard type.isFromCollar else { return }
        if type == .liveFix {
            receivedLive(frame, header: header, at: reception)
            return
        }
        guard let (collar, log) = sender(of: frame, address: header.address) else {
            countUnchecked(header, onPort: reception.port)
            return
        }
        receivedBound(frame, header: header, type: type, collar: collar, log: log, at: reception)
    }

    /// The collar and log whose frame this is: most often the one heard last at the address.
    private func sender(of frame: Span<UInt8>, address: UInt8) -> (collar: Int, log: Int)? {
        if let recent = collarAtAddress[Int(address)], let log = collars[recent].indexOfLog(of: frame) {
            return (recent, log)
        }
        for index in collars.indices where index != collarAtAddress[Int(address)] {
            if let log = collars[index].indexOfLog(of: frame) { return (index, log) }
        }
        return nil
    }

    private func receivedLive(_ frame: Span<UInt8>, header: FrameHeader, at reception: Reception) {
        for index in collars.indices {
            guard let found = collars[index].liveFix(of: frame, header: header) else { continue }
            heard(index, log: found.log, header: header, onPort: reception.port)
            store(found.fix, collar: index, log: found.log, signal: reception.signal)
            return
        }
        countUnchecked(header, onPort: reception.port)
    }

    private func receivedUnbound(
        _ frame: Span<UInt8>, header: FrameHeader, type: MessageType, onPort port: Int
    ) {
        guard FrameCheck.isValid(frame, log: nil) else {
            statistics.damagedFrames += 1
            return
        }
        do throws(DecodeError) {
            switch type {
            case .identity: received(try Identity(decoding: frame), header: header, onPort: port)
            case .probe: received(try Probe(decoding: frame), header: header, onPort: port)
            case .radioIdentity: received(try RadioIdentity(decoding: frame), onPort: port)
            case .modemSettings: received(try ModemSettings(decoding: frame), onPort: port)
            case .signalReport:
                _ = try SignalReport(decoding: frame)
                ports[port].held.reportCame()
            default:
                // What other receivers say.
                _ = try Message.decodePayload(of: frame, header: header, type: type, reference: 0)
            }
        } catch { statistics.malformedFrames += 1 }
    }

    private func received(_ identity: Identity, header: FrameHeader, onPort port: Int) {
        guard let index = session(for: identity.log.deviceID, onPort: port) else { return }
        let collar = collars[index]
        if !collar.addLog(identity.log) { report(.tooManyLogs, of: collar) }
        collar.identity = identity
        if collar.feed.currentLogID != identity.log.logID {
            collar.feed.currentLogID = identity.log.logID
            collar.feed.isBehind = true
        }
        collar.health.setHeartbeat(seconds: identity.heartbeatSeconds)
        if collar.isPairedElsewhere(than: receiverID), !collar.isReportedAsElsewhere {
            collar.isReportedAsElsewhere = true
            report(.pairedElsewhere(deviceID: identity.log.deviceID, receiverID: identity.pairedReceiverID))
        }
        heard(index, log: 0, header: header, onPort: port)
        learnedReceiver(of: collar, from: identity)
        if identity.nextSequence > 0 { learned(of: identity.nextSequence - 1, collar: collar, log: 0) }
        recordLosses(namedBy: identity, collar: index, log: 0)
    }

    private func received(_ probe: Probe, header: FrameHeader, onPort port: Int) {
        for index in collars.indices {
            guard let log = collars[index].deliveries.firstIndex(where: { $0.log.tag == probe.logTag }) else { continue }
            heard(index, log: log, header: header, onPort: port)
            if probe.nextSequence > 0 { learned(of: probe.nextSequence - 1, collar: collars[index], log: log) }
            return
        }
        statistics.unknownFrames += 1
        askForIdentity(onPort: port, address: header.address, isAnswer: header.flags.ask != nil)
    }

    private func receivedBound(
        _ frame: Span<UInt8>, header: FrameHeader, type: MessageType, collar index: Int, log: Int,
        at reception: Reception
    ) {
        let collar = collars[index]
        do throws(DecodeError) {
            switch type {
            case .absoluteFix:
                let reference = collar.deliveries[log].highestSequence
                let fix = try AbsoluteFix.decode(frame, header: header, reference: reference)
                heard(index, log: log, header: header, onPort: reception.port)
                store(fix, collar: index, log: log, signal: reception.signal)
            case .batch:
                let batch = try Batch(decoding: frame, header: header)
                heard(index, log: log, header: header, onPort: reception.port)
                batch.forEach { store($0, collar: index, log: log, signal: reception.signal) }
            case .tombstone:
                let tombstone = try Tombstone(decoding: frame)
                heard(index, log: log, header: header, onPort: reception.port)
                let reason: LossReason = header.flags.isDeliveredElsewhere ? .deliveredElsewhere : .overwritten
                for position in 0..<tombstone.ranges.count {
                    recordLoss(of: tombstone.ranges[position], reason: reason, collar: index, log: log)
                }
            case .status:
                let status = try Status(decoding: frame)
                heard(index, log: log, header: header, onPort: reception.port)
                tell(.status(deviceID: collar.deviceID, logID: collar.deliveries[log].log.logID, status))
            default:
                let message = try Message.decodePayload(of: frame, header: header, type: type, reference: 0)
                heard(index, log: log, header: header, onPort: reception.port)
                received(message, from: collar)
            }
        } catch { statistics.malformedFrames += 1 }
    }

    /// Notes a valid frame: where the collar is, and whether it wants an answer.
    func heard(_ index: Int, log: Int, header: FrameHeader, onPort port: Int) {
        let collar = collars[index]
        statistics.frames += 1
        collar.isHeardSinceCommit = true
        collar.address = header.address
        collarAtAddress[Int(header.address)] = index
        noteHealth(of: collar, onPort: port)
        ports[port].sessionDeadlines.removeAll()
        ports[port].lastCollar = index
        ports[port].identityRequests.earn(1)
        collar.deliveries[log].received(flags: header.flags)
        if header.flags.ask != nil { collar.answerPort = port }
        guard !collar.isHeard else { return }
        collar.isHeard = true
        report(
            .collar(
                deviceID: collar.deviceID, logID: collar.deliveries[log].log.logID, path: ports[port].path))
    }

    private func countRejected(_ error: DecodeError, onPort port: Int) {
        switch error {
        case .unsupportedVersion, .unknownCriticalFlags, .unknownType: statistics.unsupportedFrames += 1
        case .tooShort, .tooLong, .checkFailed, .anchorNeeded, .truncated, .trailingBytes, .nonzeroPadding, .invalidField:
            statistics.damagedFrames += 1
        }
    }

    /// A frame whose check fits no known log: damaged where its address is known, else perhaps from a collar that has
    /// not said who it is.
    private func countUnchecked(_ header: FrameHeader, onPort port: Int) {
        if collarAtAddress[Int(header.address)] != nil {
            statistics.damagedFrames += 1
        } else {
            statistics.unknownFrames += 1
            askForIdentity(onPort: port, address: header.address, isAnswer: header.flags.ask != nil)
        }
    }
}
