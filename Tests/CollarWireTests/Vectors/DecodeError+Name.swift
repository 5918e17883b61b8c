import CollarWire

extension DecodeError {
    /// The name of the error in a vector.
    var name: String {
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

    /// The names that the invalid field has in PROTOCOL.md, where one name here stands for several.
    var fieldNames: Set<String> {
        guard case .invalidField(let field, _) = self else { return [] }
        switch field {
        case .secondFraction: return ["time"]
        case .range: return ["durable", "resend", "ranges"]
        case .difference: return ["difference", "position_step", "source"]
        case .anchor: return ["anchor", "distance", "sequence"]
        case .frameLimit: return ["largest_frame"]
        case .receiver: return ["receiver_id"]
        case .sequence: return ["sequence", "oldest_sequence"]
        default: return [snakeCase("\(field)")]
        }
    }

    private func snakeCase(_ name: String) -> String {
        name.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
    }
}

extension StreamFault {
    /// The name of the error in a vector.
    var name: String {
        switch self {
        case .brokenStuffing: "stuffing"
        case .tooLong: "too_long"
        case .tooShort: "too_short"
        }
    }
}
