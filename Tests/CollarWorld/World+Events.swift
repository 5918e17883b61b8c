import CollarFirmware
import CollarWire
import Glibc

extension World {
    /// Starts the stations, and schedules the first fixes, the faults and the calm.
    func begin() {
        for collar in collars {
            if collar.index == 0 { collar.flash.stepsUntilPowerCut = plan.scriptedPowerCut }
            boot(collar)
            queue.add(.makeFix(collar: collar.index), at: streams.other.between(0, plan.fixIntervalMicroseconds))
        }
        for host in hosts {
            host.disk.faults.shortWriteProbability = plan.faults.contains(.diskErrors) ? 0.1 : 0
            if host.index == 0 {
                host.disk.faults.operationsUntilStop = plan.scriptedDiskStop
                host.disk.faults.operationsUntilFailure = plan.scriptedFullDisk
                host.disk.faults.failureNumber = ENOSPC
            }
            start(host)
        }
        if plan.faults.contains(.fullDiskAtStart) {
            for host in hosts {
                host.disk.faults.room = streams[.fullDiskAtStart].below(300)
                queue.add(.endOfFault(.fullDisk, host.index), at: streams[.fullDiskAtStart].between(0, 20_000_000))
            }
        }
        if plan.faults.contains(.hostileSender) { queue.add(.attack, at: streams[.hostileSender].between(0, 3_000_000)) }
        if clone != nil { queue.add(.clone, at: streams[.clonedHost].between(0, plan.turbulentMicroseconds / 2)) }
        for host in hosts {
            for index in host.readers.indices { scheduleTurn(ofReader: index, of: host) }
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
        case .diskDone(let index, let life): diskDone(machines[index], life: life)
        case .restart(let index): start(machines[index])
        case .plug(let index): plug(radios[index])
        case .watchdog(let index, let life):
            if machines[index].life == life, machines[index].needsRestart { crash(machines[index], restartAfter: 10_000) }
        case .attack: attack()
        case .lastReboots: rebootWhereLossesWereForged()
        case .takeLines(let index):
            machines[index].isConsumerDue = false
            letHostWork(machines[index])
            checkSettled()
        case .fault(let kind): fault(kind)
        case .endOfFault(let kind, let index): endOfFault(kind, index)
        case .finish(let index, let life, let requestID, let outcome):
            finish(collars[index], life: life, requestID: requestID, outcome)
        case .rebootByCommand(let index, let life):
            if collars[index].life == life { powerDown(collars[index], "by a command") }
        case .calm: calm()
        case .clone: startClone()
        case .endOfClone: endClone()
        case .cable(let index): pumpCable(collars[index])
        case .readerTurn(let index, let reader): readerTurn(reader, of: machines[index])
        case .keysShared:
            shareKeys()
            queue.add(.keysShared, at: now + 5_000_000)
        }
    }

    func boot(_ collar: SimulatedCollar) {
        guard !collar.isRunning else { return }
        let randomLogID = UInt32(truncatingIfNeeded: streams.other.next())
        let key = plan.isSealed ? oracle.sealed.factoryKey(of: collar.deviceID) : nil
        guard collar.boot(randomLogID: randomLogID, key: key, now: now) else {
            log("collar \(collar.index) could not boot")
            powerDown(collar, "amid a boot")
            return
        }
        log(
            "collar \(collar.index) booted, log \(collar.oldestSequence)..<\(collar.nextSequence), "
                + "delivered below \(collar.firstUndelivered)")
        collar.pairingWindowEnd = 0
        oracle.booted(collar)
        pump(collar)
    }

    /// The collar loses its memory. Its power comes back within two seconds.
    func powerDown(_ collar: SimulatedCollar, _ when: String) {
        log("collar \(collar.index) loses power \(when)")
        statistics.reboots += 1
        collar.flash.losePower()
        collar.stop()
        collar.flash.restorePower()
        collar.flash.failureProbability =
            isCalm || !plan.faults.contains(.flashErrors) ? 0 : plan.flashFailureProbability
        let delay = streams[.powerCuts].between(1000, 2_000_000)
        queue.add(.boot(collar: collar.index, life: collar.life), at: now + delay)
    }

    private func makeFix(_ collar: SimulatedCollar) {
        guard !isCalm, collar.fixesMade < plan.fixLimit else { return }
        scheduleNextFix(collar)
        guard collar.isRunning else { return }
        let isMessage = plan.faults.contains(.messages) && streams[.messages].chance(0.2)
        let entry: LogEntry = isMessage ? .message(randomMessage()) : .fix(randomFix(collar))
        collar.fixesMade += 1
        let expected = collar.nextSequence
        guard let outcome = collar.append(entry) else { return }
        statistics.fixes += 1
        if case .success(let sequence) = outcome {
            log("collar \(collar.index) logged \(sequence)")
        } else {
            log("collar \(collar.index) failed to log \(expected)")
        }
        oracle.tried(entry, expected: expected, outcome, collar)
        if collar.flash.isPowerLost { return powerDown(collar, "while it logs \(expected)") }
        pump(collar)
    }

