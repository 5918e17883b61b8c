import CollarWire

extension DecodeError {
    /// The lines that the independent decoder may print for this error: one, or one for each name of a field.
    var referenceLines: [String] {
        switch self {
        case .invalidField(let field, _):
            let names = field.names
            return [names.0, names.1, names.2].compactMap { $0 }.map { "{\"error\": \"invalid_field\", \"field\": \"\($0)\"}" }
        // The CRC of a live fix cannot be checked without the anchor.
        case .anchorNeeded: return ["{\"error\": \"\(DecodeError.crcMismatch.name)\"}"]
        default: return ["{\"error\": \"\(name)\"}"]
        }
    }
}
