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
        case commandNotFound = "AT_COMMAND_NOT_FOUND"
    }

    /// The bandwidths that `AT+P2P` and `AT+PBW` know, in kilohertz.
    private static let bandwidthKilohertz: ClosedRange<UInt32> = 125...500

    /// Processes a line of the host. Names may be written in small letters.
    mutating func process(_ line: [UInt8], now: Instant) {
        let text = String(decoding: line, as: UTF8.self)
        guard text.utf8.count == line.count, text.uppercased().hasPrefix("AT") else { return answer(.error, now: now) }
        let rest = text.dropFirst(2)
        switch rest.uppercased() {
        case "": return answer(.ok, now: now)
        case "Z":
            restartTime = now
            return
        default: break
        }
        guard rest.first == "+" else { return answer(.commandNotFound, now: now) }
        let parts = rest.dropFirst().split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].uppercased()
        guard parts.count == 2 else { return answer(Self.isKnown(name) ? .error : .commandNotFound, now: now) }
        if parts[1] == "?" { return tell(name, now: now) }
        answer(set(name, String(parts[1]), now: now), now: now)
    }

    private mutating func answer(_ status: Status, now: Instant) { say("\r\n\(status.rawValue)\r\n", now: now) }

    private static func isKnown(_ name: String) -> Bool {
        ["VER", "NWM", "PFREQ", "PSF", "PBW", "PCR", "PPL", "PTP", "P2P", "SYNCWORD", "PRECV", "PSEND"].contains(name)
    }

    private mutating func tell(_ name: String, now: Instant) {
        guard let value = value(of: name) else {
            return answer(Self.isKnown(name) ? .error : .commandNotFound, now: now)
        }
        say("AT+\(name)=\(value)\r\n", now: now)
        answer(.ok, now: now)
    }

    private func value(of name: String) -> String? {
        switch name {
        case "VER": "RUI_4.0.6_simulated"
        case "NWM": isLoRaWAN ? "1" : "0"
        case "PFREQ": "\(settings.frequencyHertz)"
        case "PSF": "\(settings.spreadingFactor)"
        case "PBW": "\(settings.bandwidthHertz / 1000)"
        case "PCR": "\(settings.codingRateDenominator - 5)"
        case "PPL": "\(preambleSymbols)"
        case "PTP": "\(settings.powerDBm)"
        case "SYNCWORD": syncWord
        case "P2P": ["PFREQ", "PSF", "PBW", "PCR", "PPL", "PTP"].compactMap(value(of:)).joined(separator: ":")
        case "PRECV": receptionCode
        default: nil
        }
    }

    private var receptionCode: String {
        switch reception {
        case .nothing: "0"
        case .onePacket(let end): end == .never ? "65535" : "1"
        case .everything: "65534"
        case .everythingBetweenTransmissions: "65533"
        }
    }

    private mutating func set(_ name: String, _ value: String, now: Instant) -> Status {
        switch name {
        case "NWM": return setMode(value, now: now)
        case "VER": return .error
        default: break
        }
        guard Self.isKnown(name) else { return .commandNotFound }
        // (H: the word for a command of the other mode.)
        guard !isLoRaWAN else { return .error }
        switch name {
        case "PSEND": return send(value, now: now)
        case "PRECV": return receive(value, now: now)
        default: break
        }
        // (H: that the settings cannot be changed during reception.)
        guard reception == .nothing, !isSending else { return .busyError }
        guard !isRefusingSettings else { return .parameterError }
        if name == "P2P" { return setAll(value) }
        return setOne(name, value) ? .ok : .parameterError
    }

    /// `AT+NWM=0` restarts the module if it was in LoRaWAN mode, and keeps the settings. (H: 2, for FSK, is not known here.)
    private mutating func setMode(_ value: String, now: Instant) -> Status {
        guard value == "0" || value == "1" else { return .parameterError }
        let becomesLoRaWAN = value == "1"
        if becomesLoRaWAN != isLoRaWAN {
            isLoRaWAN = becomesLoRaWAN
            // Its answer leaves the UART before. (H)
            restartTime = now.advanced(byMicroseconds: 50_000)
        }
        return .ok
    }

    /// `frequency:SF:bandwidth:coding rate:preamble:power`: all are set, or none.
    private mutating func setAll(_ value: String) -> Status {
        let parts = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6 else { return .parameterError }
        var next = self
        for (name, part) in zip(["PFREQ", "PSF", "PBW", "PCR", "PPL", "PTP"], parts) {
            guard next.setOne(name, part) else { return .parameterError }
        }
        self = next
        return .ok
    }

    /// - Returns: whether the value is in range. (H: the ranges.)
    private mutating func setOne(_ name: String, _ value: String) -> Bool {
        if name == "SYNCWORD" {
            guard value.count == 4, value.allSatisfy(\.isHexDigit) else { return false }
            syncWord = value.uppercased()
            return true
        }
        guard let number = UInt32(value, in: 0 ... .max) else { return false }
        switch name {
        case "PFREQ" where LoRaChip.frequencyHertz.contains(number): settings.frequencyHertz = number
        case "PSF" where (6...12).contains(number): settings.spreadingFactor = UInt8(number)
        case "PBW" where Self.bandwidthKilohertz.contains(number) && LoRaChip.bandwidthHertz.contains(number * 1000):
            settings.bandwidthHertz = number * 1000
        case "PCR" where number <= 3: settings.codingRateDenominator = UInt8(number) + 5
        case "PPL" where (5...65_535).contains(number): preambleSymbols = UInt16(number)
        case "PTP" where (5...22).contains(number): settings.powerDBm = Int8(number)
        default: return false
        }
        return true
    }

    /// 0 ends reception, 1 … 65532 is the time in milliseconds in which one packet is received, 65535 has no such limit;
    /// 65534 receives everything, and 65533 allows sending too.
    private mutating func receive(_ value: String, now: Instant) -> Status {
        guard let code = UInt16(value, in: 0 ... .max) else { return .parameterError }
        // (H: that only 0 is allowed during reception.)
        guard code == 0 || reception == .nothing && !isSending else { return .busyError }
        switch code {
        case 0: reception = .nothing
        case 65_533: reception = .everythingBetweenTransmissions
        case 65_534: reception = .everything
        case 65_535: reception = .onePacket(until: .never)
        default: reception = .onePacket(until: now.advanced(byMicroseconds: Int64(code) * 1000))
        }
        return .ok
    }

    private mutating func send(_ value: String, now: Instant) -> Status {
        let digits = value.compactMap(\.hexDigitValue)
        guard digits.count == value.count, !digits.isEmpty, digits.count.isMultiple(of: 2),
            digits.count <= 2 * Self.maximumPacketByteCount
        else { return .parameterError }
        guard reception == .nothing || reception == .everythingBetweenTransmissions, !isSending, !isBusy(now: now) else {
            return .busyError
        }
        send(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }, now: now)
        return .ok
    }
}
