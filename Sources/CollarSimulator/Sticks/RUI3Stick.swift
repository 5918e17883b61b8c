import CheckedNumbers
import CollarARQ
import CollarWire
import RadioModems

/// A stick with RAK's RUI3 in point-to-point mode, as its published source says (`Tests/Transcripts`). Nothing here was tried on
/// hardware.
///
/// The mode and the settings are kept in flash, so they survive a restart; reception does not.
package struct RUI3Stick: BaseStick {
    /// The packets that the host told the radio to receive.
    enum Reception: Equatable, Sendable {
        case nothing
        /// One packet, up to a time.
        case onePacket(until: Instant)
        /// Everything; sending is refused.
        case everything
        /// Everything; the radio leaves reception to send, and then goes on.
        case everythingBetweenTransmissions
    }

    /// The settings of a factory-fresh module.
    static let factorySettings = RadioSettings(
        frequencyHertz: 868_000_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 14)
    static let factoryPreambleSymbols: UInt16 = 8

    /// The longest line that the firmware takes: a packet of 255 bytes in hexadecimal digits has room. (H)
    private static let maximumLineByteCount = 1024
    /// Time between a packet's end on the air and its first byte on the line, in microseconds. (H)
    private static let receptionMicroseconds: Int64 = 1500
    /// Time in which the radio leaves reception before it sends, in microseconds. (H)
    private static let leavingMicroseconds: Int64 = 5000

    struct Flash: Equatable, Sendable {
        var settings = factorySettings
        var preambleSymbols = factoryPreambleSymbols
        var syncWord = "3444"
        var mode = Mode.loRaWAN
        /// Switches that make the module deaf for a collar, by the names of their commands: encryption, inverted signals, packets of
        /// a fixed length, a limit to the wait for a preamble; and listening before sending.
        var switches = ["ENCRY": 0, "IQINVER": 0, "FIXLENGTHPAYLOAD": 0, "SYMBOLTIMEOUT": 0, "CAD": 0]
    }

    /// The use of the radio. The raw values are those of `AT+NWM`.
    enum Mode: UInt8, Sendable {
        case pointToPoint = 0, loRaWAN, fsk
    }

    let release: StickRelease
    var flash = Flash()
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
    /// Until when the module refuses to send because of a fault.
    private var busyEnd = Instant(microseconds: 0)

    /// Creates a stick that has just been powered up.
    /// - Parameter commands: commands that an earlier owner gave it, such as `ENCRY=1`, which are kept in flash.
    package init(
        release: StickRelease = .rui3ShortPackets, after commands: [String] = [], timing: LineTiming = .uart, seed: UInt64 = 0
    ) {
        self.release = release
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
                return restart(now: now)
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
        return StickTransmission(packet: packet, airtimeMicroseconds: profile.airtimeMicroseconds(frameByteCount: packet.count))
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

    mutating func say(_ text: String, now: Instant) { line.send(Array(text.utf8), now: now) }

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

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// The words with which the firmware ends its answer to a command.
    private enum Status: String {
        case ok = "OK"
        case error = "AT_ERROR"
        case parameterError = "AT_PARAM_ERROR"
        case busyError = "AT_BUSY_ERROR"
        case modeNotSupported = "AT_MODE_NO_SUPPORT"
        case commandNotFound = "AT_COMMAND_NOT_FOUND"
    }

    /// The bandwidths that belong to the indices from 0 on, in hertz.
    private static let bandwidthsHertz: [UInt32] = [
        125_000, 250_000, 500_000, 7800, 10_400, 15_600, 20_800, 31_250, 41_700, 62_500,
    ]
    /// The commands of point-to-point mode that every release has.
    private static let names = ["PFREQ", "PSF", "PBW", "PCR", "PPL", "PTP", "P2P", "PRECV", "PSEND", "ENCRY"]

    /// Carries out a command that was given before the stick was bought.
    mutating func keep(_ command: String) {
        let parts = command.split(separator: "=", maxSplits: 1).map(String.init)
        if parts.count == 2 { _ = set(parts[0], parts[1], now: Instant(microseconds: 0)) }
        restartTime = .never
    }

    /// Processes a line of the host. Names may be written in small letters.
    mutating func process(_ line: [UInt8], now: Instant) {
        let text = String(decoding: line, as: UTF8.self)
        switch text.uppercased() {
        case "AT": return answer(.ok, now: now)
        case "ATZ":
            restartTime = now
            return
        default: break
        }
        guard text.utf8.count == line.count, text.uppercased().hasPrefix("AT+") else { return answer(unknownCommand, now: now) }
        let parts = text.dropFirst(3).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].uppercased()
        guard isKnown(name) else { return answer(unknownCommand, now: now) }
        guard parts.count == 2 else { return answer(.parameterError, now: now) }
        if parts[1] == "?" { return tell(name, now: now) }
        if let status = set(name, String(parts[1]), now: now) { answer(status, now: now) }
    }

    private mutating func answer(_ status: Status, now: Instant) { say("\(status.rawValue)\r\n", now: now) }

    /// (H: from which release on there is a word of its own.)
    private var unknownCommand: Status { release >= .rui3BothForms ? .commandNotFound : .error }

    private func isKnown(_ name: String) -> Bool {
        switch name {
        case "VER", "NWM": true
        case "SYNCWORD", "IQINVER", "FIXLENGTHPAYLOAD", "SYMBOLTIMEOUT": release >= .rui3BothForms
        case "CAD": release >= .rui3ReportsReception
        default: Self.names.contains(name)
        }
    }

    private mutating func tell(_ name: String, now: Instant) {
        guard flash.mode != .loRaWAN || name == "VER" || name == "NWM" else { return answer(.modeNotSupported, now: now) }
        if name == "PRECV", release >= .rui3ReportsReception {
            say("P2P_RX_\(reception == .nothing ? "OFF" : "ON")\r\n", now: now)
            return answer(.ok, now: now)
        }
        guard let value = value(of: name) else { return answer(.parameterError, now: now) }
        say("AT+\(name)=\(value)\r\n", now: now)
        answer(.ok, now: now)
    }

    private func value(of name: String) -> String? {
        switch name {
        case "VER": version
        case "NWM": "\(flash.mode.rawValue)"
        case "PFREQ": "\(flash.settings.frequencyHertz)"
        case "PSF": "\(flash.settings.spreadingFactor)"
        case "PBW": bandwidthText
        case "PCR": "\(flash.settings.codingRateDenominator - 5)"
        case "PPL": "\(flash.preambleSymbols)"
        case "PTP": "\(flash.settings.powerDBm)"
        case "SYNCWORD": flash.syncWord.lowercased()
        case "P2P": ["PFREQ", "PSF", "PBW", "PCR", "PPL", "PTP"].compactMap(value(of:)).joined(separator: ":")
        default: flash.switches[name].map { "\($0)" }
        }
    }

    private var bandwidthText: String {
        let hertz = flash.settings.bandwidthHertz
        guard release >= .rui3Index, let index = Self.bandwidthsHertz.firstIndex(of: hertz) else { return "\(hertz / 1000)" }
        return "\(index)"
    }

    /// - Returns: the status; nil if the module restarts without one.
    private mutating func set(_ name: String, _ value: String, now: Instant) -> Status? {
        switch name {
        case "NWM": return setMode(value, now: now)
        case "VER": return .parameterError
        default: break
        }
        guard flash.mode != .loRaWAN else { return .modeNotSupported }
        switch name {
        case "PSEND": return send(value, now: now)
        case "PRECV": return receive(value, now: now)
        default: break
        }
        if release >= .rui3ReportsReception, name != "CAD", reception != .nothing || isSending {
            say("P2P_RX_ON already, please disable P2P RX before setting.\r\n", now: now)
            return .busyError
        }
        guard !isRefusingSettings else { return .parameterError }
        if name == "P2P" { return setAll(value) }
        return setOne(name, value)
    }

    /// The module restarts, also if it had the mode already. Up to 3.5.3 there is no status; after that it has no end of a line.
    private mutating func setMode(_ value: String, now: Instant) -> Status? {
        guard let number = UInt8(value, in: 0...2), let mode = Mode(rawValue: number) else { return .parameterError }
        if release >= .rui3ReportsReception, reception != .nothing { return .busyError }
        flash.mode = mode
        if release >= .rui3BothForms { say("OK", now: now) }
        restartTime = now.advanced(byMicroseconds: 5000)
        return nil
    }

    /// `frequency:SF:bandwidth:coding rate:preamble:power`: all are set, or none. (Before 4.0.4, those before the wrong one are.)
    private mutating func setAll(_ value: String) -> Status {
        let parts = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6 else { return .parameterError }
        var next = self
        for (name, part) in zip(["PFREQ", "PSF", "PBW", "PCR", "PPL", "PTP"], parts) {
            let status = next.setOne(name, part)
            guard status == .ok else { return status }
        }
        self = next
        return .ok
    }

    /// - Returns: the status. The ranges are those of `atcmd_p2p.c`.
    private mutating func setOne(_ name: String, _ value: String) -> Status {
        if name == "SYNCWORD" {
            guard value.count == 4, value.allSatisfy(\.isHexDigit) else { return .parameterError }
            flash.syncWord = value.uppercased()
            return .ok
        }
        guard let number = UInt32(value, in: 0 ... .max) else { return .parameterError }
        switch name {
        case "PFREQ" where LoRaChip.frequencyHertz.contains(number): flash.settings.frequencyHertz = number
        case "PSF" where (release >= .rui3Index ? 5...12 : 6...12).contains(number): flash.settings.spreadingFactor = UInt8(number)
        case "PBW": return setBandwidth(number)
        case "PCR" where number <= 3: flash.settings.codingRateDenominator = UInt8(number) + 5
        case "PPL" where (5...65_535).contains(number): flash.preambleSymbols = UInt16(number)
        case "PTP" where (5...22).contains(number): flash.settings.powerDBm = Int8(number)
        case "SYMBOLTIMEOUT" where number <= 248: flash.switches[name] = Int(number)
        case "ENCRY", "IQINVER", "FIXLENGTHPAYLOAD", "CAD":
            guard number <= 1 else { return .parameterError }
            flash.switches[name] = Int(number)
        default: return .parameterError
        }
        return .ok
    }

    private mutating func setBandwidth(_ number: UInt32) -> Status {
        if flash.mode == .fsk { return (4800...467_000).contains(number) ? .ok : .parameterError }
        let isKilohertz = [125, 250, 500].contains(number)
        switch release {
        case .rui3Kilohertz:
            guard isKilohertz else { return number > 500 ? .parameterError : .error }
        case .rui3Index:
            guard number <= 9 else { return .parameterError }
        default:
            guard isKilohertz || number <= 9 else { return .parameterError }
        }
        flash.settings.bandwidthHertz = isKilohertz ? number * 1000 : Self.bandwidthsHertz[Int(number)]
        return .ok
    }

    /// 0 ends reception, 1 … 65532 is the time in milliseconds in which one packet is received, 65535 has no such limit;
    /// 65534 receives everything, and 65533 allows sending too.
    private mutating func receive(_ value: String, now: Instant) -> Status {
        guard let code = UInt16(value, in: 0 ... .max) else { return .parameterError }
        guard code == 0 || !isReceptionEndless else {
            if release >= .rui3ReportsReception { say("P2P_RX_ON already\r\n", now: now) }
            return .busyError
        }
        switch code {
        case 0: reception = .nothing
        case 65_533: reception = .everythingBetweenTransmissions
        case 65_534: reception = .everything
        case 65_535: reception = .onePacket(until: .never)
        default: reception = .onePacket(until: now.advanced(byMicroseconds: Int64(code) * 1000))
        }
        return .ok
    }

    /// Only a reception that has an end can be replaced by another.
    private var isReceptionEndless: Bool {
        switch reception {
        case .nothing: false
        case .onePacket(let end): end == .never
        case .everything, .everythingBetweenTransmissions: true
        }
    }

    /// The source has no refusal during a transmission with 65533: the packet would be cut off. Here it is an error, so that a driver
    /// that does it shows.
    private mutating func send(_ value: String, now: Instant) -> Status {
        let digits = value.compactMap(\.hexDigitValue)
        let limit = release >= .rui3ShortPackets ? 239 : 256
        guard digits.count == value.count, !digits.isEmpty, digits.count.isMultiple(of: 2), digits.count <= 2 * limit else {
            return .parameterError
        }
        guard reception == .nothing || reception == .everythingBetweenTransmissions, !isSending, now >= busyEnd else {
            return .busyError
        }
        packet = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        transmissionTime = now.advanced(byMicroseconds: Self.leavingMicroseconds)
        return .ok
    }
}
