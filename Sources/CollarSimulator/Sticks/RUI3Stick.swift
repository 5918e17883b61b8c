import CollarARQ
import CollarWire
import RadioModems

/// A stick with RAK's RUI3 in point-to-point mode, as its published source says (`Tests/Transcripts`). Nothing here was tried on
/// hardware.
///
/// The mode and the settings are kept in flash, so they survive a restart; reception does not.
package struct RUI3Stick: BaseStick {
    /// What the host told the radio to receive.
    enum Reception: Equatable, Sendable {
        case nothing
        /// One packet, up to a time.
        case onePacket(until: Instant)
        /// Everything; sending is refused.
        case everything
        /// Everything; the radio leaves reception to send, and then goes on.
        case everythingBetweenTransmissions
    }

    /// What a factory-fresh module has.
    static let factorySettings = RadioSettings(
        frequencyHertz: 868_000_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 14)
    static let factoryPreambleSymbols: UInt16 = 8

    /// The longest line that the firmware takes: a packet of 255 bytes in hexadecimal digits has room. (H)
    private static let maximumLineByteCount = 1024
    /// Time between a packet's end on the air and its first byte on the line, in microseconds. (H)
    private static let receptionMicroseconds: Int64 = 1500
    /// Time in which the radio leaves reception before it sends, in microseconds. (H)
    private static let leavingMicroseconds: Int64 = 5000

    /// What is kept in flash.
    struct Flash: Equatable, Sendable {
        var settings = factorySettings
        var preambleSymbols = factoryPreambleSymbols
        var syncWord = "3444"
        var mode = Mode.loRaWAN
        /// Switches that make the module deaf for a collar, by the names of their commands: encryption, inverted signals, packets of
        /// a fixed length, a limit to the wait for a preamble; and listening before sending.
        var switches = ["ENCRY": 0, "IQINVER": 0, "FIXLENGTHPAYLOAD": 0, "SYMBOLTIMEOUT": 0, "CAD": 0]
    }

    /// What the radio is used for. The raw values are those of `AT+NWM`.
    enum Mode: UInt8, Sendable {
        case pointToPoint = 0, loRaWAN, fsk
    }

    let release: StickRelease
    var flash: Flash
    var reception = Reception.nothing
    var isRefusingSettings = false
    /// When the module restarts because the host told it to.
    var restartTime = Instant.never

    private var line: StickLine
    private var random: SeededRandom
    private var text: [UInt8] = []
    private var packet: [UInt8] = []
    private var transmissionTime = Instant.never
    private var isOnAir = false
    private var busyEnd = Instant(microseconds: 0)

    /// Creates a stick that has just been powered up.
    /// - Parameter commands: commands that an earlier owner gave it, such as `ENCRY=1`, which are kept in flash.
    package init(
        release: StickRelease = .rui3ShortPackets, after commands: [String] = [], timing: LineTiming = .uart, seed: UInt64 = 0
    ) {
        self.release = release
        flash = Flash()
        line = StickLine(timing: timing)
        random = SeededRandom(seed: seed)
        flash.mode = .pointToPoint
        for command in commands { keep(command) }
        if !commands.contains(where: { $0.hasPrefix("NWM=") }) { flash.mode = .loRaWAN }
        line = StickLine(timing: timing)
    }

    package var dialect: Dialect { .rui3 }
    package var isTakingInput: Bool { line.isTakingInput }

    package var radio: StickRadio {
        // A transmission may begin while the radio does not receive.
        flash.mode == .pointToPoint && !isDeaf && (reception != .nothing || isSending) ? .on(flash.settings) : .off
    }

    /// Whether the module cannot talk with a collar because of something else than the settings of its radio. Releases without
    /// AT+SYNCWORD have the sync word of private networks, and none of the other switches but the encryption.
    private var isDeaf: Bool {
        if flash.switches["ENCRY"] != 0 { return true }
        guard release >= .rui3BothForms else { return false }
        return flash.syncWord != "1424" || flash.switches.contains { $0.key != "CAD" && $0.value != 0 }
    }

    /// Whether a packet is sent or about to be.
    var isSending: Bool { !packet.isEmpty }

    package var nextDeadline: Instant { min(line.nextOutput, nextInput, timer) }

    /// When the next line is processed: none is any more once the module is about to restart.
    private var nextInput: Instant { restartTime == .never ? line.nextInput : .never }

    private var timer: Instant {
        var due = restartTime
        if isSending, !isOnAir { due = min(due, transmissionTime) }
        if case .onePacket(let end) = reception { due = min(due, end) }
        return line.whenUp(due)
    }

    package mutating func receive(_ bytes: [UInt8], now: Instant) {
        line.receive(bytes, delimiters: Array("\r\n".utf8), now: now)
    }

    package mutating func hear(_ packet: [UInt8], signal: RadioSignal, now: Instant) {
        guard !line.isDown(at: now), case .on = radio, !isSending, reception != .nothing else { return }
        if case .onePacket = reception { reception = .nothing }
        // The signal-to-noise ratio is in whole decibels.
        let noise = (Double(signal.signalToNoiseTenthsDB ?? 0) / 10).rounded()
        let event = "+EVT:RXP2P:\(signal.strengthDBm):\(Int(noise)):\(Self.hexadecimal(packet))\r\n"
        line.send(Array(event.utf8), after: Self.receptionMicroseconds, now: now)
    }

    package mutating func noteChannel(isBusy: Bool, now: Instant) {}

    package mutating func advance(to now: Instant) {
        guard !line.isDown(at: now) else { return }
        while true {
            let due = min(nextInput, timer)
            guard due <= now else { return }
            if nextInput == due {
                for byte in line.removeInput() { take(byte, now: due) }
            } else if line.whenUp(restartTime) == due {
                restart(now: now)
                return
            } else if case .onePacket(let end) = reception, line.whenUp(end) == due {
                reception = .nothing
                say("+EVT:RXP2P RECEIVE TIMEOUT\r\n", now: now)
            } else {
                // The packet goes on the air when the caller asks for it.
                return
            }
        }
    }

    package mutating func takeOutput(now: Instant) -> [UInt8] { line.takeOutput(now: now) }

    package mutating func nextTransmission(now: Instant) -> StickTransmission? {
        guard isSending, !isOnAir, transmissionTime <= now, !line.isDown(at: now) else { return nil }
        isOnAir = true
        var profile = flash.settings.profile(of: .rui3)
        // The profile has the factory's preamble.
        profile.frameOverheadMicroseconds +=
            (Int64(flash.preambleSymbols) - Int64(Self.factoryPreambleSymbols)) * flash.settings.symbolMicroseconds
        return StickTransmission(
            packet: packet, airtimeMicroseconds: profile.airtimeMicroseconds(frameByteCount: packet.count))
    }

    package mutating func transmissionEnded(now: Instant) {
        guard isOnAir else { return }
        isOnAir = false
        packet = []
        if release >= .rui3ReportsSent { say("+EVT:TXP2P DONE\r\n", now: now) }
    }

    package mutating func cause(_ fault: StickFault, now: Instant) {
        switch fault {
        case .reset: restart(now: now)
        case .stall: line.stall(now: now)
        case .garbage: line.sendGarbage(&random, now: now)
        case .refuse: isRefusingSettings = true
        // The module does not listen before it talks; it says that it is busy.
        case .busy, .full: busyEnd = now.advanced(byMicroseconds: StickFault.refusalMicroseconds)
        case .amplifier, .stuck: break
        }
    }

    /// Whether the module refuses to send because of a fault.
    func isBusy(now: Instant) -> Bool { now < busyEnd }

    /// Sends text to the host.
    mutating func say(_ text: String, now: Instant) { line.send(Array(text.utf8), now: now) }

    /// Begins to send a packet.
    mutating func send(_ data: [UInt8], now: Instant) {
        packet = data
        transmissionTime = now.advanced(byMicroseconds: Self.leavingMicroseconds)
    }

    /// Restarts, and prints a few lines of text for people.
    private mutating func restart(now: Instant) {
        var next = RUI3Stick(release: release)
        next.flash = flash
        next.isRefusingSettings = isRefusingSettings
        next.random = random
        next.busyEnd = busyEnd
        next.line = line
        next.line.restart(now: now)
        next.line.send(Array(startText.utf8), after: StickLine.bootMicroseconds, now: now)
        self = next
    }

    private var startText: String {
        let isNew = release >= .rui3ReportsSent
        let mode =
            switch flash.mode {
            case .pointToPoint: "LoRa P2P"
            case .loRaWAN: "LoRaWAN"
            case .fsk: "FSK P2P"
            }
        return "\r\nRAKwireless RAK3172\(isNew ? "" : "-E Example")\r\n------------------------------------------------------\r\n"
            + (isNew ? "Version: \(version)\r\n" : "") + "Current Work Mode: \(mode).\r\n"
    }

    /// The version as the firmware tells it.
    var version: String { "RUI_\(release.rawValue)_RAK3172-E" }

    /// Takes a byte of a line. The ends of lines are CR, LF or both.
    private mutating func take(_ byte: UInt8, now: Instant) {
        guard byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") else {
            if text.count < Self.maximumLineByteCount { text.append(byte) }
            return
        }
        let line = text
        text = []
        if !line.isEmpty { process(line, now: now) }
    }

    /// The digits of bytes.
    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
