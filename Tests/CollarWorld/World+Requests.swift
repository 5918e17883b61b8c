import CollarARQ
import CollarWire

extension World {
    /// Somebody at a host wants something of a collar.
    func makeRequest(_ host: SimulatedHost, _ collar: SimulatedCollar) {
        let request: HostRequest
        switch streams[.requests].below(10) {
        case 0: request = .command(.startTracking)
        case 1: request = .command(.stopTracking)
        case 2: request = .command(.locateNow)
        case 3: request = .command(.sound(milliseconds: 300))
        case 4, 5: request = .command(.reboot)
        case 6: request = .report
        default: request = makeOrder(host.desk(collar.deviceID))
        }
        add(request, host, collar, kind: .requests)
    }

    private func makeOrder(_ desk: RequestDesk) -> HostRequest {
        var entries = SettingList()
        for _ in 0..<(1 + streams[.requests].below(6)) {
            let key = UInt8(1 + streams[.requests].below(7))
            // One in eight is out of range.
            let value = streams[.requests].chance(0.03) ? 0 : UInt32(100 + streams[.requests].below(5000))
            entries.append(Setting(key: key, value: value))
        }
        return .order(version: desk.makeVersion(&streams[.requests]), entries)
    }

    /// Somebody pairs, unpairs or presses the button.
    func changePairing(_ host: SimulatedHost, _ collar: SimulatedCollar) {
        let other = hosts[streams[.repairing].below(hosts.count)].receiverID
        switch streams[.repairing].below(5) {
        case 0: add(.command(.unpair), host, collar, kind: .repairing)
        case 1:
            guard collar.isRunning else { return }
            log("the button of collar \(collar.index) is pressed")
            collar.openPairingWindow(now: now)
            pairingWindowEnd[collar.index] = now + 60_000_000
            add(.command(.pair(receiverID: host.receiverID)), host, collar, kind: .repairing)
        default: add(.command(.pair(receiverID: other)), host, collar, kind: .repairing)
        }
    }

    private func add(_ request: HostRequest, _ host: SimulatedHost, _ collar: SimulatedCollar, kind: FaultKind) {
        let deadline = Instant(microseconds: now + streams[kind].between(1_000_000, 60_000_000))
        let isLatestOnly = streams[kind].chance(0.3)
        let id = host.desk(collar.deviceID).queue.add(request, deadline: deadline, isLatestOnly: isLatestOnly)
        guard let id else { return }
        log("host \(host.index) wants \(request) of collar \(collar.index), request \(id)")
    }

    /// A frame that reached a collar may have been a request.
    func requestWasTaken(
        _ frame: [UInt8], _ collar: SimulatedCollar, _ outcome: SimulatedCollar.FrameOutcome, formerReceiver: UInt32
    ) {
        guard outcome == .executed || outcome == .failed, let identity = collar.log else { return }
        if outcome == .executed { count { $0.orders += 1 } }
        do throws(DecodeError) {
            switch try Message.decode(frame.span, log: identity, reference: 0) {
            case .command(let command):
                let isWindowOpen = now < pairingWindowEnd[collar.index]
                oracle.executes(
                    command, collar, isCertain: outcome == .executed, formerReceiver: formerReceiver,
                    isPairingWindowOpen: isWindowOpen)
                if outcome == .executed { carryOut(command, collar) }
            case .settings(let order): oracle.executes(order, collar, isCertain: outcome == .executed)
            default: break
            }
        } catch { oracle.report(.damageIsRejected, "collar \(collar.index) executes what does not decode") }
    }

    private func carryOut(_ command: Command, _ collar: SimulatedCollar) {
        log("collar \(collar.index) executes request \(command.requestID): \(command.order)")
        switch command.order {
        case .locateNow, .sound:
            let event = Event.finish(collar: collar.index, life: collar.life, requestID: command.requestID)
            queue.add(event, at: now + streams[.requests].between(0, 3_000_000))
        case .reboot:
            let event = Event.rebootByOrder(collar: collar.index, life: collar.life)
            queue.add(event, at: now + streams[.requests].between(0, 2_000_000))
        case .startTracking, .stopTracking, .pair, .unpair: break
        }
    }

    /// The firmware of a collar is done with an order.
    func finish(_ collar: SimulatedCollar, life: Int, requestID: UInt16) {
        guard collar.life == life else { return }
        let outcome: CommandResult.Outcome = [.ok, .busy, .failed][streams[.requests].below(3)]
        oracle.finishes(requestID, outcome, collar)
        _ = collar.finish(requestID, outcome)
        if collar.flash.isPowerLost {
            powerDown(collar, "while it keeps an outcome")
            return
        }
        pump(collar)
    }

    /// In the calm somebody pairs with a collar again that was let go, where nobody else takes it.
    func takeBackReleasedCollars() {
        for collar in collars where collar.isRunning && collar.pairedReceiverID == 0 {
            let desk = hosts[0].desk(collar.deviceID)
            desk.expire(now: now)
            guard plan.faults.contains(.repairing), desk.queue.count == 0 else { continue }
            let deadline = Instant(microseconds: now + 120_000_000)
            _ = desk.queue.add(.command(.pair(receiverID: hosts[0].receiverID)), deadline: deadline)
        }
    }

    /// Whether no request is open, and each receiver knows the version of the settings that its collar uses. Who does not
    /// know it asks.
    var requestsHaveEnded: Bool {
        guard plan.faults.contains(.requests) || plan.faults.contains(.repairing) else { return true }
        var isOver = true
        for collar in collars {
            for host in hosts {
                let desk = host.desk(collar.deviceID)
                desk.expire(now: now)
                if desk.queue.count > 0 { isOver = false }
            }
            guard let receiver = hosts.first(where: { $0.receiverID == collar.pairedReceiverID }),
                let identity = collar.log, let settings = collar.settings
            else { continue }
            let desk = receiver.desk(collar.deviceID)
            guard desk.reportedVersions[identity.logID] != settings.version else { continue }
            isOver = false
            if desk.queue.count == 0 { _ = desk.queue.add(.report, deadline: Instant(microseconds: now + 600_000_000)) }
        }
        return isOver
    }
}
