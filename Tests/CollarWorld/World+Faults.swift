import CollarWire
import Glibc

extension World {
    /// The faults that happen at random times.
    static let recurring: [FaultKind] = [
        .unplugging, .collarReboots, .powerCuts, .flashDecay, .logErase, .hostCrashes, .syncFailures, .fullDisk,
        .storageDamage, .clockJumps, .fixBursts, .flashErrors, .requests, .repairing, .hostPowerCuts, .diskErrors,
        .readOnlyDisk, .slowConsumer, .hostClockJumps, .stateRollback, .stateRemoval, .foreignFiles,
        .receiverMove, .messages, .keyExchange, .radioSticks,
    ]

    func scheduleFault(_ kind: FaultKind) {
        let mean =
            switch kind {
            case .logErase, .flashDecay, .stateRollback, .stateRemoval, .receiverMove: plan.faultIntervalMicroseconds * 3
            case .powerCuts: plan.faultIntervalMicroseconds / 3
            case .requests, .messages: plan.faultIntervalMicroseconds / 8
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
        case .unplugging: unplug(radios[streams[kind].below(radios.count)])
        case .collarReboots: if collar.isRunning { powerDown(collar, "by a reboot") }
        case .powerCuts:
            switch streams[kind].below(5) {
            case 0, 1: collar.flash.stepsUntilPowerCut = streams[kind].below(120)
            case 2, 3: collar.flash.stepsFromEraseUntilPowerCut = streams[kind].below(100)
            default: collar.stepsIntoRequestUntilPowerCut = streams[kind].below(60)
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
        case .clockJumps: collar.clockOffset += streams[kind].between(-86_400_000, 86_400_000)
        case .requests: makeRequest(host, collar)
        case .messages: makeMessage(host, collar)
        case .repairing: changePairing(host, collar)
        case .hostClockJumps: jumpClock(host)
        case .stateRollback: replaceState(host)
        case .stateRemoval: removeState(host)
        case .receiverMove: moveReceiver(host)
        case .foreignFiles: addForeignFile(host)
        case .keyExchange: beginKeyExchange(host, collar)
        case .radioSticks: disturbStick(radios[streams[kind].below(radios.count)])
        case .fixBursts: collar.burstFixes = streams[kind].below(60)
        case .loss, .burstLoss, .duplication, .delay, .bitFlips, .truncation, .noise, .hiddenCollars, .slowSync,
            .rivalReceiver, .equalAddresses, .liveForm, .severalRadios, .fullDiskAtStart, .hostileSender,
            .retention, .sealing, .clonedHost, .readers, .removal:
            break
        }
    }

    func endOfFault(_ kind: FaultKind, _ index: Int) {
        log("host \(index): end of \(kind)")
        let host = hosts[index]
        switch kind {
        case .syncFailures: host.disk.faults.isNextSyncFailing = false
        case .fullDisk: host.disk.faults.room = nil
        case .diskErrors: host.disk.faults.errorProbability = 0
        case .stateRemoval: crash(host, restartAfter: 10_000)
        default: host.disk.faults.isReadOnly = false
        }
        // A user who watches the host restarts a process that has stopped storing.
        if host.needsRestart { crash(host, restartAfter: 10_000) } else { letHostWork(host) }
    }

    /// Kills a host's process or cuts its machine's power, at once or in the middle of one of the next file operations.
    private func stop(_ host: SimulatedMachine, _ kind: FaultKind) {
        let losesPower = kind == .hostPowerCuts
        if streams[kind].chance(0.5) {
            host.losesPowerAtStop = losesPower
            host.disk.faults.operationsUntilStop = streams[kind].below(16)
        } else {
            crash(host, restartAfter: streams[kind].between(1000, 5_000_000), losesPower: losesPower)
        }
    }

    private func disturbDisk(_ host: SimulatedMachine, _ kind: FaultKind) {
        log("host \(host.index)'s disk: \(kind)")
        switch kind {
        case .syncFailures: host.disk.faults.isNextSyncFailing = true
        case .fullDisk where streams[kind].chance(0.3), .diskErrors where streams[kind].chance(0.3):
            host.disk.faults.operationsUntilFailure = streams[kind].below(20)
            host.disk.faults.failureNumber = kind == .fullDisk ? ENOSPC : EIO
        case .fullDisk: host.disk.faults.room = streams[kind].below(700)
        case .diskErrors: host.disk.faults.errorProbability = streams[kind].fraction(0.02, 0.5)
        default: host.disk.faults.isReadOnly = true
        }
        queue.add(.endOfFault(kind, host.index), at: now + streams[kind].between(100_000, 8_000_000))
    }

    private func unplug(_ radio: BaseRadio) {
        guard radio.isPlugged else { return }
        log("radio \(radio.index) of host \(radio.machine.index) is unplugged")
        radio.isPlugged = false
        silence(radio)
        if radio.port != nil { cutOff(radio) }
        radio.machine.linkClosed(radio.number, now: now)
        letHostWork(radio.machine)
        queue.add(.plug(radio: radio.index), at: now + streams[.unplugging].between(100_000, 10_000_000))
    }

    /// Sets the machine's clock to a wrong time or to the right one.
    private func jumpClock(_ host: SimulatedMachine) {
        let start = plan.startUnixMilliseconds
        let errors: [Int64] = [-start, 4_260_000_000_000 - start, 0, streams[.hostClockJumps].between(-86_400_000, 86_400_000)]
        host.clockErrorMilliseconds = errors[streams[.hostClockJumps].below(errors.count)]
        log("host \(host.index)'s clock is wrong by \(host.clockErrorMilliseconds) ms")
    }

    /// Lets the newest block of a collar decay, but only if the collar certainly knows that everything in its log is delivered.
    /// A flash that fails to keep the watermark and then also loses the log has lost everything.
    private func decay(_ collar: SimulatedCollar) {
        guard !plan.faults.contains(.flashErrors), collar.isRunning, collar.isEverythingDelivered,
            collar.nextSequence > 0, let block = collar.flash.lastLogBlock, collar.pairedReceiverID != 0
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
        oracle.current[collar.index]?.isErased = true
        guard plan.isSealed else { return }
        // The key was erased, too. The user makes another one, and gives it to the collar and the hosts.
        oracle.sealed.erased(collar.deviceID)
        for host in hosts { host.keys?.give(collar.deviceID) }
    }

    private func damage(_ host: SimulatedMachine) {
        guard host.isRunning else { return }
        crash(host, restartAfter: 50_000, losesPower: true)
        // The host has stored some lost fixes again. If this damage removes them a second time, that is another loss.
        for record in oracle.records { _ = record.firstLostPromise(of: host) }
        let lost = host.records.damage(&streams[.storageDamage])
        host.recordsWereDamaged()
        log("host \(host.index)'s disk is damaged, \(lost.count) records are gone")
        for record in lost { oracle.record(of: record.log)?.lost(record, by: host.index) }
    }

    func calm() {
        log("calm")
        isCalm = true
        endClone()
        var quiet = ChannelPlan()
        quiet.loss = plan.calmLoss
        for radio in radios {
            radio.uplink.plan = quiet
            radio.downlink.plan = quiet
            plug(radio)
        }
        for collar in collars {
            collar.flash.failureProbability = 0
            collar.flash.stepsUntilPowerCut = nil
            collar.flash.stepsFromEraseUntilPowerCut = nil
            collar.stepsIntoRequestUntilPowerCut = nil
        }
        for host in hosts {
            host.disk.faults = DiskFaults()
            for reader in host.readers { reader.calm() }
            host.consumer.awayUntil = 0
            host.consumer.appetite = .max
            if host.isRunning, host.needsRestart { crash(host, restartAfter: 1000) }
            letHostWork(host)
        }
        queue.add(.lastReboots, at: now + 5_000_000)
        if plan.isSealed, plan.faults.contains(.keyExchange) { queue.add(.keysShared, at: now) }
        checkSettled()
    }

    /// Ends the run when everything has arrived and both ends agree.
    func checkSettled() {
        guard isCalm, !isSettled else { return }
        takeBackReleasedCollars()
        guard collars.allSatisfy({ $0.isRunning && $0.isEverythingDelivered && disagreement(of: $0) == nil }),
            requestsHaveEnded,
            hosts.allSatisfy({ $0.isRunning && !$0.isWaitingForDisk && $0.isEverythingTaken && !$0.isCommitDue })
        else { return }
        for host in hosts {
            oracle.checkEmission(of: host, receivers: collars.map(\.pairedReceiverID))
            for reader in host.readers { finish(reader, of: host) }
        }
        log("everything has arrived")
        isSettled = true
    }

    /// The first difference between a collar's log and the storage of its receiver, in words; nil if there is none.
    func disagreement(of collar: SimulatedCollar) -> String? {
        guard let record = oracle.current[collar.index], let identity = collar.log else { return nil }
        guard let host = hosts.first(where: { $0.receiverID == collar.pairedReceiverID }) else {
            return collar.nextSequence == 0 ? nil : "collar \(collar.index) has no receiver"
        }
        let durable = host.durable(of: identity)
        if durable.firstMissing < collar.nextSequence {
            return "host \(host.index) misses \(durable.firstMissing) of collar \(collar.index)'s \(collar.nextSequence)"
        }
        let forgotten = record.hosts[host.index].forgotten
        for sequence in record.base..<record.end where !record.mayBeLost(sequence) && !forgotten.contains(sequence) {
            if case .entry = host.records.kept(sequence, of: identity) { continue }
            return "host \(host.index) has no \(sequence), which collar \(collar.index) has"
        }
        return nil
    }

    /// Why the world is not settled.
    var unsettledText: String {
        for collar in collars {
            if let text = disagreement(of: collar) { return text + ", delivered below \(collar.firstUndelivered)" }
            if !collar.isEverythingDelivered {
                return "collar \(collar.index) counts only what is below \(collar.firstUndelivered) of "
                    + "\(collar.nextSequence) as delivered"
            }
        }
        for host in hosts where !host.isRunning || !host.isEverythingTaken || host.isCommitDue {
            return "host \(host.index) runs: \(host.isRunning), its consumer has everything: \(host.isEverythingTaken)"
        }
        return requestsHaveEnded ? "nothing is missing" : "a request has not ended, or settings are not agreed on"
    }
}
