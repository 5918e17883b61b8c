/// The condition of a collar that a receiver keeps for its next run.
public struct CollarMemory: Equatable, Sendable {
    /// The worst state of a battery of which a person was told. The raw values are on the disk.
    public enum BatteryWarning: UInt8, Comparable, Sendable {
        /// None since the battery was charged.
        case none = 0
        /// The battery is low.
        case low = 1
        /// The battery is almost empty.
        case critical = 2

        /// Whether `left` is the better state.
        public static func < (left: BatteryWarning, right: BatteryWarning) -> Bool { left.rawValue < right.rawValue }
    }

    /// The heartbeat in force, in seconds; 0 if the collar has not told it.
    public var heartbeatSeconds: UInt16 = 0
    /// The boot count of the last boot that a person was told of, or of the first identity; 0 before that.
    public var bootCount: UInt32 = 0
    /// The last warning of the battery.
    public var batteryWarning = BatteryWarning.none

    /// Whether the collar was unpaired by this receiver, and has neither taken it again nor been erased since.
    public var isReleased = false

    /// Nothing is known.
    public init() {}
}
