/// A second machine with a copy of the first host's disk.
///
/// The clone and the host have one receiver id, so what either acknowledges counts as delivered for the collar. Each machine
/// must have on its own disk what it has acknowledged itself. The clone is switched off for good before the calm. Then the host
/// must get everything that a collar still has, also if only the clone has acknowledged it; the rest is gone, and the host must
/// report it as lost.
extension World {
    /// The clone is made and starts.
    func startClone() {
        guard let clone, !isCalm else { return }
        let host = hosts[0]
        guard host.isRunning, !host.isStateRemoved else {
            // The disk may lack the receiver or the keys, which users give to a host before it starts.
            return queue.add(.clone, at: now + 1_000_000)
        }
        log("a clone of host 0 starts as host \(clone.index)")
        statistics.clones += 1
        // A snapshot of a disk alone lacks what the system has not written yet.
        clone.copyDisk(of: host, withCache: streams[.clonedHost].chance(0.5))
        clone.isSwitchedOff = false
        oracle.cloned(host, as: clone)
        for radio in radios where radio.machine === clone { radio.isPlugged = true }
        start(clone)
        queue.add(.endOfClone, at: streams[.clonedHost].between(now, plan.turbulentMicroseconds))
    }

    /// The clone is switched off for good.
    func endClone() {
        guard let clone, !clone.isSwitchedOff else { return }
        let alone = oracle.acknowledged(by: clone, butNotOnDiskOf: hosts[0])
        statistics.fixesOfClonesAlone += alone
        log(
            "the clone is switched off; polls answered twice: \(oracle.sealed.pollsAnsweredTwice), differently: "
                + "\(oracle.sealed.pollsAnsweredDifferently); fixes that it alone has: \(alone)")
        clone.isSwitchedOff = true
        clone.stop(losesPower: streams[.clonedHost].chance(0.5))
        for radio in radios where radio.machine === clone {
            radio.isPlugged = false
            silence(radio)
            if radio.port != nil { cutOff(radio) }
        }
        oracle.reopened(clone)
    }
}
