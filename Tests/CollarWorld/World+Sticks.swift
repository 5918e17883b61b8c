import CollarARQ
import CollarSimulator
import RadioModems

/// Base radios that are sticks with other firmware. A stick listens and sends by its own rules; the modem of a running process
/// sets it up, and passes packets both ways.
///
/// The oracle claims of a stick, besides what it claims of every radio: it sends only with the settings that were chosen, and only
/// packets that the host of its port handed out, each once. It does not claim that a packet goes on the air while the collar still
/// waits for it: firmware that waits for a free channel may send it later.
extension World {
    /// When the stick of a radio or its modem has something to do next; nil if the radio has no stick in a port with power.
    func nextDeadline(ofStickOf radio: BaseRadio) -> Int64? {
        guard let port = radio.port, radio.isPlugged else { return nil }
        var due = port.stick.nextDeadline.microseconds
        if isReading(radio), let deadline = port.modemDeadline { due = min(due, deadline) }
        // A step of at least a microsecond, so that a deadline that does not move cannot stop time.
        return max(due, port.lastStep + 1)
    }

    /// Whether a process reads the port of a radio.
    private func isReading(_ radio: BaseRadio) -> Bool { radio.machine.isRunning && !radio.machine.isWaitingForDisk }

    /// A process opens the port of a radio.
    func open(_ radio: BaseRadio) {
        guard let port = radio.port else { return radio.machine.linkOpened(radio.number, now: now) }
        guard radio.machine.isRunning else { return }
        port.open(now: now)
        exchange(with: radio)
    }

    /// The stick of a radio loses power.
    func cutOff(_ radio: BaseRadio) {
        radio.life += 1
        radio.port?.restart(now: now)
    }

    /// A packet of the air reaches a stick.
    func hear(_ packet: [UInt8], at radio: BaseRadio) {
        radio.port?.hear(packet, now: now)
        exchange(with: radio)
    }

    /// The host has handed out the frames of an answer.
    func endAnswer(of radio: BaseRadio) {
        guard let port = radio.port, isReading(radio) else { return }
        port.modem?.flush(at: time)
        exchange(with: radio)
    }

    private var time: Instant { Instant(microseconds: now) }

    /// Passes everything on that waits between a host, its modem, the stick and the air.
    func exchange(with radio: BaseRadio) {
        guard let port = radio.port, radio.isPlugged, !port.isExchanging else { return }
        port.isExchanging = true
        port.lastStep = now
        var isMoving = true
        while isMoving {
            if isReading(radio) {
                // As in the receiver's loop: bytes first, then what is due.
                port.read(now: now)
                if let due = port.modemDeadline, due <= now { port.modem?.deadlineReached(at: time) }
                if passEvents(of: port, to: radio) { letHostWork(radio.machine) }
            }
            isMoving = port.moveBytes(now: now)
            if let next = port.nextTransmission(now: now) { transmit(next, radio, port) }
        }
        port.isExchanging = false
    }

    /// Passes the events of a modem to the host.
    /// - Returns: whether there were any.
    private func passEvents(of port: StickPort, to radio: BaseRadio) -> Bool {
        var hasAny = false
        while let event = port.modem?.nextEvent() {
            hasAny = true
            switch event {
            case .ready(let profile):
                port.noteReady()
                radio.machine.linkOpened(radio.number, now: now)
                radio.machine.setTiming(profile, of: radio.number)
            case .timing(let profile): radio.machine.setTiming(profile, of: radio.number)
            case .packet(let packet, let signal):
                statistics.stickPacketsUp += 1
                radio.machine.receive(packet: packet, signal: signal, on: radio.number, now: now)
            case .notice(let notice):
                log("  stick \(radio.index): \(notice)")
                if case .ready = notice { statistics.stickSetups += 1 }
            case .transmits, .airtime: break
            case .serialLine, .serialBytes: oracle.report(.sticksAreSetUp, "stick \(radio.index) is taken for a serial line")
            }
        }
        return hasAny
    }

    private func transmit(_ next: (frame: [UInt8], airtime: Int64, isOwed: Bool), _ radio: BaseRadio, _ port: StickPort) {
        statistics.stickPacketsDown += 1
        if !port.isSetUp { oracle.report(.sticksAreSetUp, "stick \(radio.index) sends with \(port.stick.radio)") }
        if !next.isOwed {
            oracle.report(.sticksSendOnce, "stick \(radio.index) sends a packet that its host did not hand out, or once more")
        }
        begin(.radio(radio.index), life: radio.life, airtime: next.airtime)
    }

    /// A stick has sent a packet.
    func transmissionEnded(of radio: BaseRadio) {
        radio.port?.onAir = nil
        radio.port?.stick.transmissionEnded(now: time)
        exchange(with: radio)
    }

    /// Tells each stick whether another station is on the channel.
    func noteChannelOfSticks() {
        for radio in radios {
            guard let port = radio.port, radio.isPlugged else { continue }
            let isBusy = air.contains { $0.end > now && $0.sender != .radio(radio.index) }
            port.stick.noteChannel(isBusy: isBusy, now: time)
            exchange(with: radio)
        }
    }

    /// A stick fails in one of the ways of its firmware.
    func disturbStick(_ radio: BaseRadio) {
        let faults: [StickFault] = [.reset, .reset, .stall, .garbage, .busy, .full]
        let fault = faults[streams[.radioSticks].below(faults.count)]
        guard let port = radio.port, radio.isPlugged else { return }
        log("stick \(radio.index): \(fault.rawValue)")
        if fault == .reset {
            statistics.stickResets += 1
            cutOff(radio)
        } else {
            statistics.stickFaults += 1
            port.stick.cause(fault, now: time)
        }
        exchange(with: radio)
    }
}
