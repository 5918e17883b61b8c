import CollarWire

/// The types of sealed frames, and where their parts lie, by section 22 of PROTOCOL.md and independently of the codec.
enum SealedTypes {
    /// The types that a collar seals, then those that a host seals.
    static let all: [MessageType] = [
        .identity, .absoluteFix, .liveFix, .batch, .probe, .status, .settingsReport, .commandResult, .tombstone,
        .collarMessage, .powerReport, .acknowledgement, .settingsRequest, .settingsUpdate, .command, .hostMessage,
    ]
    /// How many of these types a collar seals.
    static let collarCount = 11

    /// Flag bit 7.
    static let sealedFlag: UInt8 = 0x80
    /// Flag bit 4 of a collar's frame: it holds the whole counter.
    static let longFlag: UInt8 = 0x10
    /// Flag bit 3 of an absolute fix: it holds the whole sequence.
    static let wideFlag: UInt8 = 0x08

    /// Bytes of the header.
    static let headerByteCount = 4
    /// Bytes of the upper part of a counter in a long frame.
    static let longCounterByteCount = 3

    /// Whether a host's frame of this type holds its receiver id.
    static func hasReceiverID(_ type: MessageType) -> Bool {
        type == .acknowledgement || type == .command || type == .hostMessage
    }

    /// Bytes of the tag.
    static func tagByteCount(_ type: MessageType) -> Int { type == .identity || !type.isFromCollar ? 8 : 6 }

    /// Where the ciphertext begins; nil for a type that is never sealed.
    static func cipherStart(_ type: MessageType, flags: UInt8) -> Int? {
        switch type {
        case .identity: 15
        case .liveFix: flags & longFlag == 0 ? 5 : 8
        case .absoluteFix, .batch, .probe, .status, .settingsReport, .commandResult, .tombstone, .collarMessage, .powerReport:
            flags & longFlag == 0 ? 4 : 7
        case .acknowledgement, .command, .hostMessage: 11
        case .settingsRequest, .settingsUpdate: 7
        case .radioIdentity, .modemSettings, .signalReport, .identityRequest: nil
        }
    }
}
