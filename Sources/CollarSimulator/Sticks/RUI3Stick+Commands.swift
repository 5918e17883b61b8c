import CheckedNumbers
import CollarARQ
import RadioModems

extension RUI3Stick {
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
        guard reception == .nothing || reception == .everythingBetweenTransmissions, !isSending, !isBusy(now: now) else {
            return .busyError
        }
        send(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }, now: now)
        return .ok
    }
}
