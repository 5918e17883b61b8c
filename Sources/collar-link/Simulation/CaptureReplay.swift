import CollarReceiver
import Glibc
import RadioModems
import SerialDevices

/// Plays a capture at pseudo-terminals, one for each port of the capture: what came in at the port comes in at the terminal, and
/// the terminal goes away when the radio was unplugged. What the program at a terminal sends is ignored, because the answers that
/// the collars got are those of the recording.
struct CaptureReplay {
    /// A port of the capture.
    private struct Port {
        let link: PortLink?
        var terminal: PseudoTerminal?
        var isNamed = false
        /// Bytes that the receiver of the capture had sent since the opening.
        var expectedCount = 0
        /// Bytes that the program at the terminal has sent since it opened it.
        var answeredCount = 0
        /// Whether a stick answers questions at the port, so that bytes may not come in before they were asked for.
        var isAsked = false
    }

    /// Time between two looks at a terminal that no program has open, or that has unread bytes, in microseconds.
    private static let patience: Int64 = 10_000
    /// Looks in a row at which a terminal must have no unread bytes.
    private static let emptyLimit = 5
    /// The longest wait for the questions to a stick, in microseconds.
    private static let questionTime: Int64 = 1_000_000

    private let path: String
    /// Speed as a multiple of real time; nil for as fast as the program reads.
    private let speed: Double?
    private let signals: SignalDescriptor
    private var ports: [String: Port] = [:]
    /// What is added to the time of a record to make the real time at which it is played, in microseconds.
    private var offset: Int64?
    private var isInterrupted = false

    /// Looks through a capture for its ports.
    /// - Parameter link: where the link to the terminal is made; with several ports, `-1`, `-2` … are added to it.
    init(path: String, link: String?, speed: Double?) throws(CommandFailure) {
        guard path != "-" else { throw CommandFailure(.usage, "--replay -: a capture is read twice", remedy: "Name a file.") }
        self.path = path
        self.speed = speed
        guard let signals = SignalDescriptor([SIGINT, SIGTERM]) else {
            throw CommandFailure(.software, "signals cannot be received: \(SystemError.text(errno))")
        }
        self.signals = signals
        var names: [String] = []
        var asked: Set<String> = []
        try CaptureReplay.forEachRecord(of: path) { record throws(CommandFailure) in
            if case .opened = record.event, !names.contains(record.port) { names.append(record.port) }
            if case .found(let dialect) = record.event, dialect != .serial { asked.insert(record.port) }
            return true
        }
        for (number, name) in names.enumerated() {
            let place = link.map { names.count == 1 ? $0 : "\($0)-\(number + 1)" }
            ports[name] = Port(link: place.map(PortLink.init), isAsked: asked.contains(name))
        }
        guard !ports.isEmpty else { throw CommandFailure(.corruptInput, "\(path): no port is opened in this capture") }
    }

    /// Plays the capture to its end.
    mutating func run() throws(CommandFailure) -> ExitCode {
        defer { for name in ports.keys { unplug(name) } }
        try CaptureReplay.forEachRecord(of: path) { record throws(CommandFailure) in
            try play(record)
            return !isInterrupted
        }
        for name in ports.keys { waitUntilRead(name) }
        return .clean
    }

    private mutating func play(_ record: CaptureRecord) throws(CommandFailure) {
        guard var port = ports[record.port] else {
            if case .began = record.event { for name in ports.keys { try unplug(name, at: record) } }
            return
        }
        switch record.event {
        case .opened:
            port.expectedCount = 0
            ports[record.port] = port
            if port.terminal == nil { try plug(record.port, at: record) }
        case .read(let bytes):
            wait(for: record)
            waitForQuestions(at: record.port)
            write(bytes, to: record.port)
        case .wrote(let bytes): ports[record.port]?.expectedCount += bytes.count
        case .unplugged: try unplug(record.port, at: record)
        case .began, .closed, .plugged, .removed, .ended, .found, .due: break
        }
    }

    // MARK: Terminals

