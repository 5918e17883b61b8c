import CollarARQ
import CollarConfiguration
import CollarHost
import CollarJournal
import CollarPorts
import CollarWire
import RadioModems
import SerialDevices

/// Modems at open lines, and the bytes that pass between a line, its modem and the host.
extension RadioPorts {
    func beginModem(of port: RadioPort, report: PortOpening.Report, at time: HostTime) {
        guard let connection = port.connection else { return }
        if port.modem != nil { detachModem(of: port, isLost: false, at: time) }
        let device = connection.kind == .board ? port.device : nil
        port.stickName = port.networkAddress == nil ? device?.stickName : port.path
        var opening = PortOpening(report: report, kind: connection.kind)
        opening.modem = configuration.radio.modem(
            path: port.path, serialNumber: device?.serialShort, idPath: device?.idPath, node: device?.node)
        port.isDialectNamed = opening.modem.dialect != nil
        // A stick with this project's firmware says so itself.
        if opening.modem.dialect == nil, device?.hasCollarFirmware == true { opening.modem.dialect = .serial }
        opening.remembered = port.stickName.flatMap { memory.dialect(of: $0) }
        opening.isRested = airtime.isRested(at: time.unixMilliseconds)
        opening.roundTripMicroseconds = connection.roundTripMicroseconds
        beginModem(of: port, opening, at: time)
    }

    private func beginModem(of port: RadioPort, _ opening: PortOpening, at time: HostTime) {
        capture?.note(.opened(opening), port: port.path, at: time)
        port.modem = RadioModem(
            opening.modem, kind: opening.kind, remembered: opening.remembered, isRested: opening.isRested,
            roundTripMicroseconds: opening.roundTripMicroseconds, at: time.instant)
        pump(port, at: time)
    }

    func detachModem(of port: RadioPort, isLost: Bool, at time: HostTime) {
        capture?.note(isLost ? .unplugged : .closed, port: port.path, at: time)
        host.linkClosed(port.link, at: time)
        port.modem = nil
        port.isAirtimeShort = false
    }

    /// Passes the events of a port's modem to the host and the owner, and its bytes to the line.
    func pump(_ port: RadioPort, at time: HostTime) {
        while let event = port.modem?.nextEvent() {
            switch event {
            case .serialLine(let heard):
                capture?.note(.found(.serial), port: port.path, at: time)
                rememberDialect(of: port)
                host.linkOpened(port.link, isLineNamed: port.isDialectNamed, at: time)
                host.receive(heard.span, on: port.link, at: time)
            case .serialBytes(let bytes):
                rememberDialect(of: port)
                host.receive(bytes.span, on: port.link, at: time)
            case .ready(let profile):
                if let dialect = port.modem?.dialect { capture?.note(.found(dialect), port: port.path, at: time) }
                rememberDialect(of: port)
                host.linkOpened(port.link, timing: profile, at: time)
            case .timing(let profile): host.setTiming(profile, of: port.link)
            case .packet(let packet, let signal):
                host.receive(packet: packet.span, signal: signal, on: port.link, at: time)
            case .transmits(let microseconds):
                airtimeMicroseconds += microseconds
                airtime.noteTransmission(at: time.unixMilliseconds)
            case .airtime(let isShort):
                port.isAirtimeShort = isShort
                host.setAirtimeShort(isShort, of: port.link)
            case .notice(let notice): report(.modem(path: port.path, notice))
            }
        }
        if port.queueModemBytes() { report(.cannotSend(path: port.path)) }
        flush(port, at: time)
    }

    /// Remembers the dialect of a stick, unless it is only assumed.
    private func rememberDialect(of port: RadioPort) {
        guard let modem = port.modem, let dialect = modem.dialect, let name = port.stickName else { return }
        if modem.isTransparent || dialect != .serial { memory.remember(dialect, of: name) }
    }

    /// Sets the modem of an unhealthy collar's radio up once more, at a line that is opened again where that is safe.
    func renew(_ link: LinkID, for deviceID: DeviceID, at time: HostTime) {
        guard let port = portOfLink[link], let connection = port.connection else { return }
        report(.renewing(path: port.path, deviceID: deviceID))
        // A capture has the record of the next opening.
        guard !(connection is RecordedConnection) else { return detachModem(of: port, isLost: false, at: time) }
        machine.renew(port.id, isPseudoTerminal: (connection as? SerialPort)?.isPseudoTerminal == true, at: time.instant)
    }

