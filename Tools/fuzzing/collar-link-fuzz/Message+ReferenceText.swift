import CollarWire

extension Message {
    /// The fields of the message with the names of PROTOCOL.md, without the type.
    var referenceFields: [String: ReferenceText] {
        switch self {
        case .fix(let fix): fix.referenceFields
        case .batch(let batch): batch.referenceFields
        case .identity(let identity): identity.referenceFields
        case .probe(let probe):
            ["tag": ReferenceText(probe.logTag), "next_sequence": ReferenceText(probe.nextSequence)]
        case .identityRequest(let request): ["receiver_id": ReferenceText(request.receiverID)]
        case .tombstone(let tombstone): ["ranges": ReferenceText(tombstone.ranges)]
        case .status(let status): status.referenceFields
        case .powerReport(let report): report.referenceFields
        case .settings(let settings): settings.referenceFields
        case .settingsRequest(let request): ["request_id": ReferenceText(request.requestID)]
        case .command(let command): command.referenceFields
        case .commandResult(let result):
            ["request_id": ReferenceText(result.requestID), "outcome": ReferenceText(result.outcome.rawValue)]
        case .collarMessage(let message):
            message.content.referenceFields.merging(["sequence": ReferenceText(message.sequence)]) { $1 }
        case .hostMessage(let message):
            message.content.referenceFields.merging(
                ["request_id": ReferenceText(message.requestID), "receiver_id": ReferenceText(message.receiverID)]) { $1 }
        case .radioIdentity(let identity): identity.referenceFields
        case .modemSettings(let settings): settings.referenceFields
        case .signalReport(let report):
            [
                "packet_check": ReferenceText(report.packetCRC), "strength": ReferenceText(report.signal.strengthDBm),
                "signal_to_noise": ReferenceText(report.signal.signalToNoiseTenthsDB),
            ]
        case .acknowledgement(let acknowledgement): acknowledgement.referenceFields
        }
    }
}

extension Acknowledgement {
    fileprivate var referenceFields: [String: ReferenceText] {
        var fields: [String: ReferenceText] = [
            "poll": ReferenceText(poll?.rawValue ?? 0), "receiver_id": ReferenceText(receiverID),
            "first_missing": ReferenceText(firstMissing), "durable": ReferenceText(durable), "resend": ReferenceText(resend),
        ]
        if company != .alone { fields["company"] = ReferenceText(company.rawValue) }
        return fields
    }
}

extension Batch {
    fileprivate var referenceFields: [String: ReferenceText] {
        var fixes: [ReferenceText] = []
        forEach { fixes.append(.fields($0.referenceFields)) }
        return ["fixes": .list(fixes)]
    }
}

extension Fix {
    var referenceFields: [String: ReferenceText] {
        [
            "sequence": ReferenceText(sequence), "time": ReferenceText(unixMilliseconds),
            "source": ReferenceText(source.rawValue), "position_step": ReferenceText(positionStep.rawValue),
            "latitude": ReferenceText(latitudeSteps), "longitude": ReferenceText(longitudeSteps),
            "altitude_step": ReferenceText(altitudeStep.rawValue), "altitude": ReferenceText(altitudeSteps),
            "horizontal_accuracy": ReferenceText(horizontalAccuracy?.rawValue),
            "vertical_accuracy": ReferenceText(verticalAccuracy?.rawValue),
            "speed": ReferenceText(speedDecimetersPerSecond), "course": ReferenceText(course?.steps),
            "heading": ReferenceText(heading?.steps), "battery": ReferenceText(batteryPercent),
        ]
    }
}

extension Identity {
    fileprivate var referenceFields: [String: ReferenceText] {
        var fields: [String: ReferenceText] = [
            "device_id": ReferenceText(hexadecimal: log.deviceID.rawValue), "log_id": ReferenceText(log.logID.rawValue),
            "boot_count": ReferenceText(bootCount), "oldest_sequence": ReferenceText(oldestSequence),
            "next_sequence": ReferenceText(nextSequence), "paired_receiver": ReferenceText(pairedReceiverID),
            "largest_frame": ReferenceText(maximumFrameByteCount),
            "firmware_version": ReferenceText(firmwareVersion),
            // Capabilities without a name are left out.
            "capabilities": ReferenceText(capabilities.rawValue & 0b1111),
            "heartbeat": ReferenceText(heartbeatSeconds),
        ]
        if deliveredElsewhere != 0 { fields["delivered_elsewhere"] = ReferenceText(deliveredElsewhere) }
        return fields
    }
}

extension Settings {
    fileprivate var referenceFields: [String: ReferenceText] {
        let entries = (0..<entries.count).map { self.entries[$0] }
        return [
            "request_id": ReferenceText(requestID), "version": ReferenceText(version.number),
            "origin": ReferenceText(version.origin),
            "entries": .list(entries.map { .list([ReferenceText($0.key), ReferenceText($0.value)]) }),
        ]
    }
}

extension Command {
    fileprivate var referenceFields: [String: ReferenceText] {
        let (code, argument): (Int, ReferenceText) =
            switch action {
            case .startTracking: (1, .null)
            case .stopTracking: (2, .null)
            case .locateNow: (3, .null)
            case .sound(let milliseconds): (4, ReferenceText(milliseconds))
            case .reboot: (5, .null)
            case .pair(let receiverID): (6, ReferenceText(receiverID))
            case .unpair: (7, .null)
            case .find(let seconds): (8, ReferenceText(seconds))
            case .reportPower: (9, .null)
            }
        return [
            "request_id": ReferenceText(requestID), "receiver_id": ReferenceText(receiverID),
            "action": ReferenceText(code), "argument": argument,
        ]
    }
}

extension ApplicationMessage {
    fileprivate var referenceFields: [String: ReferenceText] {
        var (kindCode, answered, outcome) = (0, ReferenceText.null, ReferenceText.null)
        switch kind {
        case .notice: break
        case .request: kindCode = 1
        case .reply(let request, let result):
            (kindCode, answered, outcome) = (2, ReferenceText(request), ReferenceText(result.rawValue))
        }
        return [
            "kind": ReferenceText(kindCode), "outcome": outcome, "code": ReferenceText(code),
            "time": unixSeconds == 0 ? .null : ReferenceText(unixSeconds), "answered": answered,
            "data": .text(Hexadecimal.text(of: data.indices.map { data[$0] })),
        ]
    }
}
