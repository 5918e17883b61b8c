import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import Testing

/// A board in memory. The test sees through `hardware` what the program does to it.
struct TestBoard: CollarBoard, ~Copyable {
    /// What the board's pins and lines do.
    final class Hardware {
        var now = Instant(microseconds: 0)
        var flash = SharedFlash(TestFlash())
        var flashFailures = 0
        var cause = ResetCause.powerOn
        var radioState = RadioState.ready
        var received: [[UInt8]] = []
        var sent: [[UInt8]] = []
        var cableReceived: [[UInt8]] = []
        var cableSent: [[UInt8]] = []
        var isButtonPressed = false
        var indications: [Indication] = []
        var supplies: [GNSSSupply] = []
        var listening: [Instant?] = []
        var sensesChannel = false
        var sensing: [Instant] = []
        var isChannelBusy = false
        var gnssBytes: [UInt8] = []
        var taken: [HostMessage] = []
        var messages: [ApplicationMessage] = []
        var loggedAs: [UInt32] = []
        var waits: [Int64] = []
        var resetCount = 0
        var feedCount = 0
        /// Called instead of sleeping.
        var whileWaiting: () -> Void = {}
    }

    typealias GNSS = NMEAParser

    let hardware: Hardware
    var gnssSettings: GNSSSettings {
        guard let date = UTCDate(year: 2026, month: 1, day: 1) else { preconditionFailure("a day of the calendar") }
        return GNSSSettings(earliestDate: date)
    }

    func now() -> Instant { hardware.now }
    func wait(until deadline: Instant) {
        hardware.waits.append(deadline.microseconds(since: hardware.now))
        hardware.now = max(hardware.now, deadline)
        hardware.whileWaiting()
    }
    func feedWatchdog() { hardware.feedCount += 1 }
    func randomWord() -> UInt32 { 0x0102_0304 }
    func takeResetCause() -> ResetCause { hardware.cause }
    func reset() { hardware.resetCount += 1 }
    func takeFlash() -> SharedFlash { hardware.flash }
    func nextFrame(into frame: inout OutputSpan<UInt8>) -> Bool { Self.take(&hardware.received, into: &frame) }
    func send(_ frame: Span<UInt8>) {
        hardware.sent.append(frame.indices.map { frame[$0] })
        hardware.radioState = .sending
    }
    func radioState() -> RadioState { hardware.radioState }
    func readGNSS(into bytes: inout OutputSpan<UInt8>) {
        while bytes.freeCapacity > 0, !hardware.gnssBytes.isEmpty { bytes.append(hardware.gnssBytes.removeFirst()) }
    }
    func writeGNSS(_ bytes: Span<UInt8>) {}
    func setGNSS(_ supply: GNSSSupply) -> Bool {
        hardware.supplies.append(supply)
        return true
    }
    func listen(until deadline: Instant?) { hardware.listening.append(deadline) }
    var sensesChannel: Bool { hardware.sensesChannel }
    func senseChannel(until deadline: Instant) { hardware.sensing.append(deadline) }
    func isChannelBusy() -> Bool { hardware.isChannelBusy }
    func readBattery() -> BatteryReading { BatteryReading(percent: 55) }
    func isButtonPressed() -> Bool { hardware.isButtonPressed }
    func show(_ indication: Indication) { hardware.indications.append(indication) }
    func nextCableFrame(into frame: inout OutputSpan<UInt8>) -> Bool { Self.take(&hardware.cableReceived, into: &frame) }
    func sendOnCable(_ frame: Span<UInt8>) { hardware.cableSent.append(frame.indices.map { frame[$0] }) }
    func take(_ message: HostMessage) -> CommandResult.Outcome {
        hardware.taken.append(message)
        return .ok
    }
    func nextMessage() -> ApplicationMessage? { hardware.messages.popLast() }
    func messageLogged(as sequence: UInt32) { hardware.loggedAs.append(sequence) }

    private static func take(_ frames: inout [[UInt8]], into output: inout OutputSpan<UInt8>) -> Bool {
        guard !frames.isEmpty else { return false }
        for byte in frames.removeFirst() { output.append(byte) }
        return true
    }
}

/// The program of a collar, on a board in memory.
@Suite struct CollarProgramTests {
    private let hardware = TestBoard.Hardware()

