import CollarWire

extension DecodeError {
    /// The lines that the independent decoder may print for this error: one, or as many as a field has names.
    var referenceLines: [String] {
        guard case .invalidField(let field, _) = self else { return ["{\"error\": \"\(name)\"}"] }
        return DecodeError.names(of: field).map { "{\"error\": \"invalid_field\", \"field\": \"\($0)\"}" }
    }

    private var name: String {
        switch self {
        case .tooShort: "too_short"
        case .tooLong: "too_long"
        case .unsupportedVersion: "unsupported_version"
        case .unknownCriticalFlags: "critical_flags"
        case .unknownType: "unknown_type"
        // A live fix without its anchor cannot be checked.
        case .checkFailed, .anchorNeeded: "check_failed"
        case .truncated: "truncated"
        case .trailingBytes: "trailing_bytes"
        case .nonzeroPadding: "nonzero_padding"
        case .invalidField: "invalid_field"
        }
    }

    /// The names in PROTOCOL.md, where one name here stands for several.
    private static func names(of field: WireField) -> [String] {
        switch field {
        case .secondFraction: ["time"]
        case .range: ["durable", "resend", "ranges"]
        case .difference: ["difference", "position_step", "source"]
        case .anchor: ["anchor", "distance", "sequence"]
        case .frameLimit: ["largest_frame"]
        case .receiver: ["receiver_id"]
        case .sequence: ["sequence", "oldest_sequence"]
        default: ["\(field)".map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()]
        }
    }
}
