import CollarWire

/// Whether the text is this.
func isEqual(_ text: TableBytes, _ word: StaticString) -> Bool {
    guard text.count == word.utf8CodeUnitCount else { return false }
    for index in 0..<text.count where text[index] != word.utf8Start[index] { return false }
    return true
}

extension DecodeError {
    /// The name of the error in a vector.
    var name: StaticString {
        switch self {
        case .tooShort: "too_short"
        case .tooLong: "too_long"
        case .unsupportedVersion: "unsupported_version"
        case .unknownCriticalFlags: "critical_flags"
        case .unknownType: "unknown_type"
        case .checkFailed: "check_failed"
        case .anchorNeeded: "anchor_needed"
        case .truncated: "truncated"
        case .trailingBytes: "trailing_bytes"
        case .nonzeroPadding: "nonzero_padding"
        case .invalidField: "invalid_field"
        }
    }

    /// Whether this is the error that a vector names, about the field that it names.
    func isNamed(_ error: TableBytes, field: TableBytes) -> Bool {
        guard isEqual(error, name) else { return false }
        guard case .invalidField(let invalid, _) = self else { return field.count == 0 }
        return invalid.isNamed(field)
    }
}

extension StreamFault {
    /// The name of the error in a vector.
    var name: StaticString {
        switch self {
        case .brokenStuffing: "stuffing"
        case .tooLong: "too_long"
        case .tooShort: "too_short"
        }
    }
}

extension WireField {
    /// Whether PROTOCOL.md may call the field so; some stand here for several there.
    fileprivate func isNamed(_ text: TableBytes) -> Bool {
        switch self {
        case .secondFraction: isEqual(text, "time")
        case .range: isEqual(text, "durable") || isEqual(text, "resend") || isEqual(text, "ranges")
        case .difference: isEqual(text, "difference") || isEqual(text, "position_step") || isEqual(text, "source")
        case .anchor: isEqual(text, "anchor") || isEqual(text, "distance") || isEqual(text, "sequence")
        case .frameLimit: isEqual(text, "largest_frame")
        case .receiver: isEqual(text, "receiver_id")
        case .sequence: isEqual(text, "sequence") || isEqual(text, "oldest_sequence")
        case .source: isEqual(text, "source")
        case .positionStep: isEqual(text, "position_step")
        case .latitude: isEqual(text, "latitude")
        case .longitude: isEqual(text, "longitude")
        case .horizontalAccuracy: isEqual(text, "horizontal_accuracy")
        case .verticalAccuracy: isEqual(text, "vertical_accuracy")
        case .course: isEqual(text, "course")
        case .heading: isEqual(text, "heading")
        case .battery: isEqual(text, "battery")
        case .voltage: isEqual(text, "voltage")
        case .temperature: isEqual(text, "temperature")
        case .counter: isEqual(text, "counter")
        case .time: isEqual(text, "time")
        case .entryCount: isEqual(text, "entry_count")
        case .command: isEqual(text, "command")
        case .outcome: isEqual(text, "outcome")
        case .modulation: isEqual(text, "modulation")
        case .packetCheck: isEqual(text, "packet_check")
        case .signalToNoise: isEqual(text, "signal_to_noise")
        case .ask: isEqual(text, "ask")
        case .altitude: isEqual(text, "altitude")
        case .speed: isEqual(text, "speed")
        }
    }
}
