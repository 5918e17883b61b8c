import CollarWire

/// Forgeries of two sealed frames.
extension ForgedFrame {
    /// Puts a part of the other frame into the frame.
    mutating func splice(_ random: inout SplitMix) {
        let count = other.bytes.count
        switch random.below(5) {
        case 0: cutAndAppend(from: random.below(min(bytes.count, count)))
        case 1:
            // The ends are aligned, so that both tags have their place.
            let tail = 1 + random.below(min(bytes.count, count))
            bytes.removeLast(tail)
            append(from: count - tail)
        case 2:
            let tail = min(SealedTypes.tagByteCount(other.type), bytes.count)
            bytes.removeLast(tail)
            append(from: count - tail)
        case 3: for index in 0..<min(SealedTypes.headerByteCount, bytes.count) { bytes[index] = other.bytes[index] }
        default: cutAndAppend(from: 0)
        }
        if random.oneIn(2) { presentation = other.presentation }
    }

    /// Replaces everything from a place on by what the other frame has there.
    private mutating func cutAndAppend(from start: Int) {
        bytes.removeLast(bytes.count - start)
        append(from: start)
    }

    private mutating func append(from start: Int) {
        var index = start
        while index < other.bytes.count {
            bytes.append(other.bytes[index])
            index += 1
        }
    }
}