    /// Does what a record of a capture says: the ports of this machine are left alone.
    func play(_ record: CaptureRecord, at time: HostTime) throws(ReceiverError) {
        switch record.event {
        case .began, .ended: for port in ports where port.connection != nil { closeRecorded(port, at: time) }
        case .opened(let opening):
            let port = ports.first { $0.path == record.port } ?? addRecorded(record.port)
            if port.connection != nil { closeRecorded(port, at: time) }
            port.connection = RecordedConnection(opening)
            machine.replayOpening(port.id, isReported: opening.report != .firstBytes, at: time.instant)
            if opening.report == .now { report(.port(path: port.path, .opened(node: nil))) }
            beginModem(of: port, opening, at: time)
        case .read(let bytes):
            guard let port = openPort(at: record.port) else { return }
            machine.bytesCame(port.id)
            try obey(at: time)
            receive(bytes.span, at: port, time)
        case .closed: if let port = openPort(at: record.port) { closeRecorded(port, at: time) }
        case .unplugged:
            guard let port = openPort(at: record.port) else { return }
            machine.replayUnplugging(port.id)
            try obey(at: time)
        case .wrote, .plugged, .removed, .found, .due: break
        }
    }

    private func openPort(at path: String) -> RadioPort? { ports.first { $0.path == path && $0.connection != nil } }

    private func addRecorded(_ path: String) -> RadioPort {
        _ = machine.add(path, isNamed: false)
        return add(path)
    }

    private func closeRecorded(_ port: RadioPort, at time: HostTime) {
        detachModem(of: port, isLost: false, at: time)
        port.connection = nil
        machine.replayClosing(port.id)
    }

    // MARK: Bytes

    /// Handles an event of the descriptor of a port.
    /// - Parameter turnMicroseconds: how long bytes are read at most.
    func handle(_ id: PortID, _ event: ReceiverEvents.Event, turnMicroseconds: Int64, at time: HostTime) throws(ReceiverError) {
        let port = ports[id.index]
        if let attempt = port.attempt {
            finish(attempt, of: port, at: time)
            try obey(at: time)
        } else if let connection = port.connection {
            if event.isReadable { try read(port, connection, turnMicroseconds: turnMicroseconds, at: time) }
            if event.isWritable { flush(port, at: time) }
        }
    }

    func read(
        _ port: RadioPort, _ connection: any RadioConnection, turnMicroseconds: Int64 = RadioPorts.turnMicroseconds, at time: HostTime
    ) throws(ReceiverError) {
        let end = time.instant.advanced(byMicroseconds: turnMicroseconds)
        repeat {
            noteOpenings(of: port, at: time)
            switch connection.read(into: &readBuffer) {
            case .bytes(let count):
                noteOpenings(of: port, isAfterOwnRead: true, at: time)
                machine.bytesCame(port.id)
                try obey(at: time)
                receive(readBuffer.span.extracting(0..<count), at: port, time)
                if count < 256 { return }
            case .wouldBlock: return
            case .disconnected:
                machine.hungUp(port.id, at: time.instant)
                return try obey(at: time)
            }
        } while HostTime.now.instant < end
    }

    private func receive(_ bytes: Span<UInt8>, at port: RadioPort, _ time: HostTime) {
        capture?.note(.read(bytes.indices.map { bytes[$0] }), port: port.path, at: time)
        if configuration.reportsTraffic { report(.traffic(path: port.path, isInbound: true, bytes: bytes.indices.map { bytes[$0] })) }
        if port.modem?.isTransparent == true {
            host.receive(bytes, on: port.link, at: time)
        } else {
            port.modem?.receive(bytes, at: time.instant)
            pump(port, at: time)
        }
    }

    /// Queues a bare frame; ``endAnswers(at:)`` sends it.
    func send(_ frame: [UInt8], on link: LinkID) {
        guard let port = portOfLink[link] else { return }
        if port.queue(frame) { report(.cannotSend(path: port.path)) }
        if !answering.contains(port.id) { answering.append(port.id) }
    }

    /// Sends the frames that were queued since the last call.
    func endAnswers(at time: HostTime) {
        for id in answering {
            let port = ports[id.index]
            port.endAnswer(host.modemSettings(of: port.link), at: time.instant)
            pump(port, at: time)
        }
        answering.removeAll(keepingCapacity: true)
    }

    func flush(_ port: RadioPort, at time: HostTime) {
        let isWaiting = port.flush { bytes in
            capture?.note(.wrote(Array(bytes)), port: port.path, at: time)
            if configuration.reportsTraffic { report(.traffic(path: port.path, isInbound: false, bytes: Array(bytes))) }
        }
        guard let isWaiting, let connection = port.connection, isWaiting != port.isWatchedForWriting else {
            return
        }
        port.isWatchedForWriting = isWaiting
        events.watch(connection.fileDescriptor, as: .port(port.id), forWriting: isWaiting)
    }
}
