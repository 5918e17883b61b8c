import CollarJournal
import CollarWire

/// Messages as text for people: every field with its unit.
package enum MessageDescription {
    package static func fields(of message: Message) -> [(name: String, value: String)] {
        switch message {
        case .identity(let identity): fields(of: identity)
        case .fix(let fix): fields(of: fix)
        case .batch(let batch): fields(of: batch)
        case .probe(let probe):
            [("log tag", hexadecimal(UInt64(probe.logTag), digits: 6)), ("next sequence", "\(probe.nextSequence)")]
        case .tombstone(let tombstone): [("gone for ever", text(of: tombstone.ranges))]
        case .acknowledgement(let acknowledgement): fields(of: acknowledgement)
        case .status(let status): fields(of: status)
        case .powerReport(let report): fields(of: report)
        case .settings(let settings): fields(of: settings)
        case .settingsRequest(let request): [("request", "\(request.requestID)")]
        case .command(let command):
            [
                ("request", "\(command.requestID)"), ("receiver", hexadecimal(UInt64(command.receiverID), digits: 8)),
                ("action", text(of: command.action)),
            ]
        case .commandResult(let result): [("request", "\(result.requestID)"), ("outcome", "\(result.outcome)")]
        case .collarMessage(let message): [("sequence", "\(message.sequence)")] + fields(of: message.content)
        case .hostMessage(let message):
            [
                ("request", "\(message.requestID)"), ("receiver", hexadecimal(UInt64(message.receiverID), digits: 8)),
            ] + fields(of: message.content)
        case .radioIdentity(let identity): fields(of: identity)
        case .modemSettings(let settings): fields(of: settings)
        case .signalReport(let report): fields(of: report)
        case .identityRequest(let request): [("receiver", hexadecimal(UInt64(request.receiverID), digits: 8))]
        }
    }

    package static func line(of header: FrameHeader) -> String {
        var line = "\(name(of: header)), address \(header.address)"
        if let poll = header.flags.poll { line += ", poll \(poll.rawValue)" }
        var ignorable = FrameFlags(rawValue: header.flags.rawValue & FrameFlags.ignorableMask)
        if header.type == .tombstone, ignorable.isDeliveredElsewhere {
            line += ", delivered elsewhere"
            ignorable.rawValue &= ~FrameFlags(poll: nil, isDeliveredElsewhere: true).rawValue
        }
        if header.type == .acknowledgement { ignorable.rawValue = 0 }
        if ignorable.rawValue != 0 { line += ", unknown flags \(hexadecimal(UInt64(ignorable.rawValue), digits: 2))" }
        return line
    }

    private static func name(of header: FrameHeader) -> String {
        switch header.type {
        case .collarMessage: "application message from the collar"
        case .hostMessage: "application message from the host"
        // The name of the case, split into words.
        case let type?: "\(type)".reduce(into: "") { $0 += $1.isUppercase ? " " + $1.lowercased() : String($1) }
        case nil: "type \(header.typeCode)"
        }
    }

    private static func fields(of identity: Identity) -> [(name: String, value: String)] {
        let version = identity.firmwareVersion
        let paired = identity.pairedReceiverID
        return [
            ("device id", identity.log.deviceID.description), ("log id", "\(identity.log.logID)"),
            ("boot count", "\(identity.bootCount)"), ("oldest sequence", "\(identity.oldestSequence)"),
            ("next sequence", "\(identity.nextSequence)"),
            ("paired receiver", paired == 0 ? "none" : hexadecimal(UInt64(paired), digits: 8)),
            ("largest frame", "\(identity.maximumFrameByteCount) bytes"),
            ("firmware", "\(version.major).\(version.minor).\(version.patch)"),
            ("capabilities", text(of: identity.capabilities)), ("heartbeat", "\(identity.heartbeatSeconds) s"),
            ("delivered elsewhere", identity.deliveredElsewhere == 0 ? "none" : "below \(identity.deliveredElsewhere)"),
        ]
    }

    private static func text(of capabilities: Capabilities) -> String {
        var names: [String] = []
        if capabilities.contains(.compass) { names.append("compass") }
        if capabilities.contains(.sounder) { names.append("sounder") }
        if capabilities.contains(.messages) { names.append("takes messages") }
        if capabilities.contains(.listenBeforeTalk) { names.append("listens before it talks") }
        return names.isEmpty ? "none" : names.joined(separator: ", ")
    }

    private static func fields(of message: Acknowledgement) -> [(name: String, value: String)] {
        [
            ("receiver", hexadecimal(UInt64(message.receiverID), digits: 8)),
            ("answers poll", message.poll.map { "\($0.rawValue)" } ?? "none"),
            ("first missing", "\(message.firstMissing)"), ("durable", text(of: message.durable)),
            ("resend", text(of: message.resend)), ("collars heard", text(of: message.company)),
        ]
    }

    private static func text(of company: Company) -> String {
        switch company {
        case .alone: "1"
        case .few: "2 to 4"
        case .several: "5 to 16"
        case .many: "more than 16"
        }
    }

    private static func text(of list: SequenceRangeList) -> String {
        let ranges = (0..<list.count).map { list[$0] }
        let parts = ranges.map { $0.first == $0.last ? "\($0.first)" : "\($0.first)–\($0.last)" }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }

    private static func fields(of fix: Fix) -> [(name: String, value: String)] {
        let digits = fix.positionStep.fractionDigits
        return [
            ("sequence", "\(fix.sequence)"), ("time", "\(utcText(unixMilliseconds: fix.unixMilliseconds))"),
            ("source", "\(fix.source)"), ("latitude", decimal(Int64(fix.latitudeSteps), digits) + "°"),
            ("longitude", decimal(Int64(fix.longitudeSteps), digits) + "°"),
            ("position step", "1e-\(digits)°"),
            ("altitude", known(fix.altitudeSteps) { decimal(Int64($0), fix.altitudeStep.fractionDigits) + " m" }),
            ("horizontal accuracy", known(fix.horizontalAccuracy) { accuracy($0) }),
            ("vertical accuracy", known(fix.verticalAccuracy) { accuracy($0) }),
            ("speed", known(fix.speedDecimetersPerSecond) { decimal(Int64($0), 1) + " m/s" }),
            ("course", known(fix.course) { "\($0.degrees)°" }),
            ("heading", known(fix.heading) { "\($0.degrees)°" }),
            ("battery", known(fix.batteryPercent) { "\($0) %" }),
        ]
    }

    /// The number of fixes, the places of the first fix and of the other fixes in the frame, and the fields of each fix. The
    /// other fixes are entropy-coded, so their fields have no bit positions.
    private static func fields(of batch: Batch) -> [(name: String, value: String)] {
        var lines = [
            (name: "fixes", value: "\(batch.count)"),
            (name: "first fix", value: "byte \(FrameHeader.byteCount), \(batch.startBitCount) bits"),
        ]
        if batch.count > 1 {
            let bit = 8 * FrameHeader.byteCount + batch.startBitCount
            lines.append((name: "other fixes", value: "from byte \(bit / 8), bit \(bit % 8)"))
        }
        var number = 0
        batch.forEach { fix in
            number += 1
            lines += fields(of: fix).map { (name: "fix \(number), \($0.name)", value: $0.value) }
        }
        return lines
    }

    static func known<Value>(_ value: Value?, _ text: (Value) -> String) -> String { value.map(text) ?? "unknown" }

    private static func accuracy(_ code: AccuracyCode) -> String {
        decimal(Int64(code.millimeters), 3) + " m" + (code.rawValue == AccuracyCode.top ? " or more" : "")
    }

    /// An accuracy in metres for people: with one decimal place below 10 m, else without.
    package static func meters(_ accuracy: AccuracyCode) -> String { accuracy.shownMeters.text }

    /// An integer with a decimal point before its last `fractionDigits` digits.
    package static func decimal(_ value: Int64, _ fractionDigits: Int) -> String {
        FixedPoint(value, fractionDigits: fractionDigits).keepingZeros.text
    }

    /// A number in lower-case hexadecimal, padded with zeros to `digits` digits.
    package static func hexadecimal(_ value: UInt64, digits: Int = 16) -> String {
        String(value, radix: 16, minimumDigits: digits)
    }

    static func fields(of status: Status) -> [(name: String, value: String)] {
        let since = Int64(status.trackingSinceUnixSeconds) * 1000
        return [
            ("tracking", status.isTracking ? "on" : "off"),
            ("since", since == 0 ? "unknown" : utcText(unixMilliseconds: since)),
            ("GNSS", "\(status.gnssState)" + (status.isResting ? ", rests until the next search" : "")), ("throttle", "\(status.throttleState)"),
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

    static func fields(of report: PowerReport) -> [(name: String, value: String)] {
        [
            ("mode", "\(report.mode)"), ("GNSS supply", "\(report.supply)"), ("uptime", "\(report.uptimeSeconds) s"),
            ("next search", report.secondsToSearch.map { "in \($0) s" } ?? "none planned"),
            ("failures in a row", "\(report.failuresInRow)"),
            ("last time to a position", known(report.timeToFixTenths) { decimal(Int64($0), 1) + " s" }),
            ("GNSS on", "\(report.gnssSeconds) s"), ("listening", "\(report.listeningMilliseconds) ms"),
            ("awake", "\(report.awakeMilliseconds) ms"), ("searches", "\(report.searches)"), ("failures", "\(report.failures)"),
        ]
    }

    private static func text(of fault: CollarFault) -> String {
        guard fault != .none else { return "none" }
        return fault.name.map { "\(fault.rawValue) (\($0))" } ?? "\(fault.rawValue)"
    }

    static func fields(of settings: Settings) -> [(name: String, value: String)] {
        [
            ("request", "\(settings.requestID)"), ("version", "\(settings.version.number)"),
            ("origin", ResultLine.text(ofOrigin: settings.version.origin)),
        ]
            + (0..<settings.entries.count).map { settings.entries[$0] }
            .map { (SettingKey(rawValue: $0.key).map { "\($0)" } ?? "key \($0.key)", "\($0.value)") }
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
        case .find(let seconds): seconds > 0 ? "find for \(seconds) s" : "end find"
        case .reportPower: "report power"
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
