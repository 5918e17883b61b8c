/// Completes a sequence of which only the low bits were sent.
public enum SequenceNumber {
    /// The sequence nearest to `reference` whose lowest `bitCount` bits are `lowBits`; of two equally near ones, the lower.
    /// `bitCount` is 1 … 31. Only the sequences 0 … 2^32 − 1 are considered.
    public static func nearest(to reference: UInt32, lowBits: UInt32, bitCount: Int) -> UInt32 {
        let period = Int64(bitPattern: 1 &<< shiftCount(bitCount))
        let base = Int64(widening: reference) & ~(period - 1)
        var candidate = base + Int64(widening: lowBits)
        if candidate - Int64(widening: reference) >= period / 2 {
            candidate -= period
        } else if Int64(widening: reference) - candidate > period / 2 {
            candidate += period
        }
        if candidate < 0 { candidate += period }
        if candidate > 0xFFFF_FFFF { candidate -= period }
        return UInt32(truncatingIfNeeded: candidate)
    }
}
