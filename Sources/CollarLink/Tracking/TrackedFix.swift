import CollarTracking
import CollarWire
import FoundationEssentials

/// A fix with its place among others: a ``LocationFix`` has it in its identifier.
struct TrackedFix: TrailFix {
    struct LogName: Equatable {
        let deviceID: DeviceID
        let logID: LogID
    }

    let location: LocationFix
    /// Nil for a fix that is of no collar's log.
    let trailLog: LogName?

    init(_ location: LocationFix) {
        self.location = location
        trailLog = FixIdentifier(location.id).map { LogName(deviceID: $0.deviceID, logID: $0.logID) }
    }

    var sequence: Int { location.sequence }
    var unixMilliseconds: Int64 { Int64(clampingMilliseconds: location.timestamp) }
}

extension Int64 {
    /// Whole milliseconds since 1970, within the times of fixes.
    init(clampingMilliseconds date: Date) {
        let range = Fix.timeRange
        let milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) ?? range.lowerBound
        self = Swift.min(Swift.max(milliseconds, range.lowerBound), range.upperBound)
    }
}

extension Geodesic {
    /// The way between two coordinates; nil if one of them is outside of its range.
    init?(from start: LocationFix.Coordinate, to end: LocationFix.Coordinate) {
        guard let start = Position(start), let end = Position(end) else { return nil }
        self.init(from: start, to: end)
    }
}

extension Position {
    init?(_ coordinate: LocationFix.Coordinate) {
        self.init(latitudeDegrees: coordinate.latitude, longitudeDegrees: coordinate.longitude)
    }
}

extension LocationFix {
    /// The horizontal accuracy in a word: `excellent` below 5 m, `good` to 10 m, `fair` to 50 m, else `poor`; nil if it is unknown.
    ///
    /// The code decides with which the accuracy goes over the air, so that the words are those of `collar-link status`.
    public var accuracyWord: String? {
        guard hasValidAccuracy else { return nil }
        let millimeters = UInt32(exactly: (min(horizontalAccuracyMeters, 1e6) * 1000).rounded()) ?? .max
        return AccuracyGrade(AccuracyCode(roundingMillimeters: millimeters)).rawValue
    }
}
