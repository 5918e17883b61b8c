/// Where the parts of a sealed frame lie, by its type.
struct SealedLayout {
    /// Bytes of the upper part of a counter.
    static var longCounterByteCount: Int { 3 }
    /// Bytes of the salt in a frame of a host.
    static var saltByteCount: Int { 3 }
    static var receiverByteCount: Int { 4 }

    let tagByteCount: Int
    /// Index of the first byte of the ciphertext in the sealed frame, after the header and the clear part.
    let ciphertextStart: Int
    /// Index of the first byte of the plaintext in the clear frame. Before it are the header (without the low byte of an absolute
    /// fix or batch, which is encrypted) and the fields that are sent in the clear part, or that the receiver knows.
    let plaintextStart: Int

    /// The layout of a collar's frame; nil for a type that a collar does not seal.
    init?(type: MessageType, isLong: Bool) {
        guard type.isFromCollar else { return nil }
        let start = FrameHeader.byteCount
        tagByteCount = type == .identity ? 8 : 6
        switch type {
        case .identity:
            ciphertextStart = start &+ 11
            plaintextStart = start &+ 16
            return
        case .absoluteFix, .batch: plaintextStart = start &- 1
        case .probe: plaintextStart = start &+ 3
        default: plaintextStart = start
        }
        ciphertextStart = start &+ (isLong ? SealedLayout.longCounterByteCount : 0) &+ (type == .liveFix ? 1 : 0)
    }

    /// The layout of a host's frame; nil for a type that a host does not seal. In the clear frame the receiver id counts as
    /// moved to the front of the payload.
    init?(ofHost type: MessageType) {
        guard type.isBoundToLog, !type.isFromCollar else { return nil }
        tagByteCount = 8
        plaintextStart = FrameHeader.byteCount &+ (type.hasReceiverID ? SealedLayout.receiverByteCount : 0)
        ciphertextStart = plaintextStart &+ SealedLayout.saltByteCount
    }

    /// Whether a sealed frame of this size has all parts.
    func fits(byteCount: Int) -> Bool { byteCount >= ciphertextStart &+ tagByteCount }
}

extension MessageType {
    // If inlined, the layouts of all types become tables.
    @inline(never)
    /// Whether a host's frame of this type holds the receiver id.
    var hasReceiverID: Bool { self == .acknowledgement || hasRequestIDFirst }

    /// Whether the request id precedes the receiver id.
    var hasRequestIDFirst: Bool { self == .command || self == .hostMessage }
}

extension OutputSpan<UInt8> {
    @inline(never)
    /// Moves the bytes from `start` on, so that they begin at `newStart`. The bytes before `start` stay. If the tail moves up, the
    /// bytes between have no meaning.
    mutating func moveTail(from start: Int, to newStart: Int) {
        let tail = count &- start
        var rest = newStart &- start
        while rest > 0 {
            append(0)
            rest &-= 1
        }
        var bytes = mutableSpan
        var index = 0
        while index < tail {
            let place = newStart > start ? tail &- 1 &- index : index
            bytes[newStart &+ place] = bytes[start &+ place]
            index &+= 1
        }
        if newStart < start { removeLast(start &- newStart) }
    }

    @inline(never)
    /// Exchanges the request id of two bytes and the receiver id of four bytes at the front of the payload.
    /// - Parameter isRequestIDFirst: their order before the call.
    mutating func exchangeRequestAndReceiverID(isRequestIDFirst: Bool) {
        var bytes = mutableSpan
        var rest = isRequestIDFirst ? 2 : 4
        while rest > 0 {
            let first = bytes[FrameHeader.byteCount]
            for index in FrameHeader.byteCount..<(FrameHeader.byteCount &+ 5) { bytes[index] = bytes[index &+ 1] }
            bytes[FrameHeader.byteCount &+ 5] = first
            rest &-= 1
        }
    }

    /// Appends the lowest `byteCount` bytes of a number, at most 4, the most significant one first.
    mutating func append(_ value: UInt32, byteCount: Int) {
        var rest = byteCount
        while rest > 0 {
            rest &-= 1
            append(UInt8(truncatingIfNeeded: value &>> UInt32(truncatingIfNeeded: 8 &* rest)))
        }
    }
}

extension MutableSpan<UInt8> {
    @inline(never)
    /// Writes the lowest `byteCount` bytes of a number, at most 4, the most significant one first, and moves `place` past them.
    mutating func write(_ value: UInt32, byteCount: Int, at place: inout Int) {
        var rest = byteCount
        while rest > 0 {
            rest &-= 1
            self[place] = UInt8(truncatingIfNeeded: value &>> UInt32(truncatingIfNeeded: 8 &* rest))
            place &+= 1
        }
    }
}
