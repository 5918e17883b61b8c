import CheckedNumbers
import CollarARQ
import CollarConfiguration
import CollarHost
import CollarJournal
import CollarWire
import LinuxSystem
import RadioModems
import SerialDevices

enum EventSource: Equatable {
    case signals, deviceMonitor, output, control
    case controlClient(ControlClientID)
    case port(PortID)
    case portOpenings(PortID)
}

typealias ReceiverEvents = EventPoll<EventSource>

/// The ports of a receiver: finds them, opens them, and carries bytes between them and the host.
final class RadioPorts {
    /// The name that stands for discovery among the ports that the user names.
    static let discovery = "auto"
    /// The longest time for which ports are read before signals, other ports and the journal are served, in microseconds. What one
    /// read has brought is handled to its end.
    static let turnMicroseconds: Int64 = 20_000

    let configuration: ReceiverConfiguration
    let events: ReceiverEvents
    private let host: Host
    let report: (ReceiverNotice) -> Void
    /// Records the events at the ports; nil if they are not recorded.
    var capture: CaptureFile?
    private(set) var ports: [RadioPort] = []
    private var portOfLink: [LinkID: RadioPort] = [:]
    /// Nil until devices are looked for.
    var monitor: DeviceMonitor?
    /// When processes that take bytes were last looked for, because bytes seemed to be missing; nil before the first time.
    var readersSoughtAt: Instant?
    /// Whether marked devices are opened.
    var isDiscovering = false
    /// The serial devices that were present when udev was asked last.
    var devices: [SerialDevice] = []
    /// Ports for which frames were queued.
    private var answering: [PortID] = []
    /// The airtime of all answers that sticks were given to transmit since the start, in microseconds.
    private(set) var airtimeMicroseconds: Int64 = 0
    private lazy var airtime = AirtimeMemory(stateDirectory: configuration.host.stateDirectory)
    private lazy var memory = StickMemory(stateDirectory: configuration.host.stateDirectory)
    private var readBuffer = [UInt8](repeating: 0, count: 16_384)

    init(_ configuration: ReceiverConfiguration, events: ReceiverEvents, host: Host, report: @escaping (ReceiverNotice) -> Void) {
        self.configuration = configuration
        self.events = events
        self.host = host
        self.report = report
    }

    /// Opens the ports that the user named, or looks for radios.
    func open(at time: HostTime) throws(ReceiverError) {
        let named = configuration.ports.filter { $0 != RadioPorts.discovery }
        for path in named { try tryOpening(add(path, isNamedByUser: true), at: time) }
        if named.isEmpty || named.count < configuration.ports.count { try discover(at: time) }
    }

    func add(_ path: String, isNamedByUser: Bool) -> RadioPort {
        let link = host.addLink(named: path)
        let port = RadioPort(id: PortID(index: ports.count), link: link, path: path, isNamedByUser: isNamedByUser)
        ports.append(port)
        portOfLink[link] = port
        return port
    }

    func opened(_ port: RadioPort, _ connection: any RadioConnection, at time: HostTime) {
        port.state = .open(connection)
        port.isWatchedForWriting = false
        port.device = port.networkAddress == nil ? SerialDevice(at: port.node) : nil
        events.watch(connection.fileDescriptor, as: .port(port.id))
        if !port.isOpeningUnreported { report(.opened(path: port.path, node: port.node == port.path ? nil : port.node)) }
        beginModem(of: port, connection, report: port.isOpeningUnreported ? .firstBytes : .now, at: time)
    }