    private mutating func plug(_ name: String, at record: CaptureRecord) throws(CommandFailure) {
        if offset != nil { wait(for: record) }
        let terminal: PseudoTerminal
        do throws(SystemError) { terminal = try PseudoTerminal() } catch {
            throw CommandFailure(.inputOutput, "No pseudo-terminal could be created: \(error.text).")
        }
        do throws(PortLinkError) { try ports[name]?.link?.point(to: terminal.path) } catch {
            throw CommandFailure(.cannotCreate, "--link: \(error.description)", remedy: error.remedy)
        }
        ports[name]?.terminal = terminal
        ports[name]?.answeredCount = 0
        if ports[name]?.link == nil || ports[name]?.isNamed == false {
            try StandardOutput.write((ports[name]?.link?.path ?? terminal.path) + "\n")
            ports[name]?.isNamed = true
        }
        // A radio does not wait until somebody listens, but a replay without a listener would be for nothing.
        while !terminal.hasPeer, !isInterrupted { pause(CaptureReplay.patience) }
        offset = MonotonicClock.microseconds - scaled(record)
    }

    private mutating func unplug(_ name: String, at record: CaptureRecord) throws(CommandFailure) {
        guard ports[name]?.terminal != nil else { return }
        wait(for: record)
        waitUntilRead(name)
        unplug(name)
    }

    private mutating func unplug(_ name: String) {
        guard let terminal = ports[name]?.terminal else { return }
        ports[name]?.link?.remove(from: terminal.path)
        terminal.close()
        ports[name]?.terminal = nil
    }

    private mutating func write(_ bytes: [UInt8], to name: String) {
        var rest = bytes[...]
        while !rest.isEmpty, !isInterrupted, let terminal = ports[name]?.terminal {
            switch terminal.write(rest.span) {
            case .written(let count): rest.removeFirst(count)
            case .wouldBlock: pause(CaptureReplay.patience)
            // The program has closed the terminal: a radio does not keep bytes that nobody reads.
            case .disconnected: return
            }
        }
    }

    /// Waits until the program at a terminal has read everything: a hang-up takes unread bytes away.
    private mutating func waitUntilRead(_ name: String) {
        // For a moment the kernel counts bytes at neither end, so they must be gone at several looks in a row.
        var emptyCount = 0
        while let terminal = ports[name]?.terminal, terminal.hasPeer, emptyCount < CaptureReplay.emptyLimit, !isInterrupted {
            emptyCount = terminal.unreadByteCount > 0 ? 0 : emptyCount + 1
            pause(CaptureReplay.patience)
        }
    }

    /// Waits until the program at a terminal has asked the stick as much as the receiver of the capture had, but not for long.
    private mutating func waitForQuestions(at name: String) {
        let start = MonotonicClock.microseconds
        while let port = ports[name], port.isAsked, port.answeredCount < port.expectedCount, !isInterrupted,
            MonotonicClock.microseconds - start < CaptureReplay.questionTime
        {
            pause(1000)
        }
    }

    // MARK: Time

    /// The time of a record at the speed of the replay, in microseconds.
    private func scaled(_ record: CaptureRecord) -> Int64 {
        speed.map { Int64(Double(record.time.instant.microseconds) / $0) } ?? 0
    }

    /// Waits until a record is due.
    private mutating func wait(for record: CaptureRecord) {
        takeAnswers()
        while speed != nil, let offset, !isInterrupted {
            let remaining = scaled(record) + offset - MonotonicClock.microseconds
            guard remaining > 0 else { return }
            pause(min(remaining, CaptureReplay.patience))
        }
    }

    /// Waits so long at most, in microseconds, or until a signal comes.
    private mutating func pause(_ microseconds: Int64) {
        var descriptor = pollfd(fd: signals.fileDescriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&descriptor, 1, Int32((microseconds + 999) / 1000))
        if signals.next() != nil { isInterrupted = true }
        takeAnswers()
    }

    /// Takes what programs have sent.
    private mutating func takeAnswers() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        for name in ports.keys {
            while let terminal = ports[name]?.terminal, case .bytes(let count) = terminal.read(into: &buffer) {
                ports[name]?.answeredCount += count
            }
        }
    }

    /// Calls `body` with each record until it returns false. A capture that is cut ends before the cut.
    private static func forEachRecord(
        of path: String, _ body: (CaptureRecord) throws(CommandFailure) -> Bool
    ) throws(CommandFailure) {
        var input = try ChunkInput(path: path)
        var reader = CaptureReader()
        func next() throws(CommandFailure) -> CaptureRecord? {
            do throws(CaptureError) { return try reader.next() } catch { throw CommandFailure(error.message(path: path)) }
        }
        while let chunk = try input.next() {
            reader.append(chunk)
            while let record = try next() { guard try body(record) else { return } }
        }
        do throws(CaptureError) { try reader.finish() } catch {
            guard error.problem == .cut else { throw CommandFailure(error.message(path: path)) }
        }
    }
}
