extension DecodeError {
    /// The name of the error in `Protocol/PROTOCOL.md` and in the vectors.
    public var name: StaticString {
        switch self {
        case .tooShort: "too_short"
        case .tooLong: "too_long"
        case .unsupportedVersion: "unsupported_version"
        case .unknownCriticalFlags: "critical_flags"
        case .unknownType: "unknown_type"
        case .sealed: "not_opened"
        case .crcMismatch: "check_failed"
        case .anchorNeeded: "anchor_needed"
        case .truncated: "truncated"
        case .trailingBytes: "trailing_bytes"
        case .nonzeroPadding: "nonzero_padding"
        case .invalidField: "invalid_field"
        }
    }
}

extension StreamFault {
    /// The name of the fault in `Protocol/PROTOCOL.md` and in the vectors.
    public var name: StaticString {
        switch self {
        case .brokenStuffing: "stuffing"
        case .tooLong: "too_long"
        case .tooShort: "too_short"
        }
    }
}

extension WireField {
    /// The names of the field in `Protocol/PROTOCOL.md` and in the vectors: up to three, because messages name some fields
    /// differently.
    public var names: (StaticString, StaticString?, StaticString?) {
        switch self {
        case .source: ("source", nil, nil)
        case .positionStep: ("position_step", nil, nil)
        case .secondFraction: ("time", nil, nil)
        case .latitude: ("latitude", nil, nil)
        case .longitude: ("longitude", nil, nil)
        case .horizontalAccuracy: ("horizontal_accuracy", nil, nil)
        case .verticalAccuracy: ("vertical_accuracy", nil, nil)
        case .course: ("course", nil, nil)
        case .heading: ("heading", nil, nil)
        case .battery: ("battery", nil, nil)
        case .sequence: ("sequence", "oldest_sequence", nil)
        case .range: ("durable", "resend", "ranges")
        case .frameLimit: ("largest_frame", nil, nil)
        case .anchor: ("anchor", "distance", "sequence")
        case .difference: ("difference", "position_step", "source")
        case .receiver: ("receiver_id", nil, nil)
        case .voltage: ("voltage", nil, nil)
        case .temperature: ("temperature", nil, nil)
        case .counter: ("counter", nil, nil)
        case .time: ("time", nil, nil)
        case .uptime: ("uptime", nil, nil)
        case .entryCount: ("entry_count", nil, nil)
        case .command: ("command", nil, nil)
        case .outcome: ("outcome", nil, nil)
        case .messageKind: ("message_kind", nil, nil)
        case .messageLength: ("message_length", nil, nil)
        case .modulation: ("modulation", nil, nil)
        case .packetCRC: ("packet_check", nil, nil)
        case .signalToNoise: ("signal_to_noise", nil, nil)
        case .poll: ("poll", nil, nil)
        case .altitude: ("altitude", nil, nil)
        case .speed: ("speed", nil, nil)
        }
    }
}