    private func beginModem(
        of port: RadioPort, _ connection: any RadioConnection, report: PortOpening.Report, at time: HostTime
    ) {
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

    /// Passes the events of a port's modem to the host and the owner, and its bytes to the line.
    private func pump(_ port: RadioPort, at time: HostTime) {
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

    /// Does what a record of a capture says: the ports of this machine are left alone.
    func play(_ record: CaptureRecord, at time: HostTime) {
        switch record.event {
        case .began, .ended:
            for port in ports where port.connection != nil { closeRecorded(port, at: time) }
        case .opened(let opening):
            let port = ports.first { $0.path == record.port } ?? add(record.port, isNamedByUser: false)
            if port.connection != nil { closeRecorded(port, at: time) }
            port.state = .open(RecordedConnection(opening))
            port.isOpeningUnreported = opening.report == .firstBytes
            port.connectedAt = port.isOpeningUnreported ? time.instant : nil
            if opening.report == .now { report(.opened(path: port.path)) }
            beginModem(of: port, opening, at: time)
        case .read(let bytes):
            guard let port = openPort(at: record.port) else { return }
            receive(bytes.span, at: port, time)
        case .closed: if let port = openPort(at: record.port) { closeRecorded(port, at: time) }
        case .unplugged: if let port = openPort(at: record.port) { close(port, at: time) }
        case .wrote, .plugged, .removed, .found, .due: break
        }
    }

    private func openPort(at path: String) -> RadioPort? { ports.first { $0.path == path && $0.connection != nil } }

    private func closeRecorded(_ port: RadioPort, at time: HostTime) {
        host.linkClosed(port.link, at: time)
        port.state = .gone
        port.modem = nil
    }

    /// Handles an event of the descriptor of a port.
    /// - Parameter turnMicroseconds: how long bytes are read at most.
    func handle(_ id: PortID, _ event: ReceiverEvents.Event, turnMicroseconds: Int64, at time: HostTime) throws(ReceiverError) {
        let port = ports[id.index]
        switch port.state {
        case .open(let connection):
            if event.isReadable { try read(port, connection, turnMicroseconds: turnMicroseconds, at: time) }
            if event.isWritable { flush(port, at: time) }
        case .connecting(let attempt): try finish(attempt, of: port, at: time)
        case .retrying, .shared, .gone: break
        }
    }

    /// The earliest time at which the modem of an open port has something to do; nil if none has.
    var nextDeadline: Instant? { ports.reduce(nil) { Instant.earliest($0, $1.nextDeadline) } }

    /// The earliest time at which a port is tried again; nil if no port has such a time.
    var nextRetry: Instant? { ports.reduce(nil) { Instant.earliest($0, $1.nextRetry) } }

    /// Tries again to open the ports that are due, and lets their modems do what is due.
    func deadlineReached(at time: HostTime) throws(ReceiverError) {
        for port in ports {
            if case .retrying(let due, let attempt) = port.state, time.instant >= due {
                try tryOpening(port, attempt: attempt, at: time)
            } else if port.connection != nil, let due = port.modem?.nextDeadline, time.instant >= due {
                port.modem?.deadlineReached(at: time.instant)
                pump(port, at: time)
            }
            if let due = port.openings?.dueAt, time.instant >= due { lookForOpener(of: port, at: time) }
        }
        try endIfNothingIsLeft()
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
                receive(readBuffer.span.extracting(0..<count), at: port, time)
                if count < 256 { return }
            case .wouldBlock:
                return
            case .disconnected:
                close(port, at: time)
                guard configuration.reconnects else { throw .noDevice(path: port.path) }
                if port.networkAddress != nil { return reconnect(port, at: time) }
                if port.isNamedByUser, port.route?.isNumber != true {
                    lookForDevice(of: port)
                    try tryOpening(port, at: time)
                }
                for other in ports { if case .shared = other.state { try tryOpening(other, at: time) } }
                return
            }
        } while HostTime.now.instant < end
    }

    private func receive(_ bytes: Span<UInt8>, at port: RadioPort, _ time: HostTime) {
        capture?.note(.read(bytes.indices.map { bytes[$0] }), port: port.path, at: time)
        if configuration.reportsTraffic { report(.traffic(path: port.path, isInbound: true, bytes: bytes.indices.map { bytes[$0] })) }
        if port.connectedAt != nil { noteFirstBytes(of: port) }
        if port.modem?.isTransparent == true {
            host.receive(bytes, on: port.link, at: time)
        } else {
            port.modem?.receive(bytes, at: time.instant)
            pump(port, at: time)
        }
    }

