import CollarWire

extension World {
    /// Lets a collar hand out its next frame, if it has one.
    /// - Returns: whether the collar has a frame to send; true also if an earlier frame waits or the collar does not run.
    @discardableResult
    func pump(_ collar: SimulatedCollar) -> Bool {
        guard collar.isRunning, collar.outgoing == nil else { return true }
        guard let frame = collar.nextFrame(now: now) else { return false }
        oracle.handsOut(frame, collar)
        oracle.noteSent(frame)
        collar.outgoing = frame
        queue.add(.send(.collar(collar.index), life: collar.life), at: now + backoff(frame))
        return true
    }

    /// The stations of a shared channel do not begin to send at the same moment: each waits for a random part of the frame's
    /// airtime.
    private func backoff(_ frame: [UInt8]) -> Int64 {
        guard plan.isHalfDuplex else { return 0 }
        return streams.other.between(0, plan.modem.airtimeMicroseconds(frameByteCount: frame.count))
    }

    /// Whether a station that listens before it sends hears another one.
    private func isChannelBusy(for station: Station) -> Bool {
        guard plan.isHalfDuplex else { return false }
        if case .collar = station, !isCalm, plan.faults.contains(.hiddenCollars) { return false }
        return air.contains { $0.end > now }
    }

    /// A station begins to send its waiting frame.
    func send(_ station: Station, life: Int) {
        guard let frame = outgoing(of: station, life: life) else { return }
        if isChannelBusy(for: station) {
            let free = air.reduce(now) { max($0, $1.end) }
            queue.add(.send(station, life: life), at: free + 1 + backoff(frame))
            return
        }
        begin(station, life: life, airtime: plan.modem.airtimeMicroseconds(frameByteCount: frame.count))
    }

    /// A station is on the air from now on.
    func begin(_ station: Station, life: Int, airtime: Int64) {
        transmissionCount += 1
        air.removeAll { $0.end < now - 30_000_000 }
        let listeners = collars.filter { $0.isListening(now: now) }.map(\.index)
        air.append(Transmission(id: transmissionCount, sender: station, start: now, end: now + airtime, listeners: listeners))
        queue.add(.sent(station, life: life, transmission: transmissionCount), at: now + airtime)
        noteChannelOfSticks()
    }

    private func outgoing(of station: Station, life: Int) -> [UInt8]? {
        switch station {
        case .collar(let index): collars[index].life == life ? collars[index].outgoing : nil
        case .radio(let index): radios[index].life == life ? radios[index].port?.onAir ?? radios[index].outbox.first : nil
        case .attacker: attacker.outgoing
        }
    }

    /// A transmission is over.
    func sent(_ station: Station, life: Int, transmission id: Int) {
        guard let frame = outgoing(of: station, life: life), let position = air.lastIndex(where: { $0.id == id }) else {
            log("\(station) was cut off while it sent")
            return
        }
        let transmission = air[position]
        switch station {
        case .collar(let index):
            statistics.uplinkFrames += 1
            collars[index].frameSent(now: now)
            oracle.transmitted(index, airtime: transmission.end - transmission.start)
            log("collar \(index) sent \(FrameText(oracle.clearForm(of: frame), collars[index].log))")
            attacker.overheard(frame, clear: oracle.clearForm(of: frame))
            for radio in radios { carry(frame, transmission, to: .radio(radio.index), over: &radio.uplink) }
            pump(collars[index])
        case .radio(let index):
            statistics.downlinkFrames += 1
            let radio = radios[index]
            if radio.port == nil { radio.outbox.removeFirst() }
            let clear = oracle.clearForm(of: frame)
            log("host \(radio.machine.index) sent \(FrameText(clear, oracle.record(checking: clear)?.log))")
            attacker.overheard(frame, clear: clear)
            for collar in collars { carry(frame, transmission, to: .collar(collar.index), over: &radio.downlink) }
            radio.isSending = false
            if radio.port == nil { sendNext(radio) } else { transmissionEnded(of: radio) }
        case .attacker:
            attacker.outgoing = nil
            log("somebody sent \(FrameText(frame, oracle.record(checking: frame)?.log))")
            for radio in radios { carry(frame, transmission, to: .radio(radio.index), over: &radio.uplink) }
            for collar in collars { carry(frame, transmission, to: .collar(collar.index), over: &radios[0].downlink) }
        }
        noteChannelOfSticks()
    }

