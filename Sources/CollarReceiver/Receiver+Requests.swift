import CollarARQ
import CollarBridge
import CollarJournal
import CollarWire

extension Receiver {
    /// Takes a request to a collar, or asks what became of one.
    /// - Returns: that it waits, durably (``ResultLine/Outcome/queued``); what became of it; or why it is not taken.
    ///   After `queued` the end is told by ``ReceiverNotice/requestEnded(_:)``.
    public func submit(_ wanted: ControlRequest) -> ResultLine {
        let time = WallClock.unixMilliseconds
        let collar: CollarSession
        switch self.collar(of: wanted, unixMilliseconds: time) {
        case .success(let found): collar = found
        case .failure(let rejection): return rejection.line
        }
        func rejected(_ code: String, _ reason: String) -> ResultLine {
            ResultLine(rejectedAt: time, code: code, reason: reason, deviceID: collar.deviceID, verb: wanted.verb)
        }
        let desk: RequestDesk
        do throws(JournalError) { desk = try self.desk(of: collar) } catch {
            return rejected("storage_failing", error.description)
        }
        if case .await(let requestID) = wanted.wish {
            return desk.line(ofRequest: requestID, unixMilliseconds: time)
                ?? rejected("unknown_request", "request \(requestID) is not known, or ended long ago")
        }
        if wanted.wish != .pair, collar.isPairedElsewhere(than: receiverID) {
            return rejected("paired_elsewhere", "the collar belongs to another receiver: it must be paired with this one first")
        }
        do throws(RequestDesk.Refusal) {
            let added = try desk.add(
                { wanted.hostRequest(receiverID: receiverID, version: $0) },
                waitMilliseconds: wanted.mode == .now ? wanted.timeoutMilliseconds : RequestDesk.longestWait,
                isLatestOnly: wanted.mode == .latest, now: now, unixMilliseconds: time)
            tell(added.replaced, of: collar)
            return ResultLine(
                outcome: .queued, unixMilliseconds: time, deviceID: collar.deviceID, requestID: added.requestID,
                verb: wanted.verb)
        } catch {
            switch error {
            case .full: return rejected("queue_full", "too many requests to the collar wait")
            case .noVersion: return rejected("no_version", "the collar's settings have the highest version there is")
            case .storage(let failure): return rejected("storage_failing", failure.description)
            }
        }
    }

    private struct Rejection: Error { var line: ResultLine }

    private func collar(of wanted: ControlRequest, unixMilliseconds: Int64) -> Result<CollarSession, Rejection> {
        let names = collars.map { hexadecimal($0.deviceID) }.sorted().joined(separator: ", ")
        if let deviceID = wanted.deviceID {
            if let found = collars.first(where: { $0.deviceID == deviceID }) { return .success(found) }
            return .failure(
                Rejection(
                    line: ResultLine(
                        rejectedAt: unixMilliseconds, code: "unknown_collar",
                        reason: "collar \(hexadecimal(deviceID)) was never heard here; known: \(names.isEmpty ? "none" : names)",
                        deviceID: deviceID, verb: wanted.verb)))
        }
        if collars.count == 1 { return .success(collars[0]) }
        let line = collars.isEmpty
            ? ResultLine(
                rejectedAt: unixMilliseconds, code: "no_collar", reason: "no collar was ever heard here", verb: wanted.verb)
            : ResultLine(
                rejectedAt: unixMilliseconds, code: "which_collar", reason: "which collar? There are \(names)",
                verb: wanted.verb)
        return .failure(Rejection(line: line))
    }

    private func desk(of collar: CollarSession) throws(JournalError) -> RequestDesk {
        if let desk = collar.desk { return desk }
        try openDesk(of: collar, isNeeded: true)
        guard let desk = collar.desk else { preconditionFailure("a desk that is needed is made") }
        return desk
    }

    /// Takes up the requests of an earlier run.
    func openDesk(of collar: CollarSession) {
        do throws(JournalError) { try openDesk(of: collar, isNeeded: false) } catch {
            report(.requestsFailing(deviceID: collar.deviceID, error))
        }
    }

