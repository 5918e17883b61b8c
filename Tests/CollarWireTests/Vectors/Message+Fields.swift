import CollarWire

extension Message {
    /// Each field by its name in PROTOCOL.md, in snake case.
    var fields: [String: FieldValue] {
        switch self {
        case .fix(let fix): fix.fields
        case .identity(let identity): identity.fields
        case .probe(let probe):
            ["tag": FieldValue(probe.logTag), "next_sequence": FieldValue(probe.nextSequence)]
        case .identityRequest(let request): ["receiver_id": FieldValue(request.receiverID)]
        case .tombstone(let tombstone): ["ranges": FieldValue(tombstone.ranges)]
        case .acknowledgement(let acknowledgement):
            [
                "ask": FieldValue(acknowledgement.ask?.rawValue ?? 0),
                "receiver_id": FieldValue(acknowledgement.receiverID),
                "first_missing": FieldValue(acknowledgement.firstMissing),
                "durable": FieldValue(acknowledgement.durable), "resend": FieldValue(acknowledgement.resend),
            ]
        }
    }
}

extension FieldValue {
    fileprivate init(_ ranges: SequenceRangeList) {
        self = .list(
            ranges.ranges.map { .list([FieldValue($0.lowerBound), FieldValue($0.upperBound)]) })
    }
}

extension Fix {
    fileprivate var fields: [String: FieldValue] {
        [
            "type": 2, "sequence": FieldValue(sequence), "time": FieldValue(unixMilliseconds),
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

extension Identity {
    fileprivate var fields: [String: FieldValue] {
        let digits = String(log.deviceID, radix: 16)
        let version = [firmwareVersion.major, firmwareVersion.minor, firmwareVersion.patch]
        return [
            "device_id": .text(String(repeating: "0", count: 16 - digits.count) + digits),
            "log_id": FieldValue(log.logID), "boot_count": FieldValue(bootCount),
            "oldest_sequence": FieldValue(oldestSequence), "next_sequence": FieldValue(nextSequence),
            "paired_receiver": FieldValue(pairedReceiverID),
            "largest_frame": FieldValue(maximumFrameByteCount),
            "firmware_version": .list(version.map { FieldValue($0) }),
            "capabilities": FieldValue(capabilities.rawValue), "heartbeat": FieldValue(heartbeatSeconds),
        ]
    }
}

extension FieldValue: ExpressibleByIntegerLiteral {
    init(integerLiteral value: Int64) { self = .integer(value) }
}