    private var configuration: Collar<SharedFlash>.Configuration {
        Collar<SharedFlash>.Configuration(
            deviceID: deviceID, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 2, patch: 3),
            capabilities: .messages, delivery: CollarDelivery.Configuration(modem: DeviceBench.modem))
    }

    private var notice: ApplicationMessage {
        guard let notice = ApplicationMessage(kind: .notice, code: 3, unixSeconds: 9, data: [1].span) else {
            preconditionFailure("a byte fits a message")
        }
        return notice
    }

    private func frame(_ write: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) throws -> [UInt8] {
        try [UInt8](capacity: Frame.maximumByteCount) { output in try write(&output) }
    }

    /// The last frame is sent, and the host acknowledges it.
    private func answer(_ log: LogIdentity, firstMissing: UInt32) throws {
        hardware.radioState = .ready
        let last = try #require(hardware.sent.last)
        let poll = try FrameHeader(last.span).flags.poll
        hardware.received.append(
            try frame { output throws(EncodeError) in
                try Acknowledgement(receiverID: 77, poll: poll, firstMissing: firstMissing).encode(
                    address: 9, log: log, into: &output)
            })
    }

    @Test func framesGoOutOneAfterTheOther() throws {
        var program = CollarProgram(TestBoard(hardware: hardware), configuration: configuration)
        _ = program.step()
        #expect(hardware.sent.count == 1)
        #expect(hardware.supplies == [.on])
        #expect(hardware.indications == [Indication(isLit: true, isSounding: true)])
        // While the radio sends, nothing else is sent, and only the hardware's own deadlines count.
        hardware.now = Instant(microseconds: 100_000)
        let next = program.step()
        #expect(next == Instant(microseconds: 600_000))
        #expect(hardware.sent.count == 1)
        hardware.radioState = .ready
        let later = program.step()
        #expect(later < Instant(microseconds: 600_000))
        hardware.now = Instant(microseconds: 90_000_000)
        hardware.radioState = .failed
        _ = program.step()
        #expect(hardware.feedCount == 4)
        hardware.radioState = .ready
        _ = program.step()
        try answer(program.device.collar.log, firstMissing: 0)
        _ = program.step()
        let status = try #require(hardware.sent.last)
        guard case .status(let told) = try Message.decode(status.span, log: program.device.collar.log, reference: 0) else {
            Issue.record("a status was due")
            return
        }
        #expect(told.lastError == .radioFailed && told.batteryPercent == 55)
    }

    @Test func messagesReachTheApplicationAndTheHost() throws {
        var program = CollarProgram(TestBoard(hardware: hardware), configuration: configuration)
        _ = program.step()
        let log = program.device.collar.log
        try answer(log, firstMissing: 0)
        _ = program.step()
        let content = notice
        let message = HostMessage(requestID: 4, receiverID: 77, content: content)
        hardware.received.append(
            try frame { output throws(EncodeError) in try message.encode(address: 9, log: log, into: &output) })
        hardware.messages = [content]
        _ = program.step()
        #expect(hardware.taken == [message])
        #expect(hardware.loggedAs == [0])
        let last = try #require(hardware.sent.last)
        let sent = try Message.decode(last.span, log: log, reference: 0)
        #expect(sent == .commandResult(CommandResult(requestID: 4, outcome: .ok)))
    }

    @Test func itRunsUntilItIsToldToReboot() throws {
        hardware.flash.flash.failingReads = 5
        let hardware = self.hardware
        var waits = 0
        hardware.whileWaiting = {
            waits += 1
            hardware.radioState = .ready
            guard waits == 3 else { return }
            let log = LogIdentity(deviceID: deviceID, logID: LogID(lowBitsOf: 0x0102_0304))
            let acknowledgement = Acknowledgement(receiverID: 77, poll: nil, firstMissing: 0)
            let reboot = Command(requestID: 4, receiverID: 77, action: .reboot)
            hardware.received = [
                [UInt8](capacity: 253) { output in try? acknowledgement.encode(address: 9, log: log, into: &output) },
                [UInt8](capacity: 253) { output in try? reboot.encode(address: 9, log: log, into: &output) },
            ]
        }
        CollarProgram.run(on: TestBoard(hardware: hardware), configuration: configuration)
        #expect(hardware.resetCount == 1)
        // The flash failed at first, so the program waited for a second before it tried again.
        #expect(hardware.waits.first == 1_000_000)
        #expect(hardware.waits.allSatisfy { $0 <= 3_600_000_000 })
    }

    @Test func theCableAnswers() throws {
        var program = CollarProgram(TestBoard(hardware: hardware), configuration: configuration)
        hardware.cableReceived.append(
            try frame { output throws(EncodeError) in try CableFrame.encodeRequest(proof: nil, into: &output) })
        _ = program.step()
        let first = try #require(hardware.cableSent.first)
        let offer = try KeyOffer(first.span)
        #expect(offer.key.bytes[0] == 4 && offer.key.bytes[3] == 1 && offer.key.bytes[15] == 1)
        let proof = KeyProof.ofNewKey(offer.key, deviceID: deviceID)
        hardware.cableReceived.append(
            try frame { output throws(EncodeError) in try CableFrame.encodeActivation(proof: proof, into: &output) })
        hardware.radioState = .ready
        _ = program.step()
        let isResetDue = program.isResetDue
        #expect(isResetDue)
    }

    /// A sentence with a checksum computed here.
    private func sentence(_ body: String) -> [UInt8] {
        let sum = body.utf8.reduce(0, ^)
        return Array("$\(body)*\(sum < 16 ? "0" : "")\(String(sum, radix: 16, uppercase: true))\r\n".utf8)
    }

    @Test func bytesOfTheReceiverBecomeFixes() throws {
        var program = CollarProgram(TestBoard(hardware: hardware), configuration: configuration)
        _ = program.step()
        for second in 0..<3 {
            hardware.gnssBytes =
                sentence("GPRMC,12000\(second).00,A,4718.0000,N,00830.0000,E,1.000,90.0,250626,,,A")
                + sentence("GPGGA,12000\(second).00,4718.0000,N,00830.0000,E,1,08,1.0,400.0,M,48.0,M,,")
            hardware.now = hardware.now.advanced(byMicroseconds: 1_000_000)
            _ = program.step()
        }
        hardware.now = hardware.now.advanced(byMicroseconds: 500_000)
        _ = program.step()
        let nextSequence = program.device.collar.nextSequence
        #expect(nextSequence == 3)
        var collar = try Collar(booting: configuration, flash: hardware.flash, randomLogID: 1, now: hardware.now)
        let fix = try #require(try collar.newestFix())
        #expect(fix.latitudeSteps == 4_730_000 && fix.longitudeSteps == 850_000 && fix.altitudeSteps == 400)
        #expect(fix.batteryPercent == 55)
        hardware.now = hardware.now.advanced(byMicroseconds: 20_000_000)
        _ = program.step()
        let signal = program.device.newestSignal?.signal
        #expect(signal == .error)
    }

    @Test func aHeldButtonSwitchesTheReceiverOff() throws {
        var program = CollarProgram(TestBoard(hardware: hardware), configuration: configuration)
        hardware.isButtonPressed = true
        _ = program.step()
        for _ in 0..<4 {
            hardware.now = hardware.now.advanced(byMicroseconds: 1_000_000)
            _ = program.step()
        }
        #expect(hardware.supplies == [.on, .off])
        let isTracking = program.device.collar.isTracking
        #expect(!isTracking)
    }
}

/// Frames on the serial line of a board.
@Suite struct SerialFramesTests {
    struct Line: SerialPort {
        var incoming: [UInt8] = []
        var outgoing: [UInt8] = []
        mutating func read() -> UInt8? { incoming.isEmpty ? nil : incoming.removeFirst() }
        mutating func write(_ byte: UInt8) { outgoing.append(byte) }
    }

    @Test func whatIsSentIsReadBack() {
        var line = Line()
        let frames: [[UInt8]] = [
            [1, 2, 3, 4, 5, 6, 7], [0, 0, 0, 0, 0, 0, 0], (0..<253).map { UInt8($0) }, [UInt8](repeating: 9, count: 253),
        ]
        for frame in frames { SerialFrames.send(frame.span, on: &line) }
        #expect(line.outgoing.count == frames.reduce(0) { $0 + $1.count + 3 })
        line.incoming = [7, 7, 0, 255, 0] + line.outgoing
        var reader = SerialFrames()
        var read: [[UInt8]] = []
        while true {
            var isFrame = false
            let frame = [UInt8](capacity: 253) { output in isFrame = reader.next(from: &line, into: &output) }
            guard isFrame else { break }
            read.append(frame)
        }
        #expect(read == frames)
    }
}
