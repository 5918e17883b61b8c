import CollarARQ
import CollarHost
import CollarWire

/// The rules for requests.
extension Oracle {
    /// A collar executes a command, or its flash failed during the command.
    func executes(
        _ command: Command, _ collar: SimulatedCollar, isCertain: Bool, formerReceiver: UInt32,
        isPairingWindowOpen: Bool
    ) {
        guard let record = current[collar.index] else { return }
        var state = record.requests.state
        state.apply(command.action)
        var isPairingAllowed = false
        if case .pair = command.action { isPairingAllowed = formerReceiver == 0 || isPairingWindowOpen }
        note(
            ExecutedCommand(command), state, collar, record, isCertain: isCertain,
            isAllowed: formerReceiver != 0 && command.receiverID == formerReceiver || isPairingAllowed)
        guard isCertain else { return }
        switch command.action {
        case .locateNow, .sound: record.requests.isLate.insert(command.requestID)
        case .unpair: record.requests.releasedBy = command.receiverID
        case .pair: record.requests.releasedBy = nil
        case .startTracking, .stopTracking, .reboot, .find, .reportPower: break
        }
        if state.receiverID != formerReceiver { disciplines[collar.index].giveUp() }
        record.requests.state = state
        record.requests.candidates = []
    }

    /// A collar gives a message to its application, or its flash failed before that.
    func executes(_ message: HostMessage, _ collar: SimulatedCollar, isCertain: Bool, formerReceiver: UInt32) {
        guard let record = current[collar.index] else { return }
        note(
            ExecutedCommand(message), record.requests.state, collar, record, isCertain: isCertain,
            isAllowed: formerReceiver != 0 && message.receiverID == formerReceiver)
        if isCertain { record.requests.isLate.insert(message.requestID) }
    }

    private func note(
        _ command: ExecutedCommand, _ state: RequestedState, _ collar: SimulatedCollar, _ record: LogRecord, isCertain: Bool,
        isAllowed: Bool
    ) {
        guard isCertain else { return record.requests.noteUncertain(command, state: state) }
        if record.requests.lastExecuted.contains(command) {
            report(.executedOnce, "collar \(collar.index) executes request \(command.requestID) again")
        }
        record.requests.noteExecuted(command)
        if !isAllowed { report(.executedOnce, "collar \(collar.index) obeys \(command.receiverID)") }
    }

    /// A collar applies a settings update, or its flash failed during the update.
    func executes(_ update: Settings, _ collar: SimulatedCollar, isCertain: Bool) {
        guard let record = current[collar.index] else { return }
        var state = record.requests.state
        state.apply(update)
        guard isCertain else {
            record.requests.candidates.append(.init(state: state))
            return
        }
        if update.version <= record.requests.state.version || !update.version.isPlausible(after: record.requests.state.version) {
            report(
                .stateFollowsRequests,
                "collar \(collar.index) takes version \(update.version.number) after \(record.requests.state.version.number)")
        }
        record.requests.state = state
        record.requests.candidates = []
    }

    /// The firmware reports an outcome.
    /// - Returns: the outcome that was reported before; nil if there was none.
    @discardableResult
    func finishes(
        _ requestID: UInt16, _ outcome: CommandResult.Outcome?, _ collar: SimulatedCollar
    ) -> CommandResult.Outcome? {
        defer { current[collar.index]?.requests.outcomes[requestID] = outcome }
        return current[collar.index]?.requests.outcomes[requestID]
    }

    /// Checks that the state of a collar follows from the requests that it executed.
    func checkRequestedState(_ collar: SimulatedCollar, _ record: LogRecord) {
        if record.requests.state.isState(of: collar) { return }
        let matching = record.requests.candidates.filter { $0.state.isState(of: collar) }
        if let candidate = matching.first {
            // A collar without a receiver may also have this receiver because of an acknowledgement. If two requests have the
            // same effect, either may be the one that the flash kept.
            if matching.count == 1, let command = candidate.command, record.requests.state.receiverID != 0 || candidate.state.receiverID == 0 {
                record.requests.noteExecuted(command)
            }
            record.requests.state = candidate.state
            record.requests.candidates = []
            return
        }
        let receiver = collar.pairedReceiverID
        for state in [record.requests.state] + record.requests.candidates.map(\.state) where state.receiverID == 0 {
            var adopted = state
            adopted.receiverID = receiver
            guard adopted.isState(of: collar) else { continue }
            if record.requests.releasedBy == receiver, record.requests.candidates.isEmpty {
                report(.stateFollowsRequests, "collar \(collar.index) is taken back by \(receiver) without a command")
            }
            record.requests.state = adopted
            record.requests.releasedBy = nil
            return
        }
        report(
            .stateFollowsRequests,
            "collar \(collar.index): receiver \(receiver), tracking \(collar.isTracking), settings "
                + "\(collar.settings.map { "\($0)" } ?? "none") instead of \(record.requests.state)")
    }

    /// A collar sends a result.
    func check(_ result: CommandResult, _ collar: SimulatedCollar, _ record: LogRecord) {
        let requests = record.requests
        let isExecuted = requests.executed.contains(result.requestID)
        let isRemembered = requests.lastExecuted.contains { $0?.requestID == result.requestID }
        if requests.uncertain.contains(result.requestID) { return }
        // A refusal may be meant for a hostile sender that used the same id by chance.
        if result.outcome == .refused, plan.faults.contains(.hostileSender) { return }
        switch result.outcome {
        case .ok where !isExecuted, .unsupported where isRemembered, .refused where isRemembered,
            .conflict where isRemembered, .invalid where isRemembered:
            report(.resultIsTrue, "collar \(collar.index) says \(result.outcome) of request \(result.requestID)")
        default: break
        }
        guard isRemembered, requests.isLate.contains(result.requestID) else { return }
        // If the collar boots before the firmware reports the outcome, the outcome is *failed*.
        guard result.outcome != .failed, result.outcome != requests.outcomes[result.requestID] else { return }
        report(
            .resultIsTrue, "collar \(collar.index) says \(result.outcome) of request \(result.requestID), which is not so")
    }

    /// A collar sends a settings report.
    func check(_ settings: Settings, _ collar: SimulatedCollar, _ record: LogRecord) {
        for index in 0..<settings.entries.count {
            let entry = settings.entries[index]
            guard let value = record.requests.state.settings[entry.key], value != entry.value else { continue }
            report(.resultIsTrue, "collar \(collar.index) reports \(entry.value) for \(entry.key) instead of \(value)")
        }
        if settings.version != record.requests.state.version {
            report(.resultIsTrue, "collar \(collar.index) reports version \(settings.version.number)")
        }
    }

    /// A request of a host has ended.
    func ended(_ report: RequestReport, host: Int) {
        guard report.state == .ended(.result(.ok)) else { return }
        let isExecuted = records.contains {
            $0.log.deviceID == report.deviceID
                && ($0.requests.executed.contains(report.requestID) || $0.requests.uncertain.contains(report.requestID))
        }
        if isExecuted { return }
        // These two also end with an identity that names the wanted receiver, whichever command led to that.
        if case .command(.pair) = report.request { return }
        if case .command(.unpair) = report.request { return }
        self.report(.resultIsTrue, "host \(host) hears that \(report.requestID) was executed, which is not so")
    }
}
