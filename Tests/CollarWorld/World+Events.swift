import CollarWire
import Glibc

extension World {
    /// Everything that is due by itself.
    func begin() {
        for collar in collars {
            if collar.index == 0 { collar.flash.stepsUntilPowerCut = plan.scriptedPowerCut }
            boot(collar)
            queue.add(.makeFix(collar: collar.index), at: streams.other.between(0, plan.fixIntervalMicroseconds))
        }
        for host in hosts {
            host.storage.disk.faults.shortWriteProbability = plan.faults.contains(.diskErrors) ? 0.1 : 0
            if host.index == 0 {
                host.storage.disk.faults.operationsUntilStop = plan.scriptedDiskStop
                host.storage.disk.faults.operationsUntilFailure = plan.scriptedFullDisk
                host.storage.disk.faults.failureNumber = ENOSPC
            }
            start(host)
        }
        for kind in plan.faults.kinds where World.recurring.contains(kind) { scheduleFault(kind) }
        queue.add(.calm, at: plan.turbulentMicroseconds)
    }

    func handle(_ event: Event) {
        switch event {
        case .makeFix(let index): makeFix(collars[index])
        case .boot(let index, let life): if collars[index].life == life { boot(collars[index]) }
        case .send(let station, let life): send(station, life: life)
        case .sent(let station, let life, let transmission): sent(station, life: life, transmission: transmission)
        case .arrive(let station, let bytes, let isPacket): arrive(station, bytes, isPacket: isPacket)
        case .diskDone(let index, let life): diskDone(hosts[index], life: life)
        case .restart(let index): start(hosts[index])
        case .openPort(let index): openPort(hosts[index])
        case .askAgain(let index, let life): askAgain(hosts[index], life: life)
        case .retryCommit(let index, let life): if hosts[index].life == life { letHostWork(hosts[index]) }
        case .takeLines(let index):
            isConsumerDue[index] = false
            letHostWork(hosts[index])
            checkSettled()
        case .fault(let kind): fault(kind)
        case .endOfFault(let kind, let index): endOfFault(kind, index)
        case .finish(let index, let life, let requestID): finish(collars[index], life: life, requestID: requestID)
        case .rebootByOrder(let index, let life):
            if collars[index].life == life { powerDown(collars[index], "by an order") }
        case .calm: calm()
        }
    }

    func boot(_ collar: SimulatedCollar) {
        guard !collar.isRunning else { return }
        let randomLogID = UInt32(truncatingIfNeeded: streams.other.next())
        guard collar.boot(randomLogID: randomLogID, now: now) else {
            log("collar \(collar.index) could not boot")
            powerDown(collar, "amid a boot")
            return
        }
        log(
            "collar \(collar.index) booted, log \(collar.oldestSequence)..<\(collar.nextSequence), "
                + "delivered below \(collar.firstUndelivered)"
        )
        pairingWindowEnd[collar.index] = 0
        oracle.booted(collar)
        pump(collar)
    }

    /// Memory is gone; the power comes back soon.
    func powerDown(_ collar: SimulatedCollar, _ when: String) {
        log("collar \(collar.index) loses power \(when)")
        count { $0.reboots += 1 }
        collar.flash.losePower()
        collar.stop()
        collar.flash.restorePower()
        collar.flash.failureProbability =
            isCalm || !plan.faults.contains(.flashErrors) ? 0 : plan.flashFailureProbability
        let delay = streams[.powerCuts].between(1000, 2_000_000)
        queue.add(.boot(collar: collar.index, life: collar.life), at: now + delay)
    }

    private func makeFix(_ collar: SimulatedCollar) {
        guard !isCalm, fixesMade[collar.index] < plan.fixLimit else { return }
        scheduleNextFix(collar.index)
        guard collar.isRunning else { return }
        let fix = randomFix(collar.index)
        fixesMade[collar.index] += 1
        let expected = collar.nextSequence
        guard let outcome = collar.append(fix) else { return }
        count { $0.fixes += 1 }
        if case .logged(let sequence) = outcome {
            log("collar \(collar.index) logged \(sequence)")
        } else {
            log("collar \(collar.index) failed to log \(expected)")
        }
        oracle.tried(fix, expected: expected, outcome, collar)
        if collar.flash.isPowerLost {
            powerDown(collar, "while it logs \(expected)")
            return
        }
        pump(collar)
    }

    private func scheduleNextFix(_ index: Int) {
        var interval = streams.other.between(plan.fixIntervalMicroseconds / 2, plan.fixIntervalMicroseconds * 3 / 2)
        if burstFixes[index] > 0 {
            burstFixes[index] -= 1
            interval = streams[.fixBursts].between(100, 20_000)
        }
        queue.add(.makeFix(collar: index), at: now + interval)
    }

