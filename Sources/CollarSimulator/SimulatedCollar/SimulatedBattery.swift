import CollarFirmware

/// The battery of a simulated collar, whose charge falls evenly.
package struct SimulatedBattery: Equatable, Sendable {
    /// The charge at the first fix, 0 … 100 percent.
    package let startPercent: Double
    /// How much the charge falls in an hour of the track, in percent.
    package let percentPerHour: Double

    /// Creates a battery.
    package init(startPercent: Double, percentPerHour: Double = 0) {
        self.startPercent = startPercent
        self.percentPerHour = percentPerHour
    }

    /// What a battery gauge measures, so many milliseconds after the first fix.
    package func reading(afterMilliseconds milliseconds: Int64) -> BatteryReading {
        let percent = min(max(startPercent - percentPerHour * Double(milliseconds) / 3_600_000, 0), 100)
        // A cell of lithium has 3.3 V when it is empty and 4.2 V when it is full.
        return BatteryReading(percent: UInt8(percent.rounded()), millivolts: UInt16((3300 + 9 * percent).rounded()), celsius: 20)
    }
}
