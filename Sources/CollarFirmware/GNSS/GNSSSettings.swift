/// How a GNSS receiver is to work.
public struct GNSSSettings: Equatable, Sendable {
    /// The movements that the receiver expects. The numbers are those of u-blox.
    public enum DynamicModel: UInt8, Equatable, Sendable {
        /// No expectation.
        case portable = 0
        /// Slow, on the ground: a pet on foot.
        case pedestrian = 3
        /// A vehicle.
        case automotive = 4
        /// A boat.
        case sea = 5
        /// In the air, with accelerations below 1 g: a bird.
        case airborne = 6
        /// A wrist, which swings. Receivers before generation 9 may refuse it.
        case wrist = 9
    }

    /// Milliseconds between positions, 100 … 10,000 if power is saved, else up to 65,535.
    public var intervalMilliseconds: UInt16
    /// The movements to expect.
    public var dynamicModel: DynamicModel
    /// Whether the receiver saves power between positions (cyclic tracking).
    public var isPowerSaved: Bool
    /// A day that is certainly in the past: the day on which the firmware was built. An earlier date of the receiver is wrong by
    /// rollovers of the week count; see ``WeekRollover``.
    public var earliestDate: UTCDate

    /// Creates settings.
    public init(
        intervalMilliseconds: UInt16 = 1000, dynamicModel: DynamicModel = .pedestrian, isPowerSaved: Bool = true,
        earliestDate: UTCDate
    ) {
        self.intervalMilliseconds = intervalMilliseconds
        self.dynamicModel = dynamicModel
        self.isPowerSaved = isPowerSaved
        self.earliestDate = earliestDate
    }
}
