import CollarWire

extension Status {
    var referenceFields: [String: ReferenceText] {
        [
            "tracking": .flag(isTracking), "gnss": ReferenceText(gnssState.rawValue),
            "throttle": ReferenceText(throttleState.rawValue), "stationary": .flag(isStationary), "resting": .flag(isResting),
            "clock": clock.map { .fields($0.referenceFields) } ?? .null,
            "since": trackingSinceUnixSeconds == 0 ? .null : ReferenceText(trackingSinceUnixSeconds),
            "battery": ReferenceText(batteryPercent), "voltage": ReferenceText(batteryMillivolts),
            "temperature": ReferenceText(temperatureCelsius), "uptime": ReferenceText(uptimeSeconds),
            "last_error": ReferenceText(lastError.rawValue), "fixes_sent": ReferenceText(fixesSent),
            "queue_depth": ReferenceText(queueDepth), "drops": ReferenceText(drops),
            "duplicates": ReferenceText(duplicates), "retransmissions": ReferenceText(retransmissions),
            "airtime": ReferenceText(airtimeMilliseconds),
        ]
    }
}

extension Status.Clock {
    fileprivate var referenceFields: [String: ReferenceText] {
        ["time": ReferenceText(unixMilliseconds), "uptime": ReferenceText(uptimeMilliseconds)]
    }
}

extension PowerReport {
    var referenceFields: [String: ReferenceText] {
        [
            "mode": ReferenceText(mode.rawValue), "supply": ReferenceText(supply.rawValue), "uptime": ReferenceText(uptimeSeconds),
            "seconds_to_search": ReferenceText(secondsToSearch), "failures_in_row": ReferenceText(failuresInRow),
            "time_to_fix": ReferenceText(timeToFixTenths), "gnss_seconds": ReferenceText(gnssSeconds),
            "listening_milliseconds": ReferenceText(listeningMilliseconds),
            "awake_milliseconds": ReferenceText(awakeMilliseconds), "searches": ReferenceText(searches),
            "failures": ReferenceText(failures),
        ]
    }
}

extension RadioIdentity {
    var referenceFields: [String: ReferenceText] {
        [
            "radio_id": ReferenceText(hexadecimal: radioID), "firmware_version": ReferenceText(firmwareVersion),
            "largest_frame": ReferenceText(maximumFrameByteCount),
        ]
    }
}

extension ModemSettings {
    var referenceFields: [String: ReferenceText] {
        var fields = ["turnaround": ReferenceText(turnaroundMilliseconds)]
        switch modulation {
        case .serial(let bitsPerSecond):
            fields["modulation"] = ReferenceText(0)
            fields["bit_rate"] = ReferenceText(bitsPerSecond)
        case .lora(let lora):
            fields["modulation"] = ReferenceText(1)
            fields["frequency"] = ReferenceText(lora.frequencyHertz)
            fields["bandwidth"] = ReferenceText(lora.bandwidthHertz)
            fields["spreading_factor"] = ReferenceText(lora.spreadingFactor)
            fields["coding_rate"] = ReferenceText(lora.codingRateDenominator - 5)
            fields["explicit_header"] = .flag(lora.hasExplicitHeader)
            fields["crc"] = .flag(lora.hasCRC)
            fields["low_data_rate"] = .flag(lora.optimizesLowDataRate)
            fields["preamble"] = ReferenceText(lora.preambleSymbols)
            fields["power"] = ReferenceText(lora.powerDBm)
        }
        return fields
    }
}
