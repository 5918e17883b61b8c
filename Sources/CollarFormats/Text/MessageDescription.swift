import CollarJournal
import CollarWire

/// Messages as text for people: every field with its unit.
package enum MessageDescription {
    /// The fields of a message, as pairs of name and value.
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
        case .settings(let settings): fields(of: settings)
        case .settingsRequest(let request): [("request", "\(request.requestID)")]
        case .command(let command):
            [
                ("request", "\(command.requestID)"), ("receiver", hexadecimal(UInt64(command.receiverID), digits: 8)),
                ("action", text(of: command.action)),
            ]
        case .commandResult(let result):
            [("request", "\(result.requestID)"), ("outcome", "\(result.outcome)")]
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

    /// A frame header in one line.
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
            ("device id", hexadecimal(identity.log.deviceID)), ("log id", "\(identity.log.logID)"),
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
        var parts: [String] = []
        for index in 0..<list.count {
            let range = list[index]
            parts.append(range.first == range.last ? "\(range.first)" : "\(range.first)–\(range.last)")
        }
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

    static func known<Value>(_ value: Value?, _ text: (Value) -> String) -> String {
        value.map(text) ?? "unknown"
    }

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
}
