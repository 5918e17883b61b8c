import CollarWire

/// The rules of PROTOCOL.md for the size and the header of a frame, written independently of the codec.
enum HeaderModel {
    /// Whether the CRC of a type is bound to the log. An unknown type counts as bound.
    static func isBound(_ typeCode: UInt8) -> Bool { ![1, 5, 10, 11, 12, 17].contains(typeCode) }

    /// The reason why a frame must be refused before its CRC is checked; nil if there is none.
    static func refusal(of frame: Span<UInt8>) -> DecodeError? {
        if frame.count < 7 { return .tooShort(byteCount: frame.count) }
        if frame.count > 253 { return .tooLong(byteCount: frame.count) }
        if frame[0] / 32 != 1 { return .unsupportedVersion(frame[0] / 32) }
        if frame[1] & 0x60 != 0 { return .unknownCriticalFlags(frame[1] & 0x60) }
        if frame[1] & 0x80 != 0 { return .sealed }
        if MessageType(rawValue: frame[0] % 32) == nil { return .unknownType(frame[0] % 32) }
        return nil
    }

    /// Whether an error is about the payload of a frame whose CRC is correct.
    static func isAboutPayload(_ error: DecodeError) -> Bool {
        switch error {
        case .tooShort, .tooLong, .unsupportedVersion, .unknownCriticalFlags, .sealed, .unknownType, .crcMismatch,
            .anchorNeeded:
            false
        case .truncated, .trailingBytes, .nonzeroPadding, .invalidField: true
        }
    }
}
