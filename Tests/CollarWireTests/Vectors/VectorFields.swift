import CollarWire
import Testing

extension Message {
    /// Each field by its name in PROTOCOL.md, in snake case.
    var fields: [String: FieldValue] {
        switch self {
        case .fix(let fix): fix.fields
        case .batch(let batch): ["fixes": .list(batch.fixes.map { .fields($0.fields) })]
        case .identity(let identity): identity.fields
        case .probe(let probe):
            ["tag": FieldValue(probe.logTag), "next_sequence": FieldValue(probe.nextSequence)]
        case .identityRequest(let request): ["receiver_id": FieldValue(request.receiverID)]
        case .tombstone(let tombstone): ["ranges": FieldValue(tombstone.ranges)]
        case .status(let status): status.fields
        case .powerReport(let report): report.fields
        case .settings(let settings): settings.fields
        case .settingsRequest(let request): ["request_id": FieldValue(request.requestID)]
        case .command(let command): command.fields
        case .commandResult(let result):
            ["request_id": FieldValue(result.requestID), "outcome": FieldValue(result.outcome.rawValue)]
        case .collarMessage(let message):
            message.content.fields.merging(["sequence": FieldValue(message.sequence)]) { $1 }
        case .hostMessage(let message):
            message.content.fields.merging(
                ["request_id": FieldValue(message.requestID), "receiver_id": FieldValue(message.receiverID)]) { $1 }
        case .radioIdentity(let identity): identity.fields
        case .modemSettings(let settings): settings.fields
        case .signalReport(let report):
            [
                "packet_check": FieldValue(report.packetCRC), "strength": FieldValue(report.signal.strengthDBm),
                "signal_to_noise": FieldValue(report.signal.signalToNoiseTenthsDB),
            ]
        case .acknowledgement(let acknowledgement): acknowledgement.fields
        }
    }
}

extension FieldValue {
    fileprivate init(_ ranges: SequenceRangeList) {
        self = .list(
            ranges.ranges.map { .list([FieldValue($0.lowerBound), FieldValue($0.upperBound)]) })
    }
}

extension FieldValue {
    init(hexadecimal number: UInt64) {
        let digits = String(number, radix: 16)
        self = .text(String(repeating: "0", count: 16 - digits.count) + digits)
    }

    init(_ version: FirmwareVersion) {
        self = .list([FieldValue(version.major), FieldValue(version.minor), FieldValue(version.patch)])
    }
}

extension Fix {
    fileprivate var fields: [String: FieldValue] {
        [
            "sequence": FieldValue(sequence), "time": FieldValue(unixMilliseconds),
            "source": FieldValue(source.rawValue), "position_step": FieldValue(positionStep.rawValue),
            "latitude": FieldValue(latitudeSteps), "longitude": FieldValue(longitudeSteps),
            "altitude_step": FieldValue(altitudeStep.rawValue), "altitude": FieldValue(altitudeSteps),
            "horizontal_accuracy": FieldValue(horizontalAccuracy?.rawValue),
            "vertical_accuracy": FieldValue(verticalAccuracy?.rawValue),
            "speed": FieldValue(speedDecimetersPerSecond), "course": FieldValue(course?.steps),
            "heading": FieldValue(heading?.steps), "battery": FieldValue(batteryPercent),
        ]
    }
}

extension Acknowledgement {
    fileprivate var fields: [String: FieldValue] {
        var fields: [String: FieldValue] = [
            "poll": FieldValue(poll?.rawValue ?? 0), "receiver_id": FieldValue(receiverID),
            "first_missing": FieldValue(firstMissing), "durable": FieldValue(durable), "resend": FieldValue(resend),
        ]
        if company != .alone { fields["company"] = FieldValue(company.rawValue) }
        return fields
    }
}