    /// A radio begins to send its next frame.
    func sendNext(_ radio: BaseRadio) {
        guard !radio.isSending, let frame = radio.outbox.first else { return }
        radio.isSending = true
        queue.add(.send(.radio(radio.index), life: radio.life), at: now + backoff(frame))
    }

    private func carry(_ frame: [UInt8], _ transmission: Transmission, to station: Station, over channel: inout Channel) {
        let number = framesAired
        framesAired += 1
        if number < 64, plan.scriptedLosses >> UInt64(number) & 1 == 1 {
            log("  lost on the way to \(station)")
            return
        }
        let deliveries = channel.carry(frame, &streams)
        if deliveries.isEmpty { log("  lost on the way to \(station)") }
        if plan.isHalfDuplex, let other = interferer(of: transmission) {
            log("  not heard by \(station): \(other) was sending")
            return
        }
        if plan.isHalfDuplex, case .collar(let index) = station, !transmission.listeners.contains(index) {
            log("  not heard by \(station): its radio slept")
            return
        }
        let isPacket = !channel.isStream
        for delivery in deliveries where !delivery.bytes.isEmpty {
            queue.add(.arrive(station, bytes: delivery.bytes, isPacket: isPacket), at: now + delivery.delay)
        }
    }

    /// The sender of a transmission that overlaps this one; nil if there is none. It may be the listener itself.
    private func interferer(of transmission: Transmission) -> Station? {
        air.first { $0.id != transmission.id && $0.start < transmission.end && $0.end > transmission.start }?.sender
    }

    /// Bytes arrive.
    func arrive(_ station: Station, _ bytes: [UInt8], isPacket: Bool) {
        switch station {
        case .radio(let index):
            let radio = radios[index]
            guard radio.isPlugged else { return }
            guard radio.port == nil else { return hear(bytes, at: radio) }
            // A base radio passes packets on over its own serial line, which has no faults.
            let serial = isPacket && bytes.count <= Frame.maximumByteCount ? Channel.stuffed(bytes) : bytes
            radio.machine.receive(serial, on: radio.number, now: now)
            letHostWork(radio.machine)
        case .collar(let index):
            let collar = collars[index]
            guard collar.isRunning else { return }
            for frame in isPacket ? [bytes] : collar.frames(in: bytes) { receive(frame, collar) }
        case .attacker: break
        }
    }

    private func receive(_ frame: [UInt8], _ collar: SimulatedCollar) {
        guard collar.isRunning, let isGenuine = oracle.isGenuine(frame) else { return }
        // A collar with a key ignores what it has accepted before, and what comes too late.
        if isGenuine, !plan.isSealed { oracle.reaches(frame, collar) }
        let formerReceiver = collar.pairedReceiverID
        let outcome = collar.receive(frame, now: now)
        if isGenuine, plan.isSealed, outcome != .ignored { oracle.reaches(frame, collar) }
        if plan.isSealed, outcome != .ignored, frame[1] & 0x80 != 0 {
            if !collar.acceptedFrames.insert(frame).inserted {
                oracle.report(.sealIsKept, "collar \(collar.index) accepts a frame twice")
            }
            if oracle.sender(of: frame) != nil {
                oracle.report(.sealIsKept, "collar \(collar.index) accepts a frame of a collar")
            }
        }
        let frame = oracle.clearForm(of: frame)
        if outcome != .ignored {
            log(
                "collar \(collar.index) heard \(FrameText(frame, collar.log)), "
                    + "delivered below \(collar.firstUndelivered)")
            if !isGenuine {
                oracle.report(.damageIsRejected, "collar \(collar.index) accepts \(FrameText(frame, collar.log))")
            }
        }
        if isGenuine { requestWasTaken(frame, collar, outcome, formerReceiver: formerReceiver) }
        if collar.flash.isPowerLost { return powerDown(collar, "amid a write") }
        oracle.check(collar)
        pump(collar)
        checkSettled()
    }
}
