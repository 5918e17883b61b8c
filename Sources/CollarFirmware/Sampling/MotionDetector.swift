import CollarWire

/// Decides whether a collar is stationary: whether it has moved less than a distance for a time.
///
/// The time is that of the fixes. A fix at least the distance away from the place where the collar was last seen to move is
/// another movement, and becomes that place.
public struct MotionDetector: Sendable {
    private struct Place {
        let latitude: Int32
        let longitude: Int32
        let unixMilliseconds: Int64
    }

    private var place: Place?
    /// Whether the collar is stationary, as of the last fix.
    public private(set) var isStationary = false

    /// Creates the state of a collar that has made no fix.
    public init() {}

    /// Notes a fix.
    /// - Parameters:
    ///   - fix: the newest position.
    ///   - distanceCentimeters: the least distance that is a movement, 1 … 100,000 cm.
    ///   - seconds: how long a stationary collar has not moved.
    public mutating func note(_ fix: Fix, distanceCentimeters: UInt32, seconds: UInt32) {
        let here = Place(
            latitude: MotionDetector.finest(fix.latitudeSteps, fix.positionStep),
            longitude: MotionDetector.finest(fix.longitudeSteps, fix.positionStep), unixMilliseconds: fix.unixMilliseconds)
        // A clock that is set back makes the time at the place unknown.
        guard let place, here.unixMilliseconds >= place.unixMilliseconds,
            MotionDetector.isNear(place, here, centimeters: distanceCentimeters)
        else {
            self.place = here
            isStationary = false
            return
        }
        isStationary = here.unixMilliseconds - place.unixMilliseconds >= Int64(widening: seconds) * 1000
    }

    /// A latitude or longitude in 1e-7 degree.
    private static func finest(_ steps: Int32, _ step: PositionStep) -> Int32 {
        steps &* (PositionStep.e7.stepsPerQuarterTurn / step.stepsPerQuarterTurn)
    }

    /// Whether two places are less than `centimeters` apart, on a flat map, which suffices for the largest distance: 1 km.
    private static func isNear(_ first: Place, _ second: Place, centimeters: UInt32) -> Bool {
        let turn = 4 * Int64(widening: PositionStep.e7.stepsPerQuarterTurn)
        let north = abs(Int64(widening: second.latitude) - Int64(widening: first.latitude))
        var east = abs(Int64(widening: second.longitude) - Int64(widening: first.longitude))
        if east > turn / 2 { east = turn - east }
        let degrees = UInt32(truncatingIfNeeded: min(89, abs(first.latitude) / 10_000_000))
        // 1e-7 degree is 11.12 mm. Far away, the squares would not fit 64 bits.
        let northMillimeters = north * 1112 / 100
        let eastMillimeters = (east * 1112 / 100 * Int64(widening: Sine.scaled(90 - degrees))) &>> 15
        let limit = 10 * Int64(widening: centimeters)
        guard northMillimeters < limit, eastMillimeters < limit else { return false }
        return northMillimeters * northMillimeters + eastMillimeters * eastMillimeters < limit * limit
    }
}
