import CollarWire
import Glibc

extension World {
    /// Faults that happen at moments.
    static let recurring: [FaultKind] = [
        .unplugging, .collarReboots, .powerCuts, .flashDecay, .logErase, .hostCrashes, .syncFailures, .fullDisk,
        .storageDamage, .clockJumps, .fixBursts, .flashErrors, .requests, .repairing, .hostPowerCuts, .diskErrors,
        .readOnlyDisk, .slowConsumer,
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
        case .hostCrashes, .hostPowerCuts: stop(host, kind)
        case .syncFailures, .fullDisk, .diskErrors, .readOnlyDisk: disturbDisk(host, kind)
        case .slowConsumer:
            host.consumer.appetite = 1 + streams[kind].below(20)
            host.consumer.awayUntil = now + streams[kind].between(100_000, 20_000_000)
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
        case .syncFailures, .fullDisk, .diskErrors, .readOnlyDisk: endDisturbance(hosts[index], kind)
        default: break
        }
    }

    /// A host's process is killed or its machine loses power, at once or amid one of the next file operations.
    private func stop(_ host: SimulatedHost, _ kind: FaultKind) {
        let losesPower = kind == .hostPowerCuts
        if streams[kind].chance(0.5) {
            losesPowerAtStop[host.index] = losesPower
            host.storage.disk.faults.operationsUntilStop = streams[kind].below(16)
        } else {
            crash(host, restartAfter: streams[kind].between(1000, 5_000_000), losesPower: losesPower)
        }
    }

    private func disturbDisk(_ host: SimulatedHost, _ kind: FaultKind) {
        log("host \(host.index)'s disk: \(kind)")
        switch kind {
        case .syncFailures: host.storage.disk.faults.isNextSyncFailing = true
        case .fullDisk where streams[kind].chance(0.3), .diskErrors where streams[kind].chance(0.3):
            host.storage.disk.faults.operationsUntilFailure = streams[kind].below(20)
            host.storage.disk.faults.failureNumber = kind == .fullDisk ? ENOSPC : EIO
        case .fullDisk: host.storage.disk.faults.room = streams[kind].below(700)
        case .diskErrors: host.storage.disk.faults.errorProbability = streams[kind].fraction(0.02, 0.5)
        default: host.storage.disk.faults.isReadOnly = true
        }
        queue.add(.endOfFault(kind, host.index), at: now + streams[kind].between(100_000, 8_000_000))
    }

    private func endDisturbance(_ host: SimulatedHost, _ kind: FaultKind) {
        log("host \(host.index)'s disk: end of \(kind)")
        switch kind {
        case .syncFailures: host.storage.disk.faults.isNextSyncFailing = false
        case .fullDisk: host.storage.disk.faults.room = nil
        case .diskErrors: host.storage.disk.faults.errorProbability = 0
        default: host.storage.disk.faults.isReadOnly = false
        }
        // Whoever watches the host restarts what stopped storing.
        if host.storage.needsRestart { crash(host, restartAfter: 10_000) } else { letHostWork(host) }
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
        crash(host, restartAfter: 50_000, losesPower: true)
        let lost = host.storage.damage(&streams[.storageDamage])
        log("host \(host.index)'s disk is damaged, \(lost.count) records are gone")
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
            host.storage.disk.faults = DiskFaults()
            host.consumer.awayUntil = 0
            host.consumer.appetite = .max
            if host.isRunning, host.storage.needsRestart { crash(host, restartAfter: 1000) }
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
        for host in hosts {
            guard host.isRunning, host.consumer.isAtEnd, !host.storage.isCommitDue else { return }
        }
        for host in hosts { oracle.checkEmission(of: host) }
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
        for host in hosts where !host.isRunning || !host.consumer.isAtEnd || host.storage.isCommitDue {
            return "host \(host.index) runs: \(host.isRunning), its consumer has everything: \(host.consumer.isAtEnd)"
        }
        return requestsHaveEnded ? "nothing is missing" : "a request has not ended, or settings are not agreed on"
    }
}