    private func randomFix(_ index: Int) -> Fix {
        let random = streams.other.next()
        return Fix(
            sequence: 0, unixMilliseconds: 1_700_000_000_000 + now / 1000 + clockOffset[index],
            latitudeSteps: Int32(random % 1_000_000), longitudeSteps: Int32(random >> 20 % 1_000_000),
            altitudeSteps: random >> 40 & 1 == 0 ? nil : Int32(random >> 41 % 2000),
            speedDecimetersPerSecond: random >> 52 & 1 == 0 ? nil : UInt32(random >> 53 % 300),
            batteryPercent: UInt8(random >> 57 % 101))
    }

    private func start(_ host: SimulatedHost) {
        guard !host.isRunning else { return }
        guard host.start() else {
            log("host \(host.index) cannot open its state directory")
            queue.add(.restart(host: host.index), at: now + 1_000_000)
            return
        }
        log("host \(host.index) started")
        oracle.reopened(host)
        openPort(host)
    }

    private func openPort(_ host: SimulatedHost) {
        guard host.isRunning, isPlugged[host.index] else { return }
        host.restartStream()
        host.ask(address: Frame.broadcastAddress, isAnswer: true, now: now)
        queue.add(.askAgain(host: host.index, life: host.life), at: now + 1_000_000)
        queue.add(.askAgain(host: host.index, life: host.life), at: now + 5_000_000)
        letHostWork(host)
    }

    private func askAgain(_ host: SimulatedHost, life: Int) {
        guard host.life == life, !host.isHeard, isPlugged[host.index] else { return }
        host.ask(address: Frame.broadcastAddress, now: now)
        letHostWork(host)
    }

    /// The process goes on after reading: it syncs what is new, and then says what it has to say.
    func letHostWork(_ host: SimulatedHost) {
        guard host.isRunning, host.unread == nil, emitLines(host) else { return }
        if host.storage.isCommitDue {
            host.beginCommit()
            let isSlow = !isCalm && plan.faults.contains(.slowSync) && streams[.slowSync].chance(0.2)
            let wait = isSlow ? streams[.slowSync].between(10_000, 3_000_000) : streams.other.between(100, 5000)
            queue.add(.diskDone(host: host.index, life: host.life), at: now + wait)
            return
        }
        speak(host)
    }

    private func emitLines(_ host: SimulatedHost) -> Bool {
        guard host.emitLines(now: now) else {
            crash(host, restartAfter: 1_000_000)
            return false
        }
        if !host.consumer.isAtEnd, !isConsumerDue[host.index] {
            isConsumerDue[host.index] = true
            queue.add(.takeLines(host: host.index), at: max(now + 100_000, host.consumer.awayUntil))
        }
        return true
    }

    private func diskDone(_ host: SimulatedHost, life: Int) {
        guard host.life == life else { return }
        let unread = host.endCommit()
        speak(host)
        if !unread.isEmpty {
            host.received(unread, now: now)
            letHostWork(host)
        } else if host.storage.isCommitDue {
            queue.add(.retryCommit(host: host.index, life: host.life), at: now + 1_000_000)
        }
        checkSettled()
    }

    private func speak(_ host: SimulatedHost) {
        let frames = host.takeFrames(now: now)
        guard isPlugged[host.index] else { return }
        for frame in frames { oracle.noteSent(frame) }
        outbox[host.index] += frames
        // A base radio has room for a few packets: on a busy channel the oldest that waits is worth least.
        while outbox[host.index].count > World.outboxLimit { outbox[host.index].remove(at: 1) }
        checkMemory(host)
        sendNext(host)
    }

    /// Kill -9, and the memory of the process is gone; or the power fails, and what was not synced is gone too.
    func crash(_ host: SimulatedHost, restartAfter delay: Int64, losesPower: Bool = false) {
        if losesPower { count { $0.hostPowerCuts += 1 } }
        guard host.isRunning else {
            // What cannot start is started again anyway.
            host.storage.stop(losesPower: losesPower)
            return
        }
        log("host \(host.index) \(losesPower ? "loses power" : "is killed")")
        count { $0.crashes += 1 }
        host.stop(losesPower: losesPower)
        outbox[host.index] = []
        isHostSending[host.index] = false
        queue.add(.restart(host: host.index), at: now + delay)
    }

    private func checkMemory(_ host: SimulatedHost) {
        let logCount = host.sessions.reduce(0) { $0 + $1.deliveries.count }
        if logCount > oracle.records.count {
            oracle.report(.memoryIsBounded, "host \(host.index): \(logCount) logs")
        }
    }
}
