import CollarARQ
import CollarHost
import CollarJournal
import CollarWire

extension World {
    /// A user of a host submits a random request to a collar.
    func makeRequest(_ host: SimulatedMachine, _ collar: SimulatedCollar) {
        let request: HostRequest =
            switch streams[.requests].below(10) {
            case 0: .command(.startTracking)
            case 1: .command(.stopTracking)
            case 2: .command(.locateNow)
            case 3: .command([.sound(milliseconds: 300), .find(seconds: 60), .reportPower][Int(now / 1000 % 3)])
            case 4, 5: .command(.reboot)
            case 6: .settingsRequest
            default: makeSettingsUpdate()
            }
        submit(request, host, collar, kind: .requests)
    }

    /// A program at a host sends a message to a collar's application.
    func makeMessage(_ host: SimulatedMachine, _ collar: SimulatedCollar) {
        submit(.message(randomMessage()), host, collar, kind: .messages)
    }

    func randomMessage() -> ApplicationMessage {
        let kinds: [ApplicationMessage.Kind] = [.notice, .request, .reply(to: UInt32(streams[.messages].below(200)), .busy)]
        let data = (0..<streams[.messages].below(ApplicationMessage.dataLimit + 1)).map { _ in
            UInt8(streams[.messages].below(256))
        }
        let message = ApplicationMessage(
            kind: kinds[streams[.messages].below(3)], code: UInt8(streams[.messages].below(256)),
            unixSeconds: UInt32(now / 1_000_000), data: data.span)
        guard let message else { preconditionFailure("the data has at most as many bytes as a message can have") }
        return message
    }

