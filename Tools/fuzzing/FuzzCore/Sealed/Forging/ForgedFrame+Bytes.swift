import CollarWire

/// Forgeries of the bytes of a frame.
extension ForgedFrame {
    /// The most bytes of a forged frame. Longer frames than 253 bytes must be refused.
    private static let maximumByteCount = 260

    /// Bytes of the tag of the frame that is forged.
    var tagByteCount: Int { SealedTypes.tagByteCount(sample.type) }

    mutating func flip(_ bit: Int) { bytes[bit / 8] ^= 0x80 &>> UInt8(bit % 8) }

    /// Replaces the frame by random bytes behind a plausible header.
    mutating func fillWithRandomBytes(_ random: inout SplitMix) {
        if random.oneIn(2) {
            let type = SealedTypes.all[random.below(SealedTypes.all.count)]
            bytes[0] = 0x20 | type.rawValue
            bytes[1] = SealedTypes.sealedFlag | UInt8(random.below(32))
            bytes[3] = random.byte()
        }
        if random.oneIn(2) {
            bytes.removeLast(bytes.count - SealedTypes.headerByteCount)
            for _ in 0..<7 + random.below(random.oneIn(8) ? 240 : 40) { bytes.append(0) }
        }
        for index in SealedTypes.headerByteCount..<bytes.count { bytes[index] = random.byte() }
    }

    /// Flips one bit, or some.
    mutating func flipBits(_ random: inout SplitMix) {
        // Half of the flips are close together.
        let start = random.below(8 * bytes.count)
        let width = random.oneIn(2) ? 8 * bytes.count : min(32, 8 * bytes.count - start)
        var rest = random.oneIn(2) ? 1 : 1 + random.below(8)
        while rest > 0 {
            flip(width == 8 * bytes.count ? random.below(width) : start + random.below(width))
            rest -= 1
        }
    }

    /// Cuts bytes from the frame, or adds some; often before the tag, which then stays where it is looked for.
    mutating func changeLength(_ random: inout SplitMix) {
        let end = random.oneIn(2) ? bytes.count : max(0, bytes.count - tagByteCount)
        let place = random.oneIn(2) ? end : random.below(end + 1)
        if random.oneIn(2) {
            let count = min(place, 1 + random.below(random.oneIn(4) ? 64 : 3))
            bytes.removeSubrange(place - count..<place)
        } else {
            let count = min(ForgedFrame.maximumByteCount - bytes.count, 1 + random.below(random.oneIn(4) ? 64 : 3))
            let isZero = random.oneIn(2)
            for _ in 0..<max(0, count) { bytes.insert(isZero ? 0 : random.byte(), at: place) }
        }
        // The rest of this needs a header and a few bytes more.
        while bytes.count < SealedTypes.headerByteCount + 1 { bytes.append(random.byte()) }
    }
}
