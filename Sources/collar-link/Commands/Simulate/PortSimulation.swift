import CollarARQ
import CollarErrors
import CollarFirmware
import CollarFormats
import CollarSimulator
import CollarWire
import Glibc
import LinuxSystem
import SerialDevices

/// Drives simulated collars at a pseudo-terminal, in real or virtual time.
///
/// Virtual time jumps to the next deadline. While the host is expected to do something, virtual time keeps pace with the
/// real clock, because the host runs in real time.
struct PortSimulation<Flash: FlashDevice> {
    private var radio: SharedRadio<Flash>
    private let deviceIDs: [DeviceID]
    private let options: SimulationOptions
    private let fixCount: Int
    private let signals: SignalDescriptor
    private var terminal: PseudoTerminal?
    private var cable: SimulatedCable?
    private var replugAt: Instant?
    private var skippedMicroseconds: Int64 = 0
    private let origin = MonotonicClock.microseconds
    private var pending: [UInt8] = []
    private var hasReportedDelivery = false
    private var stickFaults: ArraySlice<Scheduled<StickFault>>
    private var presses: ArraySlice<Scheduled<ButtonDecoder.Press>>

    init(
        radio: consuming SharedRadio<Flash>, deviceIDs: [DeviceID], options: SimulationOptions, fixCount: Int
    ) throws(CommandFailure) {
        self.radio = radio
        self.deviceIDs = deviceIDs
        self.options = options
        self.fixCount = fixCount
        stickFaults = options.stickFaults[...]
        presses = options.presses[...]
        do throws(SystemError) { signals = try SignalDescriptor(SignalDescriptor.ofEnd + [SIGUSR1, SIGUSR2]) } catch {
            throw CommandFailure(.software, "Signals cannot be received: \(SystemError.text(error.errno)).")
        }
        if let path = options.cable { cable = try SimulatedCable(at: path) }
    }

    mutating func run() throws(CommandFailure) -> ExitCode {
        defer {
            unplug()
            cable?.remove()
        }
        try plug()
        if let terminal { try StandardOutput.write(terminal.path + "\n") }
        StandardError.say("This program is simulating collar\(deviceIDs.count == 1 ? "" : "s") \(deviceIDs.map { "\($0)" }.joined(separator: ", ")).")
        while true {
            let now = self.now
            try advance(to: now)
            if try handleSignals(now: now) { return finish() }
            if let due = replugAt, now >= due {
                // A stick has no power while it is unplugged.
                radio.cause(.reset, now: now)
                try plug()
            }
            reportDelivery()
            if options.endsWhenDelivered, radio.isDelivered, pending.isEmpty { return finish() }
            wait(until: nextDeadline)
        }
    }

    /// The time in the simulation: real time since the start plus the time that was skipped.
    private var now: Instant { Instant(microseconds: MonotonicClock.microseconds - origin + skippedMicroseconds) }

    private mutating func advance(to now: Instant) throws(CommandFailure) {
        while let next = stickFaults.first, next.time <= now {
            radio.cause(next.event, now: now)
            stickFaults.removeFirst()
        }
        readFromHost(now: now)
        try exchangeKeys(now: now)
        if options.skipsIdleTime { radio.skipIdleTime(now: now) }
        do throws(StationError) {
            while let next = presses.first, next.time <= now {
                try radio.pressButtons(next.event, now: now)
                presses.removeFirst()
            }
            let bytes = try radio.advance(to: now)
            // A radio does not keep bytes that no program reads.
            if terminal?.hasPeer == true {
                pending += bytes
            } else {
                radio.serialBytesWereDropped()
            }
        } catch { throw CommandFailure(.inputOutput, "The simulated collar stops: \(error).") }
        terminal?.write(&pending)
        for signal in radio.removeGivenSignals() { StandardError.say("The collar gives a signal: \(signal).") }
        for message in radio.removeTakenMessages() {
            StandardError.say("The collar's application is sent a \(MessageDescription.line(of: message)).")
        }
    }

