/// Writes binary decisions into as few bytes as their probabilities allow: a range coder with 32 bits of range and
/// carry (G. N. N. Martin, "Range encoding", 1979).
struct RangeEncoder {
    /// Room for the coded bytes of one fix, every escape taken.
    static let capacity = 64
    private static let renormalizationBound: UInt32 = 1 &<< 24

    private var bytes = InlineArray<64, UInt8>(repeating: 0)
    private var low: UInt32 = 0
    private var range: UInt32 = .max
    /// Bytes written so far; beyond the room they are counted and not kept.
    private(set) var count = 0

    /// Whether everything written fits the room.
    var fits: Bool { count <= RangeEncoder.capacity }

    /// Writes a decision.
    /// - Parameter zeroProbability: that the bit is 0, in 256ths, 1 … 255.
    mutating func encode(_ bit: Bool, zeroProbability: UInt8) {
        let bound = (range &>> 8) &* UInt32(zeroProbability)
        if bit {
            add(bound)
            range &-= bound
        } else {
            range = bound
        }
        renormalize()
    }

    /// Writes one of `count` equally likely values, 0 … `count` − 1; `count` is at most 65,536.
    mutating func encode(_ value: UInt32, of count: UInt32) {
        range /= count
        add(range &* value)
        renormalize()
    }

    /// Ends with the fewest bytes that a decoder which reads zeros behind them understands.
    mutating func finish() {
        var kept = 0
        while kept < 4 {
            let mask: UInt32 = kept == 0 ? .max : UInt32.max &>> UInt32(8 * kept)
            // Rounded up to `kept` bytes, is it still within the range?
            let (sum, isCarried) = low.addingReportingOverflow(mask)
            let offset = (sum & ~mask) &- low
            if offset < range {
                if isCarried { carry() }
                low = sum & ~mask
                break
            }
            kept += 1
        }
        while kept > 0 {
            append(UInt8(low &>> 24))
            low = low &<< 8
            kept -= 1
        }
        while count > 0, count <= RangeEncoder.capacity, bytes[count - 1] == 0 { count -= 1 }
    }

    /// The coded bytes.
    func write(into output: inout OutputSpan<UInt8>) {
        for index in 0..<count { output.append(bytes[index]) }
    }

    private mutating func add(_ amount: UInt32) {
        let (sum, isCarried) = low.addingReportingOverflow(amount)
        low = sum
        if isCarried { carry() }
    }

    private mutating func carry() {
        var index = min(count, RangeEncoder.capacity)
        while index > 0 {
            index -= 1
            bytes[index] &+= 1
            if bytes[index] != 0 { return }
        }
    }

    private mutating func renormalize() {
        while range < RangeEncoder.renormalizationBound {
            append(UInt8(low &>> 24))
            low = low &<< 8
            range = range &<< 8
        }
    }

    private mutating func append(_ byte: UInt8) {
        if count < RangeEncoder.capacity { bytes[count] = byte }
        count += 1
    }
}
