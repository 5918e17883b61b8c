import CollarWire

/// What PROTOCOL.md says of a frame before its payload is looked at, worded apart from the codec.
enum HeaderModel {
    /// Types whose check is bound to nothing.
    static func isBound(_ typeCode: UInt8) -> Bool { ![1, 5, 10, 11, 12, 17].contains(typeCode) }

    /// Why a frame must be refused before its check; nil where nothing is wrong.
    static func refusal(of frame: Span<UInt8>) -> DecodeError? {
        if frame.count < 7 { return .tooShort(byteCount: frame.count) }
        if frame.count > 253 { return .tooLong(byteCount: frame.count) }
        if frame[0] / 32 != 1 { return .unsupportedVersion(frame[0] / 32) }
        if frame[1] & 0xE0 != 0 { return .unknownCriticalFlags(frame[1] & 0xE0) }
        if MessageType(rawValue: frame[0] % 32) == nil { return .unknownType(frame[0] % 32) }
        return nil
    }

    /// Whether an error is about the payload of a frame whose check is right.
    static func isAboutPayload(_ error: DecodeError) -> Bool {
        switch error {
        case .tooShort, .tooLong, .unsupportedVersion, .unknownCriticalFlags, .unknownType, .checkFailed, .anchorNeeded:
            false
        case .truncated, .trailingBytes, .nonzeroPadding, .invalidField: true
        }
    }
}
