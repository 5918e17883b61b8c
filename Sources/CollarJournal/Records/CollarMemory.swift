/// The condition of a collar that a receiver keeps for its next run.
package struct CollarMemory: Equatable, Sendable {
    /// The worst state of a battery of which a person was told. The raw values are on the disk.
    package enum BatteryWarning: UInt8, Comparable, Sendable {
        /// None since the battery was charged.
        case none = 0
        /// The battery is low.
        case low = 1
        /// The battery is almost empty.
        case critical = 2

        /// Whether `left` is the better state.
        package static func < (left: BatteryWarning, right: BatteryWarning) -> Bool { left.rawValue < right.rawValue }
    }

    /// The heartbeat in force, in seconds; 0 if the collar has not told it.
    package var heartbeatSeconds: UInt16 = 0
    /// The boot count of the last boot that a person was told of, or of the first identity; 0 before that.
    package var bootCount: UInt32 = 0
    /// The last warning of the battery.
    package var batteryWarning = BatteryWarning.none

    /// Whether the collar was unpaired by this receiver, and has neither taken it again nor been erased since.
    package var isReleased = false

    /// Nothing is known.
    package init() {}
}
