import RadioModems

/// What the radio chip of a stick (SX1262) can be set to.
enum LoRaChip {
    /// Frequencies, in hertz.
    static let frequencyHertz: ClosedRange<UInt32> = 150_000_000...960_000_000
    /// Bandwidths, in hertz, ascending.
    static let bandwidthHertz: [UInt32] = [
        7_800, 10_400, 15_600, 20_800, 31_250, 41_700, 62_500, 125_000, 250_000, 500_000,
    ]
    /// Spreading factors.
    static let spreadingFactor: ClosedRange<UInt8> = 5...12
    /// Denominators of the coding rate.
    static let codingRateDenominator: ClosedRange<UInt8> = 5...8
    /// Powers, in dBm.
    static let powerDBm: ClosedRange<Int8> = -9...22
}

extension Comparable {
    /// The value of a range that is nearest.
    func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