    private func openDesk(of collar: CollarSession, isNeeded: Bool) throws(JournalError) {
        let opened = try RequestDesk.open(
            collar.journal, isNeeded: isNeeded, now: now, unixMilliseconds: WallClock.unixMilliseconds)
        collar.desk = opened.desk
        if opened.wasSetAside { report(.requestsSetAside(deviceID: collar.deviceID, path: collar.journal.directory.path)) }
    }

    /// Whether this ask of the collar gets something of this host: an answer, or an order to pair.
    func isSpokenTo(_ collar: CollarSession) -> Bool {
        !collar.isPairedElsewhere(than: receiverID) || collar.desk?.isPairingWanted == true
    }

    /// Sends what goes out in front of the answer to an ask.
    func sendRequests(to collar: CollarSession, log: LogIdentity, address: UInt8, onPort port: Int) {
        guard let desk = collar.desk, !desk.kept.open.isEmpty else { return }
        let isForeign = !collar.isKnownAsOwn(by: receiverID)
        for frame in desk.takeWindow(address: address, log: log, isForeign: isForeign) {
            send(onPort: port) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                for byte in frame { output.append(byte) }
            }
        }
    }

    /// A collar's result or report came in.
    func received(_ message: Message, from collar: CollarSession) {
        guard let desk = collar.desk else { return }
        switch message {
        case .commandResult(let result): tellAndSave(desk.received(result), of: collar)
        case .settings(let report) where report.direction == .report: tellAndSave(desk.received(report), of: collar)
        default: break
        }
    }

    /// A collar's identity came in.
    func learnedReceiver(of collar: CollarSession, from identity: Identity) {
        collar.answersSinceIdentity = 0
        if let desk = collar.desk { tellAndSave(desk.learnedReceiver(identity.pairedReceiverID), of: collar) }
    }

    /// When a request ends unanswered.
    var requestDeadline: Instant? {
        var earliest: Instant?
        for collar in collars {
            guard let deadline = collar.desk?.nextDeadline else { continue }
            earliest = min(earliest ?? deadline, deadline)
        }
        return earliest
    }

    /// Ends requests whose time is over.
    func requestDeadlineReached(now: Instant) {
        for collar in collars {
            if let desk = collar.desk { tellAndSave(desk.expire(now: now), of: collar) }
        }
    }

    private func tellAndSave(_ ended: [OutgoingRequests.Ended], of collar: CollarSession) {
        guard !ended.isEmpty, let desk = collar.desk else { return }
        do throws(JournalError) { try desk.save() } catch {
            report(.requestsFailing(deviceID: collar.deviceID, error))
        }
        tell(ended, of: collar)
    }

    private func tell(_ ended: [OutgoingRequests.Ended], of collar: CollarSession) {
        guard let desk = collar.desk else { return }
        for one in ended {
            let line = desk.line(of: one, unixMilliseconds: WallClock.unixMilliseconds)
            report(.requestEnded(line))
            controlSocket?.tell(line)
        }
    }
}

extension ControlRequest {
    /// What goes on the air.
    fileprivate func hostRequest(receiverID: UInt32, version: UInt64) -> HostRequest {
        switch wish {
        case .locate: .command(.locateNow)
        case .sound(let milliseconds): .command(.sound(milliseconds: milliseconds))
        case .track(true): .command(.startTracking)
        case .track(false): .command(.stopTracking)
        case .reboot: .command(.reboot)
        case .pair: .command(.pair(receiverID: receiverID))
        case .unpair: .command(.unpair)
        case .getSettings: .report
        case .setSettings(let settings): .order(version: version, SettingList(settings))
        case .await: preconditionFailure("to wait for a request is none")
        }
    }
}

extension SettingList {
    fileprivate init(_ settings: [Setting]) {
        self.init()
        for setting in settings { append(setting) }
    }
}
