import CollarJournal
import CollarWire

extension MessageDescription {
    static func fields(of status: Status) -> [(name: String, value: String)] {
        let since = Int64(status.trackingSinceUnixSeconds) * 1000
        return [
            ("tracking", status.isTracking ? "on" : "off"),
            ("since", since == 0 ? "unknown" : utcText(unixMilliseconds: since)),
            ("GNSS", "\(status.gnssState)"), ("throttle", "\(status.throttleState)"),
            ("stationary", status.isStationary ? "yes" : "no"),
            ("battery", known(status.batteryPercent) { "\($0) %" }),
            ("battery voltage", known(status.batteryMillivolts) { "\($0) mV" }),
            ("temperature", known(status.temperatureCelsius) { "\($0) °C" }),
            ("uptime", "\(status.uptimeSeconds) s"), ("last error", text(of: status.lastError)),
            ("fixes sent", "\(status.fixesSent)"), ("queue depth", "\(status.queueDepth)"),
            ("drops", "\(status.drops)"), ("duplicates", "\(status.duplicates)"),
            ("retransmissions", "\(status.retransmissions)"), ("airtime", "\(status.airtimeMilliseconds) ms"),
            (
                "clock",
                known(status.clock) {
                    let milliseconds = UInt64(status.uptimeSeconds) * 1000 + UInt64($0.uptimeMilliseconds)
                    return "\(utcText(unixMilliseconds: $0.unixMilliseconds)) at uptime \(milliseconds) ms"
                }
            ),
        ]
    }

    private static func text(of fault: CollarFault) -> String {
        guard fault != .none else { return "none" }
        return fault.name.map { "\(fault.rawValue) (\($0))" } ?? "\(fault.rawValue)"
    }

    static func fields(of settings: Settings) -> [(name: String, value: String)] {
        var fields = [
            ("request", "\(settings.requestID)"), ("version", "\(settings.version.number)"),
            ("origin", ResultLine.text(ofOrigin: settings.version.origin)),
        ]
        for index in 0..<settings.entries.count {
            let entry = settings.entries[index]
            let name = SettingKey(rawValue: entry.key).map { "\($0)" } ?? "key \(entry.key)"
            fields.append((name, "\(entry.value)"))
        }
        return fields
    }

    static func text(of action: Command.Action) -> String {
        switch action {
        case .startTracking: "start tracking"
        case .stopTracking: "stop tracking"
        case .locateNow: "locate now"
        case .sound(let milliseconds): "sound for \(milliseconds) ms"
        case .reboot: "reboot"
        case .pair(let receiverID): "pair with \(hexadecimal(UInt64(receiverID), digits: 8))"
        case .unpair: "unpair"
        }
    }

    /// A message of an application in one line. Printable data is a text in quotation marks; other data is hexadecimal.
    package static func line(of message: ApplicationMessage) -> String {
        var line = message.kind.name
        if case .reply(let request, let outcome) = message.kind { line += " to \(request): \(outcome)," }
        line += " of code \(message.code)"
        let bytes = message.data.indices.map { message.data[$0] }
        if bytes.isEmpty { return line }
        let isText = bytes.allSatisfy { (0x20..<0x7F).contains($0) }
        return line + (isText ? ": '\(String(decoding: bytes, as: UTF8.self))'" : ", data \(String(hexadecimal: message.data))")
    }

    static func fields(of message: ApplicationMessage) -> [(name: String, value: String)] {
        var fields = [("kind", message.kind.name)]
        if case .reply(let request, let outcome) = message.kind {
            fields += [("answers", "\(request)"), ("outcome", "\(outcome)")]
        }
        let time = Int64(message.unixSeconds) * 1000
        let data = String(hexadecimal: message.data)
        return fields + [
            ("code", "\(message.code)"), ("time", time == 0 ? "unknown" : utcText(unixMilliseconds: time)),
            ("data", data.isEmpty ? "none" : data),
        ]
    }

    static func fields(of identity: RadioIdentity) -> [(name: String, value: String)] {
        let version = identity.firmwareVersion
        return [
            ("radio id", hexadecimal(identity.radioID)),
            ("firmware", "\(version.major).\(version.minor).\(version.patch)"),
            ("largest frame", "\(identity.maximumFrameByteCount) bytes"),
        ]
    }

    static func fields(of settings: ModemSettings) -> [(name: String, value: String)] {
        let turnaround = ("turnaround", "\(settings.turnaroundMilliseconds) ms")
        switch settings.modulation {
        case .serial(let bitsPerSecond): return [("serial", "\(bitsPerSecond) bit/s"), turnaround]
        case .lora(let lora):
            return [
                ("LoRa", "\(decimal(Int64(lora.frequencyHertz), 6)) MHz"),
                ("bandwidth", "\(decimal(Int64(lora.bandwidthHertz), 3)) kHz"),
                ("spreading factor", "\(lora.spreadingFactor)"), ("coding rate", "4/\(lora.codingRateDenominator)"),
                ("preamble", "\(lora.preambleSymbols) symbols"),
                ("explicit header", lora.hasExplicitHeader ? "yes" : "no"), ("CRC", lora.hasCRC ? "yes" : "no"),
                ("low data rate optimisation", lora.optimizesLowDataRate ? "yes" : "no"),
                ("power", "\(lora.powerDBm) dBm"), turnaround,
            ]
        }
    }

    static func fields(of report: SignalReport) -> [(name: String, value: String)] {
        [
            ("about the packet with CRC", hexadecimal(UInt64(report.packetCRC), digits: 6)),
            ("strength", "\(report.signal.strengthDBm) dBm"),
            ("signal to noise", known(report.signal.signalToNoiseTenthsDB) { decimal(Int64($0), 1) + " dB" }),
        ]
    }
}
