import CollarWire

extension Status {
    var fields: [String: FieldValue] {
        [
            "tracking": FieldValue(isTracking ? 1 : 0), "gnss": FieldValue(gnssState.rawValue),
            "throttle": FieldValue(throttleState.rawValue), "stationary": FieldValue(isStationary ? 1 : 0),
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
