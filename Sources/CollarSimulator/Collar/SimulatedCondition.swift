import CollarFirmware
import CollarWire
import Glibc

/// The condition of a simulated collar, made from the fixes of its track: battery, throttle, whether the collar is stationary,
/// and the time of day.
struct SimulatedCondition {
    /// The condition after the last fix.
    private(set) var condition = CollarCondition()
    /// The fix from which the collar has not moved far enough to count as moving.
    private var resting: Fix?

    init() { condition.gnssState = .fix }

    /// The collar has made a fix.
    /// - Parameters:
    ///   - uptimeMilliseconds: the uptime of the collar.
    ///   - settings: the settings in force.
    mutating func note(_ fix: Fix, uptimeMilliseconds: Int64, settings: CollarSettings) {
        condition.batteryPercent = fix.batteryPercent
        let percent = fix.batteryPercent ?? 100
        condition.throttleState = percent < 10 ? .criticalBattery : percent <= 20 ? .lowBattery : .none
        condition.clockMapping = .init(unixMilliseconds: fix.unixMilliseconds, uptimeMilliseconds: uptimeMilliseconds)
        let limit = Double(settings[.stationaryDistanceCentimeters]) / 100
        guard let resting, SimulatedCondition.meters(from: resting, to: fix) < limit else {
            resting = fix
            condition.isStationary = false
            return
        }
        let milliseconds = fix.unixMilliseconds - resting.unixMilliseconds
        condition.isStationary = milliseconds >= Int64(settings[.stationarySeconds]) * 1000
    }

    /// The distance on a flat map around the first fix, which suffices for the few metres of a resting animal.
    private static func meters(from first: Fix, to second: Fix) -> Double {
        let metersPerDegree = 111_195.0
        let north = (second.latitude - first.latitude) * metersPerDegree
        let east = (second.longitude - first.longitude) * metersPerDegree * cos(first.latitude * .pi / 180)
        return (north * north + east * east).squareRoot()
    }
}

extension Fix {
    fileprivate var latitude: Double { Double(latitudeSteps) / Double(positionStep.stepsPerQuarterTurn) * 90 }
    fileprivate var longitude: Double { Double(longitudeSteps) / Double(positionStep.stepsPerQuarterTurn) * 90 }
}