extension Identity {
    fileprivate var fields: [String: FieldValue] {
        var fields: [String: FieldValue] = [
            "device_id": FieldValue(hexadecimal: log.deviceID.rawValue), "log_id": FieldValue(log.logID.rawValue),
            "boot_count": FieldValue(bootCount),
            "oldest_sequence": FieldValue(oldestSequence), "next_sequence": FieldValue(nextSequence),
            "paired_receiver": FieldValue(pairedReceiverID),
            "largest_frame": FieldValue(maximumFrameByteCount),
            "firmware_version": FieldValue(firmwareVersion),
            // Capabilities that PROTOCOL.md does not name are left out.
            "capabilities": FieldValue(capabilities.rawValue & 0b1111), "heartbeat": FieldValue(heartbeatSeconds),
        ]
        if deliveredElsewhere != 0 { fields["delivered_elsewhere"] = FieldValue(deliveredElsewhere) }
        return fields
    }
}

extension FieldValue: ExpressibleByIntegerLiteral {
    init(integerLiteral value: Int64) { self = .integer(Int128(value)) }
}

extension Status {
    var fields: [String: FieldValue] {
        [
            "tracking": FieldValue(isTracking ? 1 : 0), "gnss": FieldValue(gnssState.rawValue),
            "throttle": FieldValue(throttleState.rawValue), "stationary": FieldValue(isStationary ? 1 : 0),
            "resting": FieldValue(isResting ? 1 : 0),
            "clock": clock.map { .fields($0.fields) } ?? .unknown,
            "since": trackingSinceUnixSeconds == 0 ? .unknown : FieldValue(trackingSinceUnixSeconds),
            "battery": FieldValue(batteryPercent), "voltage": FieldValue(batteryMillivolts),
            "temperature": FieldValue(temperatureCelsius), "uptime": FieldValue(uptimeSeconds),
            "last_error": FieldValue(lastError.rawValue), "fixes_sent": FieldValue(fixesSent),
            "queue_depth": FieldValue(queueDepth), "drops": FieldValue(drops),
            "duplicates": FieldValue(duplicates), "retransmissions": FieldValue(retransmissions),
            "airtime": FieldValue(airtimeMilliseconds),
        ]
    }
}

extension Status.Clock {
    fileprivate var fields: [String: FieldValue] {
        ["time": FieldValue(unixMilliseconds), "uptime": FieldValue(uptimeMilliseconds)]
    }
}

extension PowerReport {
    var fields: [String: FieldValue] {
        [
            "mode": FieldValue(mode.rawValue), "supply": FieldValue(supply.rawValue), "uptime": FieldValue(uptimeSeconds),
            "seconds_to_search": FieldValue(secondsToSearch), "failures_in_row": FieldValue(failuresInRow),
            "time_to_fix": FieldValue(timeToFixTenths), "gnss_seconds": FieldValue(gnssSeconds),
            "listening_milliseconds": FieldValue(listeningMilliseconds), "awake_milliseconds": FieldValue(awakeMilliseconds),
            "searches": FieldValue(searches), "failures": FieldValue(failures),
        ]
    }
}

extension Settings {
    var fields: [String: FieldValue] {
        let entries = (0..<entries.count).map { self.entries[$0] }
        return [
            "request_id": FieldValue(requestID), "version": FieldValue(version.number),
            "origin": FieldValue(version.origin),
            "entries": .list(entries.map { .list([FieldValue($0.key), FieldValue($0.value)]) }),
        ]
    }
}

extension Command {
    var fields: [String: FieldValue] {
        let (code, argument): (Int, FieldValue) =
            switch action {
            case .startTracking: (1, .unknown)
            case .stopTracking: (2, .unknown)
            case .locateNow: (3, .unknown)
            case .sound(let milliseconds): (4, FieldValue(milliseconds))
            case .reboot: (5, .unknown)
            case .pair(let receiverID): (6, FieldValue(receiverID))
            case .unpair: (7, .unknown)
            case .find(let seconds): (8, FieldValue(seconds))
            case .reportPower: (9, .unknown)
            }
        return [
            "request_id": FieldValue(requestID), "receiver_id": FieldValue(receiverID), "action": FieldValue(code),
            "argument": argument,
        ]
    }
}

