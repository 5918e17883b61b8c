import CollarWire

/// Forgeries of the header of a frame.
extension ForgedFrame {
    /// Changes one field of the header.
    mutating func changeHeader(_ random: inout SplitMix) {
        switch random.below(6) {
        case 0: setType(SealedTypes.all[random.below(SealedTypes.all.count)])
        case 1: bytes[0] = bytes[0] & 0xE0 | UInt8(random.below(32))
        case 2:
            // The critical flags stay: with them a frame is refused by its header.
            bytes[1] ^= random.oneIn(8) ? random.nonzeroByte() : UInt8(1 + random.below(31))
        case 3: bytes[2] ^= random.nonzeroByte()
        case 4: bytes[3] ^= random.oneIn(2) ? 1 : random.nonzeroByte()
        default: toggleLong()
        }
    }

    mutating func setType(_ type: MessageType) { bytes[0] = bytes[0] & 0xE0 | type.rawValue }

    /// Writes the same counter in the other form: as a whole, or only its low 8 bits.
    private mutating func toggleLong() {
        let start = SealedTypes.headerByteCount
        if bytes[1] & SealedTypes.longFlag == 0 {
            let counter = presentation.number.counter
            for place in 0..<SealedTypes.longCounterByteCount {
                bytes.insert(UInt8(truncatingIfNeeded: counter &>> UInt32(24 - 8 * place)), at: start + place)
            }
        } else {
            bytes.removeSubrange(start..<min(bytes.count, start + SealedTypes.longCounterByteCount))
        }
        bytes[1] ^= SealedTypes.longFlag
    }
}