    private mutating func readFromHost(now: Instant) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while radio.isTakingInput, let terminal, case .bytes(let count) = terminal.read(into: &buffer) {
            radio.receive(Array(buffer[..<count]), now: now)
        }
    }

    private mutating func exchangeKeys(now: Instant) throws(CommandFailure) {
        cable?.flush()
        for frame in cable?.receive() ?? [] {
            var random = SystemRandomNumberGenerator()
            do throws(StationError) {
                let answer = try radio.receiveFromCable(
                    frame, randomKey: CollarKey.random(using: &random), randomLogID: UInt32.random(in: 0 ... .max, using: &random),
                    now: now)
                if let answer { cable?.send(answer) }
            } catch { throw CommandFailure(.inputOutput, "The simulated collar stops: \(error).") }
        }
    }

    private var nextDeadline: Instant {
        var due = radio.nextDeadline
        if let fault = stickFaults.first { due = min(due, fault.time) }
        if let press = presses.first { due = min(due, press.time) }
        guard let replugAt else { return due }
        return min(due, replugAt)
    }

    /// Waits for a deadline, for bytes or for a signal. In virtual time it can advance the clock to the deadline instead.
    private mutating func wait(until deadline: Instant) {
        let hasPeer = terminal?.hasPeer ?? false
        let now = self.now
        var remaining = deadline.microseconds(since: now)
        if options.speed == nil, hasPeer, pending.isEmpty, !radio.isDelivered {
            guard radio.keepsRealTime(now: now) else {
                if remaining > 0 { skippedMicroseconds += remaining }
                return
            }
            if let end = radio.realTimeEnd(now: now) { remaining = min(remaining, end.microseconds(since: now)) }
        }
        // While no program has the terminal open, poll would always report a hang-up, so the terminal is checked every 20 ms.
        let isListening = hasPeer && (cable == nil || cable?.fileDescriptor != nil)
        let limit: Int64 = isListening ? .max : 20_000
        let milliseconds = max(0, min(remaining, limit) + 999) / 1000
        var descriptors = [pollfd(fd: signals.fileDescriptor, events: Int16(POLLIN), revents: 0)]
        if hasPeer, let terminal {
            let events = (radio.isTakingInput ? Int16(POLLIN) : 0) | (pending.isEmpty ? 0 : Int16(POLLOUT))
            descriptors.append(pollfd(fd: terminal.fileDescriptor, events: events, revents: 0))
        }
        if let cable, let descriptor = cable.fileDescriptor {
            let events = Int16(POLLIN) | (cable.isWriting ? Int16(POLLOUT) : 0)
            descriptors.append(pollfd(fd: descriptor, events: events, revents: 0))
        }
        _ = unsafe poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: milliseconds))
    }

    /// - Returns: whether the simulation has to end.
    private mutating func handleSignals(now: Instant) throws(CommandFailure) -> Bool {
        while let signal = signals.next() {
            switch signal {
            case SIGUSR1:
                unplug()
                replugAt = now.advanced(byMicroseconds: 1_000_000)
            case SIGUSR2:
                do throws(StationError) { try radio.pressButtons(.double, now: now) } catch {
                    throw CommandFailure(.inputOutput, "The simulated collar stops: \(error).")
                }
            default: return true
            }
        }
        return false
    }

    private mutating func plug() throws(CommandFailure) {
        replugAt = nil
        terminal = try PseudoTerminal(behind: options.link, option: "--link")
    }

    private mutating func unplug() {
        guard let open = terminal else { return }
        options.link?.remove(from: open.path)
        open.close()
        terminal = nil
        pending.removeAll()
    }

    private mutating func reportDelivery() {
        guard radio.isDelivered, !hasReportedDelivery else { return }
        hasReportedDelivery = true
        let skipped = radio.skippedFixCount
        StandardError.say(
            skipped == 0
                ? "All \(fixCount) fixes of the track are acknowledged."
                : "All fixes that were made are acknowledged; \(skipped) of the track were not made.")
    }

    private func finish() -> ExitCode {
        guard options.printsStatistics else { return .clean }
        let collars = zip(deviceIDs, radio.stations).map { deviceID, station in
            "{\"collar\":\"\(deviceID)\",\(PortSimulation.fields(station.statistics))}"
        }
        StandardError.write(
            "{\(PortSimulation.fields(radio.statistics)),\"second_half\":{\(PortSimulation.fieldsOfCollars(radio.secondHalf))},"
                + "\"collars\":[\(collars.joined(separator: ","))]}\n")
        return .clean
    }

    private static func fields(_ counts: StationStatistics) -> String {
        fieldsOfCollars(counts) + ",\"downlink_frames\":\(counts.downlinkFrames),"
            + "\"downlink_airtime_ms\":\(counts.downlinkAirtimeMicroseconds / 1000),"
            + "\"over_bound\":\(thousandths(counts.airtimeOverBound))"
    }

    /// The number without more decimals than a person reads.
    private static func thousandths(_ number: Double) -> Double { Double(Int(number * 1000)) / 1000 }

    private static func fieldsOfCollars(_ counts: StationStatistics) -> String {
        "\"uplink_frames\":\(counts.uplinkFrames),\"unpolled_frames\":\(counts.unpolledFrames),\"uplink_bytes\":\(counts.uplinkBytes),"
            + "\"airtime_ms\":\(counts.airtimeMicroseconds / 1000),\"collisions\":\(counts.collisions),"
            + "\"collided_pct\":\(thousandths(counts.collidedPercent)),\"busy\":\(counts.busyCount),"
            + "\"delay_p50_ms\":\(counts.delays.percentile(50) / 1000),\"delay_p95_ms\":\(counts.delays.percentile(95) / 1000),"
            + "\"delay_max_ms\":\(counts.delays.percentile(100) / 1000)"
    }
}