extension ApplicationMessage {
    /// The fields without those before the message.
    var fields: [String: FieldValue] {
        let digits = [UInt8](copying: data).map { String(String(0x100 + Int($0), radix: 16).dropFirst()) }
        var (kindCode, answered, outcome) = (0, FieldValue.unknown, FieldValue.unknown)
        switch kind {
        case .notice: break
        case .request: kindCode = 1
        case .reply(let request, let result):
            kindCode = 2
            answered = FieldValue(request)
            outcome = FieldValue(result.rawValue)
        }
        return [
            "kind": FieldValue(kindCode), "outcome": outcome, "code": FieldValue(code),
            "time": unixSeconds == 0 ? .unknown : FieldValue(unixSeconds), "answered": answered,
            "data": .text(digits.joined()),
        ]
    }
}

extension RadioIdentity {
    var fields: [String: FieldValue] {
        [
            "radio_id": FieldValue(hexadecimal: radioID), "firmware_version": FieldValue(firmwareVersion),
            "largest_frame": FieldValue(maximumFrameByteCount),
        ]
    }
}

extension ModemSettings {
    var fields: [String: FieldValue] {
        var fields = ["turnaround": FieldValue(turnaroundMilliseconds)]
        switch modulation {
        case .serial(let bitsPerSecond):
            fields["modulation"] = 0
            fields["bit_rate"] = FieldValue(bitsPerSecond)
        case .lora(let lora):
            fields["modulation"] = 1
            fields["frequency"] = FieldValue(lora.frequencyHertz)
            fields["bandwidth"] = FieldValue(lora.bandwidthHertz)
            fields["spreading_factor"] = FieldValue(lora.spreadingFactor)
            fields["coding_rate"] = FieldValue(lora.codingRateDenominator - 5)
            fields["explicit_header"] = FieldValue(lora.hasExplicitHeader ? 1 : 0)
            fields["crc"] = FieldValue(lora.hasCRC ? 1 : 0)
            fields["low_data_rate"] = FieldValue(lora.optimizesLowDataRate ? 1 : 0)
            fields["preamble"] = FieldValue(lora.preambleSymbols)
            fields["power"] = FieldValue(lora.powerDBm)
        }
        return fields
    }
}

extension Fix {
    /// The fix that a vector gives as an anchor.
    init(vectorFields fields: [String: FieldValue]) throws {
        let fields = VectorFields(fields: fields)
        let source = FixSource(rawValue: try fields.known("source"))
        let positionStep = PositionStep(rawValue: try fields.known("position_step"))
        let altitudeStep = AltitudeStep(rawValue: try fields.known("altitude_step"))
        self.init(
            sequence: try fields.known("sequence"), unixMilliseconds: try fields.known("time"),
            source: try #require(source), positionStep: try #require(positionStep),
            latitudeSteps: try fields.known("latitude"), longitudeSteps: try fields.known("longitude"),
            altitudeStep: try #require(altitudeStep), altitudeSteps: try fields.integer("altitude"),
            horizontalAccuracy: try fields.integer("horizontal_accuracy").flatMap(AccuracyCode.init(rawValue:)),
            verticalAccuracy: try fields.integer("vertical_accuracy").flatMap(AccuracyCode.init(rawValue:)),
            speedDecimetersPerSecond: try fields.integer("speed"),
            course: try fields.integer("course").flatMap(AngleCode.init(steps:)),
            heading: try fields.integer("heading").flatMap(AngleCode.init(steps:)),
            batteryPercent: try fields.integer("battery"))
    }
}

private struct VectorFields {
    let fields: [String: FieldValue]

    /// The number in a field; nil if it is unknown.
    func integer<Number: FixedWidthInteger>(_ name: String) throws -> Number? {
        let value = try #require(fields[name])
        guard case .integer(let integer) = value else { return nil }
        let number = Number(exactly: integer)
        _ = try #require(number)
        return number
    }

    func known<Number: FixedWidthInteger>(_ name: String) throws -> Number {
        let number: Number? = try integer(name)
        return try #require(number)
    }
}

extension DecodeError {
    /// The names that the invalid field may have in a vector.
    var fieldNames: Set<String> {
        guard case .invalidField(let field, _) = self else { return [] }
        let names = field.names
        return Set([names.0, names.1, names.2].compactMap { $0?.description })
    }
}