    private func scheduleNextFix(_ collar: SimulatedCollar) {
        var interval = streams.other.between(plan.fixIntervalMicroseconds / 2, plan.fixIntervalMicroseconds * 3 / 2)
        if collar.burstFixes > 0 {
            collar.burstFixes -= 1
            interval = streams[.fixBursts].between(100, 20_000)
        }
        queue.add(.makeFix(collar: collar.index), at: now + interval)
    }

    private func randomFix(_ collar: SimulatedCollar) -> Fix {
        let random = streams.other.next()
        return Fix(
            sequence: 0, unixMilliseconds: plan.startUnixMilliseconds + now / 1000 + collar.clockOffset,
            latitudeSteps: Int32(random % 1_000_000), longitudeSteps: Int32(random >> 20 % 1_000_000),
            altitudeSteps: random >> 40 & 1 == 0 ? nil : Int32(random >> 41 % 2000),
            speedDecimetersPerSecond: random >> 52 & 1 == 0 ? nil : UInt32(random >> 53 % 300),
            batteryPercent: UInt8(random >> 57 % 101))
    }

    func start(_ host: SimulatedMachine) {
        guard !host.isRunning, !host.isSwitchedOff else { return }
        guard host.start(now: now) else {
            log("host \(host.index) cannot open its state directory")
            queue.add(.restart(host: host.index), at: now + 1_000_000)
            return
        }
        log("host \(host.index) started")
        oracle.reopened(host)
        for radio in radios where radio.machine === host && radio.isPlugged { open(radio) }
        letHostWork(host)
    }

    func plug(_ radio: BaseRadio) {
        guard !radio.isPlugged, !radio.machine.isSwitchedOff else { return }
        log("radio \(radio.index) of host \(radio.machine.index) is plugged in again")
        radio.isPlugged = true
        radio.port?.powerUp(now: now)
        open(radio)
        letHostWork(radio.machine)
    }

    /// The process continues after it has read: it emits lines, sends frames and begins to commit new records.
    func letHostWork(_ host: SimulatedMachine) {
        guard host.isRunning, !host.isWaitingForDisk else { return }
        emitLines(host)
        speak(host)
        if host.needsRestart {
            queue.add(.watchdog(host: host.index, life: host.life), at: now + streams.other.between(500_000, 5_000_000))
        }
        guard host.isCommitDue else { return }
        host.beginCommit()
        let isSlow = !isCalm && plan.faults.contains(.slowSync) && streams[.slowSync].chance(0.2)
        let wait = isSlow ? streams[.slowSync].between(10_000, 3_000_000) : streams.other.between(100, 5000)
        queue.add(.diskDone(host: host.index, life: host.life), at: now + wait)
    }

    private func emitLines(_ host: SimulatedMachine) {
        host.emitLines(now: now)
        if !host.isEverythingTaken, !host.isConsumerDue {
            host.isConsumerDue = true
            queue.add(.takeLines(host: host.index), at: max(now + 100_000, host.consumer.awayUntil))
        }
    }

    private func diskDone(_ host: SimulatedMachine, life: Int) {
        guard host.life == life else { return }
        host.endCommit(now: now)
        letHostWork(host)
        for radio in radios where radio.machine === host { exchange(with: radio) }
        checkSettled()
    }

    private func speak(_ host: SimulatedMachine) {
        for (number, frame) in host.takeFrames() {
            guard let radio = radios.first(where: { $0.machine === host && $0.number == number }), radio.isPlugged else {
                continue
            }
            oracle.noteSent(frame)
            if let port = radio.port {
                port.send(frame)
                continue
            }
            radio.outbox.append(frame)
            // A base radio has room for a few packets. On a busy channel the oldest one that waits is worth the least; the
            // first frame is being sent.
            while radio.outbox.count > World.outboxLimit { radio.outbox.remove(at: 1) }
            sendNext(radio)
        }
        for radio in radios where radio.machine === host { endAnswer(of: radio) }
        if host.logCount > oracle.knownLogCount {
            oracle.report(.memoryIsBounded, "host \(host.index): \(host.logCount) logs")
        }
    }

    /// Kills the process, whose memory is lost; or cuts the power of its machine, so that what was not synced may be lost too.
    func crash(_ host: SimulatedMachine, restartAfter delay: Int64, losesPower: Bool = false) {
        if losesPower { statistics.hostPowerCuts += 1 }
        // If no process runs, the next start is already scheduled.
        guard host.isRunning else { return host.stop(losesPower: losesPower) }
        log("host \(host.index) \(losesPower ? "loses power" : "is killed")")
        statistics.crashes += 1
        host.stop(losesPower: losesPower)
        for radio in radios where radio.machine === host { silence(radio) }
        queue.add(.restart(host: host.index), at: now + delay)
    }

    /// A radio loses the frames that it was to send. A stick keeps what it has.
    func silence(_ radio: BaseRadio) {
        if let port = radio.port { return port.close() }
        radio.outbox = []
        radio.isSending = false
        radio.life += 1
    }
}
