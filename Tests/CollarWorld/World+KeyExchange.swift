import CollarARQ
import CollarHost
import CollarJournal
import CollarSimulator
import CollarWire

/// Users who change the keys of collars over cables, while everything else goes on.
extension World {
    /// A cable between a collar and a machine, and the program that exchanges keys there.
    struct Cable {
        let host: SimulatedMachine
        /// The machine's processes that had ended when the program was started: the program ends with the next one.
        let hostLife: Int
        var exchange: KeyExchange
        /// The last request of the program.
        var request: KeyExchange.Request?
    }

    private static let cableInterval: Int64 = 200_000
    private static let cableLoss = 0.2

    /// A user connects a collar to a machine, presses its button and starts the program.
    func beginKeyExchange(_ host: SimulatedMachine, _ collar: SimulatedCollar) {
        guard plan.isSealed, collar.isRunning, host.isRunning, cables[collar.index] == nil else { return }
        guard var keys = host.keys?.all, let receiverID = host.receiverID else { return }
        // Some users do not have the key at hand, as a person has not who has found the collar.
        if streams[.keyExchange].chance(0.2) { keys = [:] }
        log("a user begins to exchange keys with collar \(collar.index) at host \(host.index)")
        pressButton(of: collar)
        cables[collar.index] = Cable(
            host: host, hostLife: host.life,
            exchange: KeyExchange(keys: keys, receiverID: receiverID, now: Instant(microseconds: now)))
        queue.add(.cable(collar: collar.index), at: now + 1)
    }

    /// Lets the program at a cable and the collar go on.
    func pumpCable(_ collar: SimulatedCollar) {
        guard var cable = cables[collar.index] else { return }
        cables[collar.index] = nil
        // The program ends with the power of its machine. A user who sees its message, or none, does not start it again.
        guard cable.hostLife == cable.host.life, !cable.host.disk.isStopped else { return }
        let instant = Instant(microseconds: now)
        if case .storing(let deviceID, let key) = cable.exchange.stage {
            guard cable.host.keys?.keepPending(key, of: deviceID) == true else { return log("  the offered key cannot be stored") }
            cable.exchange.pendingKeyStored(now: instant)
        }
        while let frame = cable.exchange.nextFrame(now: instant) {
            if case .requesting(let request) = cable.exchange.stage { cable.request = request }
            for answer in give(frame, to: collar, &cable) where !streams[.keyExchange].chance(World.cableLoss) {
                cable.exchange.receive(answer.span, now: instant)
            }
        }
        if case .activating = cable.exchange.stage, !isCalm, streams[.keyExchange].chance(0.1) {
            return log("  the user stops the program")
        }
        switch cable.exchange.stage {
        case .finished(let deviceID, let key):
            guard cable.host.keys?.keepExchanged(key, of: deviceID) == true else { return log("  the new key cannot be stored") }
            log("  collar \(collar.index) has confirmed its new key")
            shareKeys()
        case .failed(let failure): log("  the exchange with collar \(collar.index) fails: \(failure)")
        case .findingCollar, .requesting, .storing, .activating:
            cables[collar.index] = cable
            queue.add(.cable(collar: collar.index), at: now + World.cableInterval)
        }
    }

    /// Gives a collar a frame from its cable, unless the frame is lost.
    /// - Returns: the frames that the collar sends on its cable.
    private func give(_ frame: [UInt8], to collar: SimulatedCollar, _ cable: inout Cable) -> [[UInt8]] {
        guard collar.isRunning, !streams[.keyExchange].chance(World.cableLoss) else { return [] }
        let isActivation = frame[0] & 0x1F == CableFrame.keyActivation.rawValue
        if isActivation, !isCalm, streams[.keyExchange].chance(0.3) {
            collar.flash.stepsUntilPowerCut = streams[.keyExchange].below(90)
        }
        let random = SealedFrames.randomKey(&streams[.keyExchange])
        let outcome = collar.receiveFromCable(frame, randomKey: random, now: now)
        switch outcome {
        case .answers(let answer):
            if let wrong = oracle.sealed.handsOutOnCable(answer, collar.deviceID) {
                oracle.report(.sealIsKept, "collar \(collar.index), on its cable: \(wrong)")
            }
            return [answer]
        case .changesKey, .fails:
            if case .activating(_, let key) = cable.exchange.stage {
                // If the flash failed, the next frames of the collar tell which key it has.
                oracle.sealed.mayHaveChanged(key, of: collar.deviceID)
                if cable.request == .foreign, let record = oracle.current[collar.index] {
                    record.isErased = true
                    if case .changesKey = outcome { record.isGivenUp = true }
                }
            } else if case .changesKey = outcome {
                oracle.report(.sealIsKept, "collar \(collar.index) changes its key without an activation")
            }
            powerDown(collar, "for its new key")
            return []
        case .ignored: return []
        }
    }

    /// Users copy the keys that their collars have to all machines. They know the keys that collars were made with, and those
    /// that a machine has taken into use.
    func shareKeys() {
        for collar in collars {
            for host in hosts {
                guard let key = host.keys?.all[collar.deviceID]?.key, oracle.sealed.isInForce(key, of: collar.deviceID) else { continue }
                oracle.sealed.learned(key, of: collar.deviceID)
            }
            for host in hosts { host.keys?.give(collar.deviceID) }
        }
    }
}
