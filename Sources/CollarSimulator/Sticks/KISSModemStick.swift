import CollarARQ
import CollarWire
import RadioModems

/// A stick with MeshCore's KISS modem.
///
/// The radio is always on. After power-up it has the settings of MeshCore's network in Europe.
package struct KISSModemStick: BaseStick {
    /// The state of the packet that the firmware was given.
    private enum Sending: Equatable, Sendable {
        case nothing
        case waitingForChannel
        /// The draw said no: waits for a slot before the next draw.
        case waitingForSlot(until: Instant)
        /// Waits for the transmit delay, and then sends whether the channel is free or not.
        case delaying(until: Instant)
        /// The packet is to go on the air now.
        case ready
        case onAir
    }

    /// The settings of the radio after power-up. (H: coding rate and power.)
    package static let powerUpSettings = RadioSettings(
        frequencyHertz: 869_618_000, bandwidthHertz: 62_500, spreadingFactor: 8, codingRateDenominator: 5, powerDBm: 22)

    private static let maximumPacketByteCount = 255
    /// Time between a packet's end on the air and its first byte on the line, in microseconds. With it, 27 bytes take 3.8 ms
    /// over a UART.
    private static let receptionMicroseconds: Int64 = 1200
    /// Time between the end of a transmission and its report, in microseconds.
    private static let sentMicroseconds: Int64 = 300

    var settings = powerUpSettings
    /// The settings that the host asked for last, which the firmware repeats. Zeros before the first setting.
    var asked = RadioSettings(frequencyHertz: 0, bandwidthHertz: 0, spreadingFactor: 0, codingRateDenominator: 0, powerDBm: 0)
    var reportsSignal = true
    var receivedCount: UInt32 = 0
    var sentCount: UInt32 = 0
    var isRefusingSettings = false
    let boardName: String
    /// When the firmware restarts because the host told it to; nil if it does not.
    var restartTime: Instant?

    private var line: StickLine
    private var random: SeededRandom
    private var receiver = KISSReceiver(capacity: 512)
    private var transmitDelay: UInt8 = 50
    private var persistence: UInt8 = 63
    private var slotTime: UInt8 = 10
    private var isFullDuplex = false
    private var packet: [UInt8] = []
    private var sending = Sending.nothing
    private var isChannelBusy = false
    private var busyEnd = Instant(microseconds: 0)
    private var fullEnd = Instant(microseconds: 0)
    private var isStuck = false
    private let release: StickRelease

    /// Creates a stick that has just been powered up.
    /// - Parameter boardName: the name of the board that the firmware was built for.
    package init(
        release: StickRelease = .kissReportsBusy, boardName: String = "Heltec V3", timing: LineTiming = .uart, seed: UInt64 = 0
    ) {
        self.release = release
        self.boardName = boardName
        line = StickLine(timing: timing)
        random = SeededRandom(seed: seed)
    }

    package var dialect: Dialect { .kiss }
    package var radio: StickRadio { .on(settings) }
    package var isTakingInput: Bool { line.isTakingInput }

    package var nextDeadline: Instant {
        min(nextInput, line.nextOutput, min(sendingDeadline, line.whenUp(restartTime ?? .never)))
    }

    /// When the next bytes are processed: none are any more once the firmware is about to restart.
    private var nextInput: Instant { restartTime == nil ? line.nextInput : .never }

    private var sendingDeadline: Instant {
        switch sending {
        case .nothing, .ready, .onAir: .never
        case .waitingForChannel: isChannelBusy || isStuck ? .never : line.whenUp(busyEnd)
        case .waitingForSlot(let end), .delaying(let end): line.whenUp(end)
        }
    }

    package mutating func receive(_ bytes: [UInt8], now: Instant) {
        line.receive(bytes, delimiters: [KISS.frameEnd], now: now)
    }

    package mutating func hear(_ packet: [UInt8], signal: RadioSignal, now: Instant) {
        guard !line.isDown(at: now), sending != .onAir, packet.count <= Self.maximumPacketByteCount else { return }
        receivedCount &+= 1
        line.send(KISS.frame(0, packet), after: Self.receptionMicroseconds, now: now)
        guard reportsSignal else { return }
        // The report follows its packet. Both numbers are a signed byte each: a strength below −128 dBm wraps.
        let quarters = Int((signal.signalToNoiseTenthsDB ?? 0)) * 4 / 10
        let report: [UInt8] = [
            0xF9, UInt8(truncatingIfNeeded: quarters), UInt8(truncatingIfNeeded: signal.strengthDBm),
        ]
        line.send(KISS.frame(6, report), after: Self.receptionMicroseconds, now: now)
    }

    package mutating func noteChannel(isBusy: Bool, now: Instant) {
        isChannelBusy = isBusy
        if !line.isDown(at: now) { seekChannel(now: now) }
    }

    package mutating func advance(to now: Instant) {
        guard !line.isDown(at: now) else { return }
        while true {
            let restartDue = line.whenUp(restartTime ?? .never)
            let due = min(nextInput, sendingDeadline, restartDue)
            guard due <= now else { return }
            if restartDue == due { return restart(now: now) }
            if nextInput == due {
                for byte in line.removeInput() {
                    if let frame = receiver.take(byte) { process(frame, now: due) }
                }
            } else {
                goOnSending(now: due)
            }
        }
    }

    package mutating func takeOutput(now: Instant) -> [UInt8] { line.takeOutput(now: now) }

    package mutating func nextTransmission(now: Instant) -> StickTransmission? {
        guard sending == .ready, !line.isDown(at: now) else { return nil }
        sending = .onAir
        return StickTransmission(packet: packet, airtimeMicroseconds: airtimeMicroseconds(byteCount: packet.count))
    }

    package mutating func transmissionEnded(now: Instant) {
        guard sending == .onAir else { return }
        sending = .nothing
        packet = []
        sentCount &+= 1
        answer([0xF8, 0x01], after: Self.sentMicroseconds, now: now)
    }

    /// The airtime of a packet with the settings that the radio really has, in microseconds.
    func airtimeMicroseconds(byteCount: Int) -> Int64 {
        var profile = settings.profile(of: .kiss)
        // The first releases have 16 symbols with each spreading factor.
        if release < .kissLongPreamble, settings.spreadingFactor <= 8 {
            profile.frameOverheadMicroseconds -= 16 * settings.symbolMicroseconds
        }
        return profile.airtimeMicroseconds(frameByteCount: byteCount)
    }

    package mutating func cause(_ fault: StickFault, now: Instant) {
        switch fault {
        case .reset: restart(now: now)
        case .stall: line.stall(now: now)
        case .garbage: line.sendGarbage(&random, now: now)
        case .refuse: isRefusingSettings = true
        case .busy: busyEnd = now.advanced(byMicroseconds: StickFault.refusalMicroseconds)
        case .full: fullEnd = now.advanced(byMicroseconds: StickFault.refusalMicroseconds)
        case .stuck: isStuck = true
        case .amplifier: break
        }
    }

    /// Forgets everything. The firmware says nothing when it starts.
    private mutating func restart(now: Instant) {
        let channelWasBusy = isChannelBusy
        let random = random
        var line = line
        line.restart(now: now)
        self = KISSModemStick(release: release, boardName: boardName)
        self.line = line
        self.random = random
        isChannelBusy = channelWasBusy
    }

    /// Sends a frame of the extensions to the host.
    mutating func answer(_ data: [UInt8], after delay: Int64 = 0, now: Instant) {
        line.send(KISS.frame(6, data), after: delay, now: now)
    }

    /// Whether a packet is on the channel, as the firmware sees it.
    func isReceiving(now: Instant) -> Bool { isChannelBusy || now < busyEnd }

    /// Processes a frame of the host: a type, whose upper half is the number of a port that must be 0, and data.
    private mutating func process(_ frame: [UInt8], now: Instant) {
        // The type FF ends KISS mode in other modems, and has port 15 here.
        guard let type = frame.first, type < 0x10 else { return }
        let data = Array(frame.dropFirst())
        switch type {
        case 0: queue(data, now: now)
        case 1: transmitDelay = data.first ?? transmitDelay
        case 2: persistence = data.first ?? persistence
        case 3: slotTime = data.first ?? slotTime
        case 5: isFullDuplex = data.first.map { $0 != 0 } ?? isFullDuplex
        case 6: processExtension(data, now: now)
        default: break
        }
    }

    private mutating func queue(_ data: [UInt8], now: Instant) {
        guard (1...Self.maximumPacketByteCount).contains(data.count) else { return }
        guard sending == .nothing, now >= fullEnd else {
            if release >= .kissReportsBusy { answer([0xF1, 0x07], now: now) }
            return
        }
        packet = data
        if isFullDuplex {
            delay(now: now)
        } else {
            sending = .waitingForChannel
            seekChannel(now: now)
        }
    }

    private mutating func goOnSending(now: Instant) {
        switch sending {
        case .waitingForSlot: sending = .waitingForChannel
        case .delaying: sending = .ready
        case .nothing, .waitingForChannel, .ready, .onAir: break
        }
        seekChannel(now: now)
    }

    private mutating func seekChannel(now: Instant) {
        guard sending == .waitingForChannel, !isReceiving(now: now), !isStuck else { return }
        if UInt8(truncatingIfNeeded: random.next()) <= persistence {
            delay(now: now)
        } else {
            sending = .waitingForSlot(until: now.advanced(byMicroseconds: Int64(slotTime) * 10_000))
        }
    }

    private mutating func delay(now: Instant) {
        sending = transmitDelay == 0 ? .ready : .delaying(until: now.advanced(byMicroseconds: Int64(transmitDelay) * 10_000))
    }

    /// Why the firmware does not do what an extension asks for.
    private enum Refusal: UInt8 {
        case tooShort = 1
        case unknownCommand = 5
    }

    /// Processes the extensions that concern the radio. The firmware's other ones, such as encryption, are answered here as
    /// unknown.
    mutating func processExtension(_ data: [UInt8], now: Instant) {
        guard let command = data.first else { return }
        let parameters = Array(data.dropFirst())
        let response = command | 0x80
        switch command {
        case 0x09: set(parameters, now: now)
        case 0x0A: setPower(parameters, now: now)
        case 0x0B:
            let numbers: [UInt8] = .littleEndian(asked.frequencyHertz) + .littleEndian(asked.bandwidthHertz)
            answer([response] + numbers + [asked.spreadingFactor, asked.codingRateDenominator], now: now)
        case 0x0C: answer([response, UInt8(bitPattern: asked.powerDBm)], now: now)
        case 0x0D: answer([response, UInt8(bitPattern: Self.noiseDBm)], now: now)
        case 0x0E: answer([response, isReceiving(now: now) ? 1 : 0], now: now)
        case 0x0F: tellAirtime(parameters, now: now)
        case 0x10: answer([response, UInt8(bitPattern: Self.noiseDBm), 0xFF], now: now)
        case 0x11: answer([response, 1, 0], now: now)
        case 0x12:
            answer([response] + .littleEndian(receivedCount) + .littleEndian(sentCount) + .littleEndian(UInt32(0)), now: now)
        case 0x16: answer([response] + Array(boardName.utf8), now: now)
        case 0x17: answer([response], now: now)
        case 0x18:
            answer([0xF0], now: now)
            // The firmware waits before it restarts, so that its answer leaves the UART.
            restartTime = now.advanced(byMicroseconds: 50_000)
        case 0x19: setSignalReport(parameters, now: now)
        case 0x1A: answer([response, reportsSignal ? 1 : 0], now: now)
        default: refuse(.unknownCommand, now: now)
        }
    }

    /// The level that the radio measures while nobody sends.
    private static let noiseDBm: Int8 = -110

    private mutating func refuse(_ reason: Refusal, now: Instant) { answer([0xF1, reason.rawValue], now: now) }

    private mutating func set(_ parameters: [UInt8], now: Instant) {
        guard parameters.count >= 10 else { return refuse(.tooShort, now: now) }
        let frequency = parameters[0..<4].reversed().bigEndianNumber
        let bandwidth = parameters[4..<8].reversed().bigEndianNumber
        // The firmware keeps the frequency in megahertz with 24 bits of precision, and counts back for the answer.
        asked.frequencyHertz = UInt32((Double(Float(frequency) / 1_000_000) * 1_000_000).rounded())
        asked.bandwidthHertz = bandwidth
        asked.spreadingFactor = parameters[8]
        asked.codingRateDenominator = parameters[9]
        if !isRefusingSettings { apply(frequencyHertz: frequency, asked) }
        // The firmware does not look at what the radio said.
        answer([0xF0], now: now)
    }

    /// Sets the radio. Each setting is refused on its own, and then keeps its value. (H: not tried on hardware.)
    private mutating func apply(frequencyHertz: UInt32, _ asked: RadioSettings) {
        if LoRaChip.frequencyHertz.contains(frequencyHertz) { settings.frequencyHertz = frequencyHertz }
        if LoRaChip.bandwidthHertz.contains(asked.bandwidthHertz) { settings.bandwidthHertz = asked.bandwidthHertz }
        if LoRaChip.spreadingFactor.contains(asked.spreadingFactor) { settings.spreadingFactor = asked.spreadingFactor }
        if LoRaChip.codingRateDenominator.contains(asked.codingRateDenominator) {
            settings.codingRateDenominator = asked.codingRateDenominator
        }
    }

    private mutating func setPower(_ parameters: [UInt8], now: Instant) {
        guard let byte = parameters.first else { return refuse(.tooShort, now: now) }
        asked.powerDBm = Int8(bitPattern: byte)
        if !isRefusingSettings, LoRaChip.powerDBm.contains(asked.powerDBm) { settings.powerDBm = asked.powerDBm }
        answer([0xF0], now: now)
    }

    private mutating func tellAirtime(_ parameters: [UInt8], now: Instant) {
        guard let count = parameters.first else { return refuse(.tooShort, now: now) }
        let milliseconds = UInt32(clamping: airtimeMicroseconds(byteCount: Int(count)) / 1000)
        answer([0x8F] + .littleEndian(milliseconds), now: now)
    }

    private mutating func setSignalReport(_ parameters: [UInt8], now: Instant) {
        guard let byte = parameters.first else { return refuse(.tooShort, now: now) }
        reportsSignal = byte != 0
        answer([0x9A, reportsSignal ? 1 : 0], now: now)
    }
}
