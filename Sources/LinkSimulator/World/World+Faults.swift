import CollarWire

extension World {
    /// Faults that happen at moments.
    static let recurring: [FaultKind] = [
        .unplugging, .collarReboots, .powerCuts, .flashDecay, .logErase, .hostCrashes, .syncFailures, .fullDisk,
        .storageDamage, .clockJumps, .fixBursts, .flashErrors, .requests, .repairing,
    ]

    func scheduleFault(_ kind: FaultKind) {
        let mean =
            switch kind {
            case .logErase, .flashDecay: plan.faultIntervalMicroseconds * 3
            case .powerCuts: plan.faultIntervalMicroseconds / 3
            case .requests: plan.faultIntervalMicroseconds / 8
            default: plan.faultIntervalMicroseconds
            }
        let due = now + streams[kind].between(1000, 2 * mean)
        if due < plan.turbulentMicroseconds { queue.add(.fault(kind), at: due) }
    }

    func fault(_ kind: FaultKind) {
        guard !isCalm else { return }
        scheduleFault(kind)
        let collar = collars[streams[kind].below(collars.count)]
        let host = hosts[streams[kind].below(hosts.count)]
        switch kind {
        case .unplugging: unplug(host)
        case .collarReboots: if collar.isRunning { powerDown(collar, "by a reboot") }
        case .powerCuts:
            if streams[kind].chance(0.5) {
                collar.flash.stepsUntilPowerCut = streams[kind].below(120)
            } else {
                collar.flash.stepsFromEraseUntilPowerCut = streams[kind].below(100)
            }
        case .flashErrors: collar.flash.failureProbability = plan.flashFailureProbability
        case .flashDecay: decay(collar)
        case .logErase: erase(collar)
        case .hostCrashes: crash(host, restartAfter: streams[kind].between(1000, 5_000_000))
        case .syncFailures:
            host.storage.isNextSyncFailing = true
            queue.add(.endOfFault(kind, host.index), at: now + streams[kind].between(100_000, 5_000_000))
        case .fullDisk:
            log("host \(host.index)'s disk is full")
            host.storage.isFull = true
            queue.add(.endOfFault(kind, host.index), at: now + streams[kind].between(100_000, 10_000_000))
        case .storageDamage: damage(host)
        case .clockJumps: clockOffset[collar.index] += streams[kind].between(-86_400_000, 86_400_000)
        case .requests: makeRequest(host, collar)
        case .repairing: changePairing(host, collar)
        case .fixBursts: burstFixes[collar.index] = streams[kind].below(60)
        case .loss, .burstLoss, .duplication, .delay, .bitFlips, .truncation, .noise, .hiddenCollars, .slowSync,
            .rivalReceiver, .equalAddresses, .liveForm:
            break
        }
    }

    func endOfFault(_ kind: FaultKind, _ index: Int) {
        switch kind {
        case .unplugging:
            guard !isPlugged[index] else { return }
            log("host \(index)'s radio is plugged in again")
            isPlugged[index] = true
            queue.add(.openPort(host: index), at: now)
        case .fullDisk:
            log("host \(index)'s disk has room again")
            hosts[index].storage.isFull = false
            letHostWork(hosts[index])
        case .syncFailures:
            // Whoever watches the host restarts what stopped storing.
            crash(hosts[index], restartAfter: 10_000)
        default: break
        }
    }

    private func unplug(_ host: SimulatedHost) {
        guard isPlugged[host.index] else { return }
        log("host \(host.index)'s radio is unplugged")
        isPlugged[host.index] = false
        outbox[host.index] = []
        isHostSending[host.index] = false
        queue.add(.endOfFault(.unplugging, host.index), at: now + streams[.unplugging].between(100_000, 10_000_000))
    }

    /// Only where the collar certainly knows that all of it is delivered: a flash that fails to keep the watermark and
    /// then loses the log as well has lost everything.
    private func decay(_ collar: SimulatedCollar) {
        guard !plan.faults.contains(.flashErrors), collar.isRunning, collar.isEverythingDelivered,
            collar.nextSequence > 0, let block = collar.flash.lastLogBlock,
            collar.pairedReceiverID != 0
        else { return }
        log("the newest block of collar \(collar.index) decays")
        powerDown(collar, "and a block")
        collar.flash.decay(block: block)
        oracle.decayed(collar)
    }

    private func erase(_ collar: SimulatedCollar) {
        guard collar.isRunning else { return }
        log("the flash of collar \(collar.index) is erased")
        powerDown(collar, "and its log")
        collar.flash.wipe()
        oracle.erased(collar)
    }

    private func damage(_ host: SimulatedHost) {
        guard host.isRunning else { return }
        crash(host, restartAfter: 50_000)
        let lost = host.storage.loseSome(&streams[.storageDamage])
        log("host \(host.index)'s storage loses \(lost.count) fixes")
        for record in lost { oracle.record(of: record.log)?.takeBackPromise(record.sequence, by: host.index) }
    }

    func calm() {
        log("calm")
        isCalm = true
        var quiet = ChannelPlan()
        quiet.loss = plan.calmLoss
        for index in channels.indices { channels[index].plan = quiet }
        for collar in collars {
            collar.flash.failureProbability = 0
            collar.flash.stepsUntilPowerCut = nil
            collar.flash.stepsFromEraseUntilPowerCut = nil
        }
        for host in hosts {
            host.storage.isFull = false
            host.storage.isNextSyncFailing = false
            if plan.faults.contains(.syncFailures) { crash(host, restartAfter: 1000) }
            endOfFault(.unplugging, host.index)
            letHostWork(host)
        }
        checkSettled()
    }

    /// Ends the run when everything has arrived and both ends agree on it.
    func checkSettled() {
        guard isCalm, !isSettled else { return }
        takeBackReleasedCollars()
        for collar in collars {
            guard collar.isRunning, collar.isEverythingDelivered else { return }
            guard disagreement(of: collar) == nil else { return }
        }
        guard requestsHaveEnded else { return }
        log("everything has arrived")
        isSettled = true
    }

    /// What a collar's receiver lacks.
    func disagreement(of collar: SimulatedCollar) -> String? {
        guard let record = oracle.current[collar.index], let identity = collar.log else { return nil }
        guard let host = hosts.first(where: { $0.receiverID == collar.pairedReceiverID }) else {
            return collar.nextSequence == 0 ? nil : "collar \(collar.index) has no receiver"
        }
        let durable = host.storage.durable(of: identity)
        if durable.firstMissing < collar.nextSequence {
            return
                "host \(host.index) misses \(durable.firstMissing) of collar \(collar.index)'s \(collar.nextSequence)"
        }
        for sequence in 0..<record.end where !record.mayBeLost(sequence) {
            if case .fix = host.storage.kept(sequence, of: identity) { continue }
            return "host \(host.index) has no fix \(sequence), which collar \(collar.index) has"
        }
        return nil
    }

    /// Why the world is not settled.
    var unsettledText: String {
        for collar in collars {
            if let text = disagreement(of: collar) { return text + ", delivered below \(collar.firstUndelivered)" }
            if !collar.isEverythingDelivered {
                return
                    "collar \(collar.index) counts only what is below \(collar.firstUndelivered) of "
                    + "\(collar.nextSequence) as delivered"
            }
        }
        return requestsHaveEnded ? "nothing is missing" : "a request has not ended, or settings are not agreed on"
    }
}
