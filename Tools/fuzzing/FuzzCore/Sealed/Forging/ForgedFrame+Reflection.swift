import CollarWire

/// Forgeries of a frame of one end that is sent to that end.
extension ForgedFrame {
    /// Presents the frame of a collar as that of a host, or the other way round.
    mutating func reflect(_ random: inout SplitMix) {
        let isFromCollar = sample.type.isFromCollar
        let first = isFromCollar ? SealedTypes.collarCount : 0
        let count = isFromCollar ? SealedTypes.all.count - SealedTypes.collarCount : SealedTypes.collarCount
        let target = SealedTypes.all[first + random.below(count)]
        switch random.below(3) {
        case 0:
            // The header stays, but the receiver takes the frame to be of the other type.
            type = target
            return
        case 1: setType(target)
        default:
            setType(target)
            alignCiphertext(with: target)
        }
        if random.oneIn(2) { bytes[1] = SealedTypes.sealedFlag | UInt8(random.below(isFromCollar ? 3 : 8)) }
    }

    /// Makes the clear part as long as a frame of this type has it. It then holds a salt of 0 and a receiver id with
    /// which the nonce of a host's frame is that of a collar's frame.
    private mutating func alignCiphertext(with target: MessageType) {
        guard let own = SealedTypes.cipherStart(sample.type, flags: bytes[1]),
            let wanted = SealedTypes.cipherStart(target, flags: bytes[1]), own <= bytes.count
        else { return }
        let start = SealedTypes.headerByteCount
        bytes.removeSubrange(start..<own)
        let receiverID = presentation.log.logID.rawValue &<< 6
        presentation.receiverID = receiverID
        for place in 0..<(wanted - start) {
            let byte = UInt8(truncatingIfNeeded: place < 4 ? receiverID &>> UInt32(24 - 8 * place) : 0)
            bytes.insert(wanted - start < 7 ? 0 : byte, at: start + place)
        }
    }
}
