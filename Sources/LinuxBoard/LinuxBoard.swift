import CollarARQ
import CollarFirmware
import CollarPorts
import CollarWire
import Glibc
import LinuxSystem
import RadioModems
import SerialDevices

/// The board of a collar on a Linux machine: a stick as its radio, a GNSS receiver at a port or gpsd, a file as its flash.
package final class LinuxBoard: CollarBoard {
    package typealias Flash = FileFlash
    package typealias GNSS = UBXOrNMEAParser

    /// Bytes of the GNSS receiver, or of the cable, that are kept; the oldest are dropped for more.
    private static let inputLimit = 8192

    private let configuration: BoardConfiguration
    package let device: DeviceFile
    private let flash: FileFlash
    private let signals: SignalDescriptor
    private let report: (BoardNotice) -> Void
    private let radioLine: BoardLine
    private var radio: PacketRadio
    private var radioOpenings = 0
    private let receiverLine: BoardLine
    private var receiverBytes: [UInt8] = []
    private let cableLine: BoardLine?
    private var cable = SerialFrames()
    private var cableBytes = InputQueue()
    private var gauge: BatteryGauge
    private var isGaugeReported = false
    private var button: Button
    private var indication = Indication()
    private var commands: [ChildProcess] = []
    private var random = SystemRandomNumberGenerator()
    private var resetCause: ResetCause
    /// The dialect for whose limits the collar was started; nil for those of all.
    private var assumedDialect: Dialect?
    /// Whether a signal has told the program to end. Before the collar has started, which needs a flash that works, the signal ends the
    /// process.
    package private(set) var hasEnded = false
    private var hasStarted = false

    package enum Failure: Error {
        case device(DeviceFile.Failure)
        case flash(FileFlash.OpenError)
        case button(path: String, SystemError)
        case system(SystemError)
    }

    /// Opens the file of the collar, and begins to open its ports.
    /// - Parameters:
    ///   - reportPort: is told what happens at the ports, by their paths.
    ///   - report: is told the rest.
    package init(
        _ configuration: BoardConfiguration, reportPort: @escaping (String, PortNotice) -> Void, report: @escaping (BoardNotice) -> Void
    ) throws(Failure) {
        self.configuration = configuration
        self.report = report
        do throws(FileFlash.OpenError) { flash = try FileFlash(path: configuration.flash, start: DeviceFile.flashStart) } catch {
            throw .flash(error)
        }
        do throws(DeviceFile.Failure) { device = try DeviceFile(path: configuration.flash) } catch { throw .device(error) }
        do throws(SystemError) { button = try Button(path: configuration.button) } catch {
            throw .button(path: configuration.button ?? "", error)
        }
        do throws(SystemError) { signals = try SignalDescriptor(SignalDescriptor.ofEnd + [SIGUSR1, SIGUSR2]) } catch { throw .system(error) }
        resetCause = device.isPowerOn ? .powerOn : .external
        radio = PacketRadio(configuration.modem)
        gauge = BatteryGauge(command: configuration.batteryCommand)
        func line(_ path: String) -> BoardLine { BoardLine(path) { reportPort(path, $0) } }
        radioLine = line(configuration.radio)
        receiverLine = BoardLine(configuration.gnss) { reportPort(configuration.gnss.path, $0) }
        cableLine = configuration.cable.map { line($0) }
        for line in lines { line.open(at: now()) }
    }

    private var lines: [BoardLine] { [radioLine, receiverLine] + [cableLine].compactMap { $0 } }

    /// The failure that ends the collar; nil if there is none.
    package var failure: PortFailure? { lines.compactMap(\.failure).first }

    // MARK: The collar's configuration

    /// The configuration of the collar for the stick that is there, as far as it is known.
    package func collarConfiguration(firmwareVersion: FirmwareVersion) -> Collar<FileFlash>.Configuration {
        assumedDialect = radio.dialect
        // What suits every dialect that is not a line: the smallest frames, and the longest turnaround.
        let frameLimit = (assumedDialect ?? .rui3).maximumFrameByteCount
        let timing = assumedDialect ?? .rnode
        var modem = PacketRadio.line
        if timing != .serial, let settings = configuration.modem.settings { modem = settings.profile(ofCollarWith: timing) }
        modem.turnaroundMicroseconds += radioLine.roundTripMicroseconds
        return Collar<FileFlash>.Configuration(
            deviceID: device.deviceID, address: device.address, maximumFrameByteCount: frameLimit, firmwareVersion: firmwareVersion,
            capabilities: configuration.sounderCommand == nil ? Capabilities(rawValue: 0) : .sounder,
            delivery: .init(
                modem: modem, sendsLiveFixes: true, batchFrameByteLimit: frameLimit,
                dutyCyclePartsPerMillion: timing == .serial ? nil : configuration.modem.limits?.dutyCyclePartsPerMillion,
                jitterSeed: modem.isHalfDuplex ? randomWord() : nil),
            factoryKey: device.key)
    }

    /// Whether the collar has to start again, because its stick has another dialect than it was started for.
    package var isRestartDue: Bool { radio.dialect != assumedDialect }

    // MARK: Time and power

    package func now() -> Instant { Instant(microseconds: MonotonicClock.microseconds(of: CLOCK_BOOTTIME)) }

    package func wait(until deadline: Instant) {
        // Input that came after the program looked must not wait for the deadline.
        if serve() { return }
        var due = deadline
        let deadlines = lines.map(\.nextDeadline) + [radio.nextDeadline, button.nextDeadline(at: now())]
        for other in deadlines.compactMap({ $0 }) { due = min(due, other) }
        var descriptors = lines.flatMap(\.descriptors)
        for descriptor in [signals.fileDescriptor, button.fileDescriptor].compactMap({ $0 }) {
            descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }
        let microseconds = max(0, due.microseconds(since: now()))
        _ = unsafe poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: (microseconds + 999) / 1000))
        _ = serve()
    }

    /// Takes what has come in, and does what is due.
    /// - Returns: whether there was something that the program must see.
    private func serve() -> Bool {
        let now = self.now()
        var isEventful = false
        while let signal = signals.next() {
            isEventful = true
            switch signal {
            case SIGUSR1: button.press(.short, at: now)
            case SIGUSR2: button.press(.long, at: now)
            case _ where !hasStarted: exit(EXIT_SUCCESS)
            default: hasEnded = true
            }
        }
        if serveRadio(at: now) { isEventful = true }
        receiverBytes.append(keeping: LinuxBoard.inputLimit, receiverLine.serve(at: now))
        if let cableLine { cableBytes.bytes.append(keeping: LinuxBoard.inputLimit, cableLine.serve(at: now)) }
        commands.removeAll { $0.end(waits: false) != nil }
        return isEventful || !receiverBytes.isEmpty || !cableBytes.bytes.isEmpty
    }

    private func serveRadio(at now: Instant) -> Bool {
        let isDue = radio.nextDeadline.map { $0 <= now } ?? false
        let openings = radioOpenings
        let bytes = radioLine.serve(at: now)
        // The bytes may be the last of a line that hung up.
        if radioLine.openingCount == radioOpenings, !bytes.isEmpty { radio.receive(bytes.span, at: now) }
        if radioLine.openingCount != radioOpenings {
            radioOpenings = radioLine.openingCount
            radio.closed()
            radio.opened(
                radioLine.isNetwork ? .network : radioLine.isPseudoTerminal ? .remote : .board,
                roundTripMicroseconds: radioLine.roundTripMicroseconds, at: now)
            if !bytes.isEmpty { radio.receive(bytes.span, at: now) }
        }
        if !radioLine.isOpen { radio.closed() }
        radio.deadlineReached(at: now)
        radioLine.write(radio.takeBytes())
        while let notice = radio.nextNotice() { report(.radio(notice)) }
        return isDue || !bytes.isEmpty || radioOpenings != openings
    }

    package func randomWord() -> UInt32 { UInt32.random(in: 0 ... .max, using: &random) }

    package func takeResetCause() -> ResetCause {
        // The start once the dialect is found is still the first one.
        defer { if assumedDialect != nil { resetCause = .program } }
        return resetCause
    }

    /// The owner starts the collar again.
    package func reset() {}

    package func takeFlash() -> FileFlash { flash }

    // MARK: Radio

    package func nextFrame(into frame: inout OutputSpan<UInt8>) -> Bool {
        // The program asks for frames once the flash is mounted.
        hasStarted = true
        guard let next = radio.nextFrame() else { return false }
        for byte in next { frame.append(byte) }
        return true
    }

    package func send(_ frame: Span<UInt8>) {
        radio.send(frame.indices.map { frame[$0] }, at: now())
        radioLine.write(radio.takeBytes())
    }

    package func radioState() -> RadioState {
        switch radio.state(at: now()) {
        case .failed: .failed
        case .ready: .ready
        case .sending: .sending
        }
    }

    // MARK: GNSS receiver

    package var gnssSettings: GNSSSettings {
        guard let earliest = UTCDate(year: 2026, month: 11, day: 1) else { preconditionFailure("the calendar has this day") }
        return GNSSSettings(dynamicModel: configuration.movement, isPowerSaved: false, earliestDate: earliest)
    }

    package func readGNSS(into bytes: inout OutputSpan<UInt8>) {
        let count = min(bytes.freeCapacity, receiverBytes.count)
        for byte in receiverBytes[..<count] { bytes.append(byte) }
        receiverBytes.removeFirst(count)
    }

    package func writeGNSS(_ bytes: Span<UInt8>) {
        guard case .port = configuration.gnss else { return }
        receiverLine.write(bytes.indices.map { bytes[$0] })
    }

    // MARK: Sensors and signals

    package func readBattery() -> BatteryReading {
        defer {
            if gauge.hasFailed, !isGaugeReported { report(.batteryUnknown) }
            isGaugeReported = gauge.hasFailed
        }
        return gauge.read(at: now())
    }

    package func isButtonPressed() -> Bool { button.isPressed(at: now()) }

    package func show(_ wanted: Indication) {
        if wanted.isLit != indication.isLit { run(configuration.lightCommand, wanted.isLit) }
        if wanted.isSounding != indication.isSounding { run(configuration.sounderCommand, wanted.isSounding) }
        indication = wanted
    }

    private func run(_ command: String?, _ isOn: Bool) {
        guard let command else { return }
        do throws(SystemError) { commands.append(try ChildProcess(["sh", "-c", command, "sh", isOn ? "on" : "off"], input: [])) } catch {}
    }

    // MARK: Cable

    package func nextCableFrame(into frame: inout OutputSpan<UInt8>) -> Bool { cable.next(from: &cableBytes, into: &frame) }

    package func sendOnCable(_ frame: Span<UInt8>) {
        cableLine?.write([UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { StreamEncoder.encode(frame, into: &$0) })
    }
}

/// Bytes that came in on a line, for ``SerialFrames``.
private struct InputQueue: CollarFirmware.SerialPort {
    var bytes: [UInt8] = []

    mutating func read() -> UInt8? { bytes.isEmpty ? nil : bytes.removeFirst() }
    mutating func write(_ byte: UInt8) {}
}

extension [UInt8] {
    /// Appends bytes, and drops the oldest beyond a limit.
    fileprivate mutating func append(keeping limit: Int, _ new: [UInt8]) {
        self += new
        if count > limit { removeFirst(count - limit) }
    }
}