    private func makeSettingsUpdate() -> HostRequest {
        var entries = SettingList()
        let keys: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 11, 12, 14, 16, 18, 19, 21, 22]
        for _ in 0..<(1 + streams[.requests].below(HostRequest.settingLimit)) {
            let key = keys[streams[.requests].below(keys.count)]
            // Some values are out of range.
            let value = streams[.requests].chance(0.03) ? 0 : UInt32(100 + streams[.requests].below(5000))
            entries.append(Setting(key: key, value: value))
        }
        return .settingsUpdate(version: .defaults, entries)
    }

    /// A user pairs or unpairs a collar, or presses its button.
    func changePairing(_ host: SimulatedMachine, _ collar: SimulatedCollar) {
        let other = hosts[streams[.repairing].below(hosts.count)].receiverID ?? 0
        switch streams[.repairing].below(5) {
        case 0: submit(.command(.unpair), host, collar, kind: .repairing)
        case 1:
            guard collar.isRunning else { return }
            pressButton(of: collar)
            submit(.command(.pair(receiverID: 0)), host, collar, kind: .repairing)
        default: submit(.command(.pair(receiverID: other)), host, collar, kind: .repairing)
        }
    }

    func pressButton(of collar: SimulatedCollar) {
        log("the button of collar \(collar.index) is pressed")
        collar.openPairingWindow(now: now)
        collar.pairingWindowEnd = now + 60_000_000
    }

    private func submit(_ request: HostRequest, _ host: SimulatedMachine, _ collar: SimulatedCollar, kind: FaultKind) {
        let milliseconds = streams[kind].between(1000, 60_000)
        let patience: RequestPatience =
            switch streams[kind].below(10) {
            case 0..<3: .latest
            case 3..<5: .untilHeard
            default: .now(microseconds: milliseconds * 1000)
            }
        guard let id = host.submit(request, to: collar.deviceID, patience: patience, now: now) else { return }
        log("host \(host.index) wants \(request) of collar \(collar.index), request \(id)")
        oracle.current[collar.index]?.requests.given(id, by: host.index)
        letHostWork(host)
    }

    /// If a frame was a command, a message or a settings update, and the collar executed it or its flash failed, tells the
    /// oracle.
    func requestWasTaken(
        _ frame: [UInt8], _ collar: SimulatedCollar, _ outcome: SimulatedCollar.FrameOutcome, formerReceiver: UInt32
    ) {
        guard outcome == .executed || outcome == .failed, let identity = collar.log else { return }
        if outcome == .executed { statistics.requests += 1 }
        do throws(DecodeError) {
            switch try Message.decode(frame.span, log: identity, reference: 0) {
            case .command(let command):
                let isWindowOpen = now < collar.pairingWindowEnd
                oracle.executes(
                    command, collar, isCertain: outcome == .executed, formerReceiver: formerReceiver,
                    isPairingWindowOpen: isWindowOpen)
                if outcome == .executed { carryOut(command, collar) }
            case .hostMessage(let message):
                oracle.executes(message, collar, isCertain: outcome == .executed, formerReceiver: formerReceiver)
                if outcome == .executed { finishLater(message.requestID, collar) }
            case .settings(let update): oracle.executes(update, collar, isCertain: outcome == .executed)
            default: break
            }
        } catch { oracle.report(.damageIsRejected, "collar \(collar.index) executes what does not decode") }
    }

    private func carryOut(_ command: Command, _ collar: SimulatedCollar) {
        log("collar \(collar.index) executes request \(command.requestID): \(command.action)")
        switch command.action {
        case .locateNow, .sound: finishLater(command.requestID, collar)
        case .reboot:
            let event = Event.rebootByCommand(collar: collar.index, life: collar.life)
            queue.add(event, at: now + streams[.requests].between(0, 2_000_000))
        case .startTracking, .stopTracking, .pair, .unpair, .find, .reportPower: break
        }
    }

    private func finishLater(_ requestID: UInt16, _ collar: SimulatedCollar) {
        let event = Event.finish(collar: collar.index, life: collar.life, requestID: requestID, outcome: nil)
        queue.add(event, at: now + streams[.requests].between(0, 3_000_000))
    }

    /// The firmware of a collar has finished a command, or its application has a message.
    /// - Parameter outcome: the outcome that the flash failed to keep at the attempt before; nil at the first attempt.
    func finish(_ collar: SimulatedCollar, life: Int, requestID: UInt16, _ outcome: CommandResult.Outcome?) {
        guard collar.life == life else { return }
        let outcome: CommandResult.Outcome = outcome ?? [.ok, .busy, .failed][streams[.requests].below(3)]
        let before = oracle.finishes(requestID, outcome, collar)
        let wasExecuting = collar.finish(requestID, outcome)
        if collar.flash.isPowerLost { return powerDown(collar, "while it keeps an outcome") }
        // A request that was executed twice is finished once.
        if wasExecuting == false { oracle.finishes(requestID, before, collar) }
        if wasExecuting == nil {
            let event = Event.finish(collar: collar.index, life: life, requestID: requestID, outcome: outcome)
            queue.add(event, at: now + 1_000_000)
        }
        pump(collar)
    }

    /// In the calm, the first host pairs with each collar that belongs to no existing receiver.
    func takeBackReleasedCollars() {
        for collar in collars where collar.isRunning && !hosts.contains(where: { $0.receiverID == collar.pairedReceiverID }) {
            guard collar.pairedReceiverID != 0 || plan.faults.contains(.repairing) else { continue }
            if collar.pairedReceiverID != 0, now >= collar.pairingWindowEnd { pressButton(of: collar) }
            guard now >= collar.nextPairing else { continue }
            let id = hosts[0].submit(
                .command(.pair(receiverID: 0)), to: collar.deviceID, patience: .untilHeard, now: now)
            if id != nil { collar.nextPairing = now + 60_000_000 }
        }
    }

    /// Whether no command is open, and each receiver knows the version of the settings that its collar uses. A receiver that
    /// does not know the version submits a settings request.
    var requestsHaveEnded: Bool {
        guard !plan.faults.isDisjoint(with: [.requests, .repairing, .messages]) else { return true }
        var isOver = true
        for collar in collars {
            guard let receiver = hosts.first(where: { $0.receiverID == collar.pairedReceiverID }), let settings = collar.settings
            else { continue }
            guard receiver.openRequestCount(of: collar.deviceID) == 0 else {
                isOver = false
                continue
            }
            guard receiver.reportedSettingsVersion(of: collar.deviceID) != settings.version else { continue }
            isOver = false
            _ = receiver.submit(.settingsRequest, to: collar.deviceID, patience: .untilHeard, now: now)
        }
        return isOver
    }
}
