import CollarARQ
import CollarConfiguration
import CollarHost
import CollarJournal
import CollarPorts
import FoundationEssentials
import Glibc
import LinuxSystem
import RadioModems
import SerialDevices
import Testing

@testable import CollarReceiver

/// The ports of a receiver, whose time and loop a test turns: at terminals of the test, and at lines that only pretend to be some.
final class PortsBench {
    /// A line that gives and takes what a test says.
    final class Line: RadioConnection {
        let kind: RadioModem.PortKind
        let roundTripMicroseconds: Int64
        let fileDescriptor: Int32 = -1
        /// What the radio has sent and the receiver has not read.
        var incoming: [UInt8] = []
        var isGone = false
        /// How many bytes the line takes.
        var capacity: Int
        private(set) var written: [UInt8] = []
        private(set) var closeCount = 0

        init(_ kind: RadioModem.PortKind, roundTripMicroseconds: Int64 = 0, capacity: Int = .max) {
            self.kind = kind
            self.capacity = capacity
            self.roundTripMicroseconds = roundTripMicroseconds
        }

        func read(into buffer: inout [UInt8]) -> ReadResult {
            guard !incoming.isEmpty else { return isGone ? .disconnected : .wouldBlock }
            let count = min(incoming.count, 300)
            for index in 0..<count { buffer[index] = incoming[index] }
            incoming.removeFirst(count)
            return .bytes(count)
        }

        func write(_ bytes: Span<UInt8>) -> WriteResult {
            guard capacity > 0 else { return .wouldBlock }
            let count = min(capacity, bytes.count)
            for index in 0..<count { written.append(bytes[index]) }
            capacity -= count
            return .written(count)
        }

        func close() { closeCount += 1 }

        /// The lines of text that the receiver has written since the last call.
        func takeText() -> [String] {
            defer { written = [] }
            return String(decoding: written, as: UTF8.self).split(separator: "\r\n").map(String.init)
        }
    }

    let folder: String
    let events: ReceiverEvents
    let ports: RadioPorts
    let host: Host
    var now = RecordedDay.start
    private(set) var notices: [ReceiverNotice] = []
    /// Is called with each notice.
    var onNotice: (ReceiverNotice) -> Void = { _ in }

    /// - Parameters:
    ///   - files: texts of files in the state directory.
    ///   - named: the ports that a person names, made from the folder of the bench.
    init(
        files: [String: String] = [:], _ change: (inout ReceiverConfiguration) throws -> Void = { _ in },
        named: (String) -> [String] = { _ in [] }
    ) throws {
        folder = "/tmp/collar-link-ports-\(UUID().uuidString)"
        try #require(unsafe mkdir(folder, 0o700) == 0)
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)")) }
        var configuration = ReceiverConfiguration(stateDirectory: folder)
        configuration.ports = named(folder)
        try change(&configuration)
        events = try ReceiverEvents(urgent: .signals)
        host = try Host(
            configuration.host, fileSystem: POSIXFileSystem(stateDirectory: folder), random: SystemRandomNumberGenerator(), at: now)
        var tell: (ReceiverNotice) -> Void = { _ in }
        ports = RadioPorts(configuration, events: events, host: host) { tell($0) }
        tell = { [unowned self] notice in
            notices.append(notice)
            onNotice(notice)
        }
        ports.capture = try CaptureFile("\(folder)/capture", receiverID: 1, at: now) { _ in }
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    /// The notices about ports since the last call.
    func takeNotices() -> [ReceiverNotice] {
        defer { notices = [] }
        return notices
    }

    /// A port at which a line is open, without a modem yet.
    func add(_ path: String, _ line: Line, _ device: SerialDevice? = nil) -> RadioPort {
        let id = ports.machine.add(path, isNamed: true, isNetwork: NetworkAddress(path) != nil)
        let port = ports.add(path)
        ports.machine.replayOpening(id, isReported: true, at: now.instant)
        port.connection = line
        port.device = device
        return port
    }

