import CollarWire

extension World {
    /// The hostile sender sends a frame.
    func attack() {
        guard !isCalm else { return }
        queue.add(.attack, at: now + streams[.hostileSender].between(attacker.leastPause, attacker.leastPause * 40))
        guard attacker.outgoing == nil else { return }
        guard !plan.isSealed else {
            switch attacker.makeSealedFrame() {
            case .repeated(let frame): attacker.outgoing = frame
            case .forged(let frame):
                oracle.noteForged(frame)
                attacker.outgoing = frame
            case .request(let frame):
                oracle.noteSent(frame)
                attacker.outgoing = frame
            }
            queue.add(.send(.attacker, life: 0), at: now)
            return
        }
        let made = attacker.makeFrame { [oracle, machines, plan] log in
            // A fix with other content cannot replace a fix that every machine has on its disk, unless a disk loses that fix.
            guard plan.faults.isDisjoint(with: [.stateRollback, .stateRemoval, .storageDamage]), let record = oracle.record(of: log)
            else { return 0..<0 }
            let isKeptByAll = { (sequence: UInt32) in
                machines.allSatisfy {
                    if case .entry = $0.records.kept(sequence, of: log) { true } else { $0.isSwitchedOff }
                }
            }
            return record.base..<((record.base..<record.end).first { !isKeptByAll($0) } ?? record.end)
        }
        if let log = made.log { oracle.inventedLogs.append(log) }
        if let loss = made.loss { oracle.record(of: loss.log)?.noteForgedLoss(of: loss.range) }
        oracle.noteSent(made.frame)
        attacker.outgoing = made.frame
        queue.add(.send(.attacker, life: 0), at: now)
    }

    /// Reboots each collar with forged losses whose receiver still lacks fixes. A host requests fixes that were reported as
    /// lost only after the first identity of a new boot.
    func rebootWhereLossesWereForged() {
        for collar in collars where collar.isRunning && disagreement(of: collar) != nil {
            guard oracle.current[collar.index]?.hasForgedLosses == true else { continue }
            powerDown(collar, "once more")
        }
        queue.add(.lastReboots, at: now + 300_000_000)
    }
}
