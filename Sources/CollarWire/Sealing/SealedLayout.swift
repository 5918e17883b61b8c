/// Where the parts of a sealed frame lie, by its type.
struct SealedLayout {
    /// Bytes of the upper part of a counter.
    static var longCounterByteCount: Int { 3 }
    /// Bytes of the salt in a frame of a host.
    static var saltByteCount: Int { 3 }
    /// Bytes of a receiver id.
    static var receiverByteCount: Int { 4 }

    /// Bytes of the tag.
    let tagByteCount: Int
    /// Where the ciphertext begins in the sealed frame, after the header and the clear part.
    let sealedStart: Int
    /// Where the plaintext begins in the clear frame. Before it are the header, except for a low byte that is encrypted, and what
    /// the sealed frame does not hold.
    let clearStart: Int

    /// The layout of a collar's frame; nil for a type that a collar does not seal.
    init?(type: MessageType, isLong: Bool) {
        guard type.isFromCollar else { return nil }
        let start = FrameHeader.byteCount
        tagByteCount = type == .identity ? 8 : 6
        switch type {
        case .identity:
            sealedStart = start &+ 11
            clearStart = start &+ 16
            return
        case .absoluteFix, .batch: clearStart = start &- 1
        case .probe: clearStart = start &+ 3
        default: clearStart = start
        }
        sealedStart = start &+ (isLong ? SealedLayout.longCounterByteCount : 0) &+ (type == .liveFix ? 1 : 0)
    }

    /// The layout of a host's frame; nil for a type that a host does not seal. In the clear frame the receiver id counts as
    /// moved to the front of the payload.
    init?(ofHost type: MessageType) {
        guard type.isBoundToLog, !type.isFromCollar else { return nil }
        tagByteCount = 8
        clearStart = FrameHeader.byteCount &+ (type.hasReceiverID ? SealedLayout.receiverByteCount : 0)
        sealedStart = clearStart &+ SealedLayout.saltByteCount
    }

    /// Whether a sealed frame of this size has all parts.
    func fits(byteCount: Int) -> Bool { byteCount >= sealedStart &+ tagByteCount }
}

extension MessageType {
    /// Whether a host's frame of this type holds the receiver id.
    var hasReceiverID: Bool { self == .acknowledgement || hasRequestIDFirst }

    /// Whether the request id precedes the receiver id.
    var hasRequestIDFirst: Bool { self == .command || self == .hostMessage }
}
