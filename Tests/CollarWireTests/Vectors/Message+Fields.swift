import CollarWire

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
            "device_id": FieldValue(hexadecimal: log.deviceID), "log_id": FieldValue(log.logID),
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