/// The cable of a simulated collar: a pseudo-terminal with a lasting name, which carries the bare frames of an exchange of keys.
struct SimulatedCable {
    private let terminal: PseudoTerminal
    private let link: PortLink
    private var stream = StreamDecoder()
    private var outbound: [UInt8] = []

    init(at path: String) throws(CommandFailure) {
        link = PortLink(path: path)
        terminal = try PseudoTerminal(behind: link, option: "--cable")
    }

    /// The descriptor to wait for; nil while no program has the cable open.
    var fileDescriptor: Int32? { terminal.hasPeer ? terminal.fileDescriptor : nil }

    var isWriting: Bool { !outbound.isEmpty }

    mutating func receive() -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        while case .bytes(let count) = terminal.read(into: &buffer) {
            let bytes = Array(buffer[..<count])
            var index = 0
            while let event = stream.next(in: bytes.span, at: &index) {
                guard case .frame = event else { continue }
                let frame = stream.frame
                frames.append(frame.indices.map { frame[$0] })
            }
        }
        return frames
    }

    mutating func send(_ frame: [UInt8]) {
        outbound.append(frame: frame)
        flush()
    }

    /// Writes what waits. A program that does not read loses it.
    mutating func flush() { terminal.write(&outbound) }

    func remove() { link.remove(from: terminal.path) }
}

extension PseudoTerminal {
    /// Makes a terminal, and a symbolic link to it, which an option names.
    fileprivate convenience init(behind link: PortLink?, option: String) throws(CommandFailure) {
        do throws(SystemError) { try self.init() } catch {
            throw CommandFailure(.inputOutput, "No pseudo-terminal could be created: \(error.text).")
        }
        do throws(PortLinkError) { try link?.point(to: path) } catch {
            throw CommandFailure(.cannotCreate, "`\(option)` cannot be done: \(error.description)", remedy: error.remedy)
        }
    }

    /// Writes as much of the bytes as the line takes, and removes it. A program that is not there loses all of them.
    fileprivate func write(_ bytes: inout [UInt8]) {
        while !bytes.isEmpty {
            switch write(bytes.span) {
            case .written(let count): bytes.removeFirst(count)
            case .wouldBlock: return
            case .disconnected: bytes.removeAll()
            }
        }
    }
}

extension [UInt8] {
    /// Appends a bare frame as a serial line carries it.
    mutating func append(frame: [UInt8]) {
        self += [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
    }
}