    /// A port at which a line is open, and a modem works.
    func open(_ path: String, _ line: Line, _ device: SerialDevice? = nil) -> RadioPort {
        let port = add(path, line, device)
        ports.beginModem(of: port, report: .now, at: now)
        return port
    }

    func pass(milliseconds: Int64) {
        now = HostTime(
            instant: now.instant.advanced(byMicroseconds: milliseconds * 1000), unixMilliseconds: now.unixMilliseconds + milliseconds)
    }

    /// Passes the time until something is due, and does it.
    func passToDeadline() throws {
        let due = try #require(Instant.earliest(ports.nextDeadline, ports.nextRetry))
        pass(milliseconds: max(0, due.microseconds(since: now.instant) + 999) / 1000)
        try ports.deadlineReached(at: now)
    }

    /// Bytes come in at a line.
    func receive(_ bytes: [UInt8], at port: RadioPort, _ line: Line) throws {
        line.incoming += bytes
        while !line.incoming.isEmpty { try ports.read(port, line, at: now) }
    }

    /// Stores what came in, and sends what the host answers.
    func answer() {
        while host.commitNext(at: now) {}
        while true {
            var link: LinkID?
            let frame = [UInt8](capacity: 64) { output in link = host.nextFrame(into: &output) }
            guard let link else { break }
            ports.send(frame, on: link)
        }
        ports.endAnswers(at: now)
    }

    /// Handles what is ready at descriptors, until something has happened. A working machine does not need the seconds that it waits.
    func turn(until hasHappened: () -> Bool) throws {
        for _ in 0..<1000 where !hasHappened() {
            let ready = events.wait(timeoutMicroseconds: 3_000_000)
            try #require(!ready.isEmpty, "nothing comes")
            for event in ready {
                switch event.source {
                case .port(let id): try ports.handle(id, event, turnMicroseconds: 20_000, at: now)
                case .portOpenings(let id): ports.handleOpenings(of: id, at: now)
                case .deviceMonitor: try ports.handleDeviceEvents(at: now)
                default: Issue.record("\(event.source)")
                }
            }
        }
        try #require(hasHappened())
    }

    /// Records of ports in a capture, from the first opening on.
    func records() throws -> [CaptureRecord] {
        var reader = CaptureReader()
        reader.append(Array(try Data(contentsOf: URL(filePath: "\(folder)/capture"))))
        var records: [CaptureRecord] = []
        while let record = try reader.next() { records.append(record) }
        return Array(records.dropFirst())
    }

    func openings() throws -> [PortOpening] {
        try records().compactMap { if case .opened(let opening) = $0.event { opening } else { nil } }
    }

    /// A device of udev with the properties of an adapter, some of them changed; nil removes one.
    static func device(node: String = "/dev/ttyUSB0", _ changes: [String: String?] = [:]) -> SerialDevice {
        var properties: [String: String] = [
            "ID_BUS": "usb", "ID_VENDOR_ID": "10c4", "ID_MODEL_ID": "ea60", "ID_MODEL": "CP2102", "ID_SERIAL_SHORT": "A1",
            "ID_PATH": "pci-1",
        ]
        for (name, value) in changes { properties[name] = value }
        return SerialDevice(
            node: node, sysPath: "/sys/devices/usb1/1-1/ttyUSB0", property: { properties[$0] }, usbAttribute: { _ in nil },
            parentDriver: { nil })
    }

    static func configuration(_ commandLine: [RadioOption: String] = [:], _ file: String = "") throws -> RadioConfiguration {
        var options = RadioOptions()
        for (option, text) in commandLine { try options.set(option, to: text, at: .commandLine) }
        return try RadioConfiguration(commandLine: options, files: [try ConfigurationFile(Array(file.utf8), path: "/x")])
    }
}

extension PseudoTerminal {
    /// The bytes that come from the program at the other end, at least this number. A kernel thread passes them on, so the test waits for them; a
    /// working machine does not need the seconds.
    func received(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8192)
        while bytes.count < count {
            var state = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&state, 1, 3000) == 1, case .bytes(let more) = read(into: &buffer) else { return bytes }
            bytes += buffer.prefix(more)
        }
        return bytes
    }
}
