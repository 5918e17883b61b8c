/// Completing a sequence of which only the low bits were sent.
public enum SequenceNumber {
    /// The sequence nearest to `reference` whose low bits are `lowBits`; of two equally near ones the lower.
    /// Below 0 and above 32 bits there are no sequences.
    /// - Parameter bitCount: how many low bits are given, 1 … 31.
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