    /// Closes the port of a radio that is gone, or that must not stay open. If the descriptor of a radio that is gone stayed
    /// open, the kernel would give the radio another name when it returns.
    func close(_ port: RadioPort, isMarked: Bool = true, at time: HostTime) {
        guard let connection = port.connection else { return }
        capture?.note(isMarked ? .unplugged : .closed, port: port.path, at: time)
        host.linkClosed(port.link, at: time)
        events.forget(connection.fileDescriptor)
        connection.close()
        port.state = .gone
        stopWatchingOpenings(of: port)
        port.modem = nil
        port.node = port.path
        // The next report says that the port is waited for.
        port.lastComplaint = .notFound(path: port.path)
        if port.isOpeningUnreported { return }
        guard isMarked else { return report(.unmarked(path: port.path)) }
        let next: AfterUnplugging = port.route?.isNumber == true ? .isAnotherTerminal : .isAwaited
        report(.unplugged(path: port.path, then: configuration.reconnects ? next : .ends))
    }

    /// Opens a port again, because the collar that was heard there last is unhealthy and its radio may be the cause. A
    /// pseudo-terminal stays open, because its number may belong to another program once it is closed.
    func renew(_ link: LinkID, for deviceID: DeviceID, at time: HostTime) {
        guard let port = portOfLink[link], let connection = port.connection else { return }
        report(.renewing(path: port.path, deviceID: deviceID))
        capture?.note(.closed, port: port.path, at: time)
        host.linkClosed(link, at: time)
        port.modem = nil
        guard (connection as? SerialPort)?.isPseudoTerminal != true else {
            return beginModem(of: port, connection, report: .none, at: time)
        }
        // A capture has the record of the next opening.
        guard !(connection is RecordedConnection) else { return }
        events.forget(connection.fileDescriptor)
        connection.close()
        stopWatchingOpenings(of: port)
        port.state = .retrying(at: time.instant, attempt: 0)
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
            ports[id.index].endAnswer(at: time.instant)
            pump(ports[id.index], at: time)
        }
        answering.removeAll(keepingCapacity: true)
    }

    private func flush(_ port: RadioPort, at time: HostTime) {
        let isWaiting = port.flush { bytes in
            capture?.note(.wrote(Array(bytes)), port: port.path, at: time)
            if configuration.reportsTraffic { report(.traffic(path: port.path, isInbound: false, bytes: Array(bytes))) }
        }
        guard let isWaiting, let connection = port.connection, isWaiting != port.isWatchedForWriting else { return }
        port.isWatchedForWriting = isWaiting
        events.watch(connection.fileDescriptor, as: .port(port.id), forWriting: isWaiting)
    }
}

/// When sticks transmitted last, in the file `airtime` of the state directory, so that a restart gains no airtime: a region
/// limits what is sent in an hour.
package struct AirtimeMemory {
    /// The file is replaced at most once in this time, in milliseconds.
    private static let interval: Int64 = 600_000
    private static let hour: Int64 = 3_600_000

    private let directory: String
    private let fileSystem: any FileSystem
    /// The time in the file, in milliseconds since 1970; nil if there is none.
    private var noted: Int64?
    /// Whether the file could be read.
    private var isKnown = false

    package init(stateDirectory: String, fileSystem: (any FileSystem)? = nil) {
        directory = stateDirectory
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        self.fileSystem = fileSystem
        do throws(JournalError) {
            let text = String(decoding: try SmallFile.contents(of: path, fileSystem), as: UTF8.self)
            noted = Int64(text.filter { !$0.isWhitespace }, in: .unixMilliseconds)
            isKnown = text.isEmpty || noted != nil
        } catch {}
    }

    private var path: String { directory + "/airtime" }

    /// Whether nothing was transmitted in the last hour. A clock that went back proves nothing.
    package func isRested(at unixMilliseconds: Int64) -> Bool {
        guard isKnown else { return false }
        guard let noted else { return true }
        return unixMilliseconds - noted > AirtimeMemory.hour + AirtimeMemory.interval
    }

    /// A stick is about to transmit. If this cannot be noted, the next start takes the time in the file for that of the last
    /// transmission.
    package mutating func noteTransmission(at unixMilliseconds: Int64) {
        if let noted, abs(unixMilliseconds - noted) < AirtimeMemory.interval { return }
        noted = unixMilliseconds
        do throws(FileFailure) {
            try SmallFile.replace(path, in: directory, with: Array("\(unixMilliseconds)\n".utf8), fileSystem)
        } catch {}
    }
}
